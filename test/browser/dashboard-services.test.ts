/**
 * Services in a real browser on a real `coxswain up`: an agent goes through its stages; a person presses an anomaly button,
 * the culprit shows, and once somebody may act its limits change and its requests are in time again; a trace is read as a
 * timeline; everything is there by keyboard, in the dark and on a phone.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type {
  AgentDocument,
  DecisionDocument,
  InstanceDocument,
  SeriesDocument,
  ServicesDocument,
  SuspectsDocument,
  WorkloadDocument,
} from "../../src/contract/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, picture, violations, visit } from "./dashboard-page.ts";
import { type RunningUp, startUp } from "./real-up.ts";

const data = temporaryFolder("up-services");
let browser: Browser;
let up: RunningUp;

beforeAll(async () => {
  // The cluster beside it stands nearly still: the services have the machine.
  [browser, up] = await Promise.all([openBrowser(), startUp({ installed: inject("installed"), data, speed: 1 })]);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
});

/** Pre-training takes some ten seconds of a free core, traces seven seconds, and CI has others to serve. */
const SLOWLY = { timeout: 300_000, interval: 500 };

async function read<T>(path: string): Promise<T> {
  return (await (await fetch(new URL(path, up.url))).json()) as T;
}

async function visitServices(options: Parameters<typeof visit>[2] = {}): Promise<Page> {
  const { page, complaints } = await visit(browser, `${up.url}/#/services`, { height: 1600, ...options });
  await page.waitForSelector(".service-graph .vertex", { timeout: SLOWLY.timeout });
  expect(complaints).toEqual([]);
  return page;
}

const limitsOf = async (name: string): Promise<InstanceDocument["limits"] | undefined> =>
  (await read<{ items: InstanceDocument[] }>("/v1/services/instances")).items.find(({ instance }) => instance === name)
    ?.limits;
const USER = "hotel-reservation-user-agent";
const acting = async () => (await read<ServicesDocument>("/v1/services")).simulated?.acting;

/** As a person does it: refused while the fallback is still being measured, and asked again. */
async function promote(page: Page, to: "Online" | "Serving"): Promise<void> {
  const stage = page.locator(".stage-steps.large .present");
  const dialog = page.getByRole("dialog");
  const refusal = dialog.locator(".refusal");
  const tried = async (): Promise<string> => {
    const before = await stage.innerText();
    if (before === to) return to;
    await page.getByRole("button", { name: "Promote…" }).click();
    await dialog.getByRole("button", { name: "Promote", exact: true }).click();
    await expect.poll(async () => (await dialog.isHidden()) || (await refusal.isVisible()), SLOWLY).toBe(true);
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: /Cancel|Look again/ }).click();
    // On a busy machine the page hears of it later, and who asked again meanwhile would promote it twice.
    else await expect.poll(() => stage.innerText(), SLOWLY).not.toBe(before);
    return stage.innerText();
  };
  await expect.poll(tried, { ...SLOWLY, interval: 2_000 }).toBe(to);
}

test("the agent of a service goes through Offline, Online and Serving, each with its cause and evidence", {
  timeout: 900_000,
}, async () => {
  const agents = await visitServices();
  const listed = agents.locator(".service-agents li", { hasText: /^user / });
  await expect.poll(() => agents.locator(".service-agents li").count(), SLOWLY).toBe(15);
  expect(await listed.innerText()).toBe("user Offline");
  await agents.locator(".service-agents").scrollIntoViewIfNeeded();
  await picture(agents, "services-agents-light");

  const { page, complaints } = await visit(browser, `${up.url}/#/agents/${USER}`, { height: 1600 });
  const stage = page.locator(".stage-steps.large .present");
  const standing = page.locator(".standing");
  const history = page.locator(".timeline > li");
  await expect.poll(() => stage.innerText()).toBe("Offline");
  expect(await standing.innerText()).toMatch(/^Left to HPA\./);
  expect(await history.allInnerTexts()).toEqual([
    expect.stringMatching(/Initialized → Offline\s+It learns from HPA first\.\s+Evidence: 1 of 1 gates held/),
  ]);
  await picture(page, "service-agent-offline-light");

  await promote(page, "Online");
  await expect.poll(() => standing.innerText(), SLOWLY).toMatch(/^The learner acts\. .*keeps training/);
  await expect.poll(() => listed.innerText()).toBe("user Online");
  await promote(page, "Serving");
  await expect.poll(() => standing.innerText(), SLOWLY).toMatch(/^The learner acts\. .*settled policy/);
  await expect.poll(() => listed.innerText()).toBe("user Serving");

  // It may have earned a stage in the very moment in which a person gave it.
  const because =
    "(?:A person decided so|Its estimated reward reached|Its rewards reached)[^\\n]*\\s+Evidence: (\\d+) of \\1 gates held";
  expect(await history.allInnerTexts()).toEqual([
    expect.stringMatching(new RegExp(`Online → Serving\\s+${because}`)),
    expect.stringMatching(new RegExp(`Offline → Online\\s+${because}`)),
    expect.stringMatching(/Initialized → Offline\s+It learns from HPA first\./),
  ]);
  await history.first().getByText("Evidence: ").click();
  expect(await history.first().locator("tbody tr").first().innerText()).toMatch(/✓ yes/);
  // What the page shows is what the agent lived through: its episodes were run in OFFLINE, with HPA acting.
  const { stage: now, episodes, thresholds } = await read<AgentDocument>(`/v1/agents/${USER}`);
  expect(now).toBe("SERVING");
  expect(episodes.filter((episode) => episode.stage === "OFFLINE").length).toBeGreaterThanOrEqual(4);
  expect(thresholds.fallback).not.toBeNull();
  expect(await page.locator("main").innerText()).not.toMatch(/\bpods?\b/i);
  await picture(page, "service-agent-light");
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "service-agent-dark");
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.setViewportSize({ width: 390, height: 1800 });
  expect(await fitsItsWidth(page)).toBe(true);
  await picture(page, "service-agent-phone");
  expect(complaints.filter((text) => !/status of 409/.test(text))).toEqual([]);
  await agents.emulateMedia({ colorScheme: "dark" });
  await picture(agents, "services-agents-dark");
});

test("a service has a page like any workload: live samples by its own clock, its knobs, its decisions, its events", {
  timeout: 400_000,
}, async () => {
  const services = await visitServices();
  await services.locator(".service-agents a", { hasText: /^geo$/ }).click();
  await expect.poll(() => services.evaluate(() => location.hash)).toBe("#/workloads/hotel-reservation-geo");
  const { page, complaints } = await visit(browser, services.url(), { height: 1600 });
  await page.waitForSelector(".decision tbody tr", { timeout: SLOWLY.timeout });
  expect(await page.locator("main h1").innerText()).toBe("Service geo");
  expect(await page.locator(".crumbs").innerText()).toBe("Services › geo");
  expect(await page.locator(".bar nav [aria-current=page]").innerText()).toBe("Services");
  expect(await page.locator(".head").innerText()).toContain("Judged by the SLOs of requests through it");
  // It has neither a latency nor an SLO nor a price of its own.
  expect(await page.getByRole("button", { name: "Change the SLO…" }).count()).toBe(0);
  expect(await page.locator(".time-chart h2 > span:first-child").allInnerTexts()).toEqual([
    "Load",
    "SLO preservation",
    "Containers",
    "CPU",
    "Memory bandwidth",
    "Last-level cache",
    "Disk",
    "Network",
    "Reward",
    "Decisions",
  ]);
  expect(await page.locator(".decision h2").innerText()).toMatch(/^(HPA|The learner|Nobody) acted$/);
  expect(await page.locator(".decision tbody th").allInnerTexts()).toContain("CPU per container, cores");
  // The newest decision is told each second, and by the wall's clock, though the cluster's is another one.
  const when = async (): Promise<string> =>
    /\d\d:\d\d:\d\d/.exec(await page.locator(".decision .when").innerText())?.[0] ?? "";
  const first = await when();
  await expect.poll(when, { timeout: 30_000 }).not.toBe(first);
  const id = "hotel-reservation-geo";
  const { now, task } = await read<WorkloadDocument>(`/v1/workloads/${id}`);
  expect(task).toBe("mitigation");
  expect(Math.abs(Date.now() - (now?.at ?? 0))).toBeLessThan(60_000);
  const later = async (): Promise<number> => (await read<WorkloadDocument>(`/v1/workloads/${id}`)).now?.at ?? 0;
  await expect.poll(later, { timeout: 30_000 }).toBeGreaterThan(now?.at ?? 0);
  const { at, columns } = await read<SeriesDocument>(`/v1/workloads/${id}/series?points=100`);
  expect(at.length).toBeGreaterThan(10);
  expect(columns.cpu?.at(-1)).toBeGreaterThan(0);
  const decisions = (await read<{ items: DecisionDocument[] }>(`/v1/decisions?task=mitigation&limit=100`)).items;
  expect(new Set(decisions.map(({ workload }) => workload)).size).toBe(15);
  // Those of the fallback are listed as well, while the agent is still learning from it.
  expect(decisions.some(({ stage, who }) => stage === "OFFLINE" && who === "fallback")).toBe(true);
  expect((await read<{ items: unknown[] }>("/v1/workloads?task=pods")).items).toHaveLength(4);
  const metrics = await (await fetch(new URL("/metrics", up.url))).text();
  expect(metrics).toMatch(/coxswain_workload_knob\{workload="hotel-reservation-geo",run="own",knob="llc"\} \d/);
  await picture(page, "service-light");
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "service-dark");
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.setViewportSize({ width: 390, height: 1800 });
  expect(await fitsItsWidth(page)).toBe(true);
  await picture(page, "service-phone");
  await page.getByRole("link", { name: "Its events" }).click();
  await expect.poll(() => page.locator("main h1").innerText()).toBe("Events");
  expect(complaints).toEqual([]);

  // The overview counts the cluster's workloads, and says of services whether to look at them.
  const overview = await visit(browser, `${up.url}/`);
  await overview.page.waitForSelector(".services-summary");
  expect(await overview.page.locator(".rows .row").count()).toBe(4);
  expect(await overview.page.locator(".services-summary").innerText()).toMatch(/\b15 services|hold up|holds up/);
  await picture(overview.page, "overview-with-services-light");
  await overview.page.emulateMedia({ colorScheme: "dark" });
  await picture(overview.page, "overview-with-services-dark");
  await overview.page.setViewportSize({ width: 390, height: 1800 });
  expect(await fitsItsWidth(overview.page)).toBe(true);
  await picture(overview.page, "overview-with-services-phone");
});

test("a person presses an anomaly button, the culprit shows, and is given what it lacks once somebody may act", {
  timeout: 900_000,
}, async () => {
  await expect.poll(async () => (await read<SuspectsDocument>("/v1/services/suspects")).isTrained, SLOWLY).toBe(true);
  // Its agent was promoted by a person before.
  await expect.poll(async () => (await read<AgentDocument>(`/v1/agents/${USER}`)).acting, SLOWLY).toBe("learner");
  // What is normal is known some ten seconds after pre-training is over.
  const reasons = async () =>
    (await read<SuspectsDocument>("/v1/services/suspects")).items.map(({ reason }) => reason).join();
  await expect.poll(reasons, SLOWLY).toMatch(/more than normal/);
  const page = await visitServices();
  expect(await page.locator(".service-graph .vertex").count()).toBe(15);
  await page.getByRole("button", { name: "Only observe" }).click();
  await expect
    .poll(() => page.locator(".acting .charge").innerText(), SLOWLY)
    .toMatch(/^Only observing: nobody changes/);
  expect((await acting())?.mode).toBe("observe");
  // It is done within the time that a person's command may take, for all agents.
  expect(await page.locator(".acting .refusal").count()).toBe(0);
  const observed = await limitsOf("user-0");
  await page.getByRole("button", { name: "CPU stress in user-0" }).click();
  await expect
    .poll(() => page.locator(".toast").innerText())
    .toContain("Begun: CPU stress in user-0. It ends by itself.");
  await expect.poll(() => page.locator(".suspects .culprit strong").allInnerTexts(), SLOWLY).toContain("user-0");
  const culprit = page.locator(".suspects .culprit", { hasText: "user-0" });
  expect(await culprit.locator(".badge").innerText()).toBe("▲ lacks CPU");
  expect(await culprit.innerText()).toMatch(/more than normal/);
  await expect
    .poll(() => page.locator("main h1").innerText(), SLOWLY)
    .toMatch(/^user-0 holds up (login|reserve): it lacks CPU/);
  await expect
    .poll(() => page.locator(".service-graph .blamed title").allTextContents(), SLOWLY)
    .toEqual([expect.stringMatching(/^user: /)]);
  const remedies = page.locator(".remedies");
  await expect
    .poll(() => remedies.innerText(), SLOWLY)
    .toMatch(/The learner would change user-0: .*It was not done\./s);
  expect(await limitsOf("user-0")).toEqual(observed);
  await picture(page, "services-culprit-light");

  await page.getByRole("button", { name: "Let it act" }).click();
  await expect.poll(async () => (await limitsOf("user-0"))?.cpu, SLOWLY).toBeGreaterThan(observed?.cpu ?? 0);
  // The newest of them is the first.
  const done = remedies.locator(".done", { hasText: "changed user-0" }).first();
  await expect
    .poll(() => done.innerText(), SLOWLY)
    .toMatch(
      /The learner changed user-0: CPU [\d.]+ → [\d.]+ cores.*Mended within \d+ s: the SLO of .*(login|reserve)/s,
    );
  await expect.poll(() => page.locator("main h1").innerText(), SLOWLY).toBe("Every type of request keeps its SLO");
  // The anomaly is still there: it was the limits.
  expect((await read<ServicesDocument>("/v1/services")).simulated?.anomalies).toHaveLength(1);
  await picture(page, "services-mended-light");
  await page.getByRole("button", { name: "Stop CPU stress in user-0" }).click();
  await expect.poll(() => page.locator(".anomalies").innerText(), SLOWLY).toMatch(/In force\s+None\./);
  await expect.poll(async () => (await read<ServicesDocument>("/v1/services")).simulated?.anomalies).toEqual([]);
});

test("a trace is read as a timeline whose held-up times are those of the whole request", {
  timeout: 400_000,
}, async () => {
  const page = await visitServices();
  const link = page.locator(".trace-list a").nth(1);
  const words = await link.innerText();
  await link.click();
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/services\/[0-9a-f]{32}$/);
  const duration = /^[\d.]+ m?s/.exec(words)?.[0] ?? "";
  await expect.poll(() => page.locator(".one-trace h3").innerText()).toContain(duration);
  const held = await page.locator(".timeline-table tbody td:last-child strong").allInnerTexts();
  const sum = held.map((text) => Number.parseFloat(text)).reduce((total, ms) => total + ms, 0);
  // Each is rounded for people, to a tenth below ten.
  expect(Math.abs(sum - Number.parseFloat(duration))).toBeLessThan(0.6 * held.length);
  // The address alone is enough to see it again.
  const again = await visit(browser, page.url());
  await expect.poll(() => again.page.locator(".one-trace h3").innerText(), SLOWLY).toContain(duration);
});

test("the accessibility checker finds nothing, in light, dark and on a phone, and nothing hangs over the edge", {
  timeout: 400_000,
}, async () => {
  const page = await visitServices();
  await page.waitForSelector(".timeline-table");
  // Those come with the agents.
  await page.waitForSelector("table.limits tbody tr", { timeout: SLOWLY.timeout });
  expect(await page.locator("table.limits tbody tr").count()).toBe(15);
  const panel = async (name: string): Promise<void> => {
    await page.locator("table.limits").scrollIntoViewIfNeeded();
    await picture(page, name.replace("acting", "limits"));
    await page.locator(".acting").scrollIntoViewIfNeeded();
    await picture(page, name);
  };
  await panel("services-acting-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await panel("services-acting-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByText("Another one").click();
  await page.getByText("The graph as a table").click();
  await picture(page, "services-light");
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "services-dark");
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 1800 });
  await page.waitForTimeout(150);
  await picture(page, "services-phone");
  await panel("services-acting-phone");
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
});

test("with the keyboard alone an anomaly of one's own is begun and stopped", async () => {
  const page = await visitServices();
  const walk = async (to: RegExp): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const words = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        return `${element.tagName.toLowerCase()} ${element.getAttribute("aria-label") ?? element.closest("label")?.textContent ?? element.textContent ?? ""}`;
      });
      if (to.test(words)) return;
    }
    throw new Error(`Tab does not lead to ${to}`);
  };
  await walk(/^summary Another one/);
  await page.keyboard.press("Enter");
  await walk(/^select What/);
  await page.keyboard.type("Network d");
  await walk(/^select Where/);
  await page.keyboard.type("geo-0");
  await walk(/^button Begin/);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".in-force").innerText(), SLOWLY).toContain("network delay in geo-0");
  await walk(/^button Stop network delay in geo-0/);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".in-force li").count(), SLOWLY).toBe(0);
});

test("another agent earns Online by itself, and the gates that held are shown", { timeout: 400_000 }, async () => {
  const earned = async (): Promise<AgentDocument | undefined> =>
    (await read<{ items: AgentDocument[] }>("/v1/agents")).items.find(
      ({ workload, history }) =>
        workload.startsWith("hotel-reservation-") && history.some(({ because }) => because === "earned"),
    );
  await expect.poll(earned, SLOWLY).toBeDefined();
  const agent = await earned();
  const { page } = await visit(browser, `${up.url}/#/agents/${agent?.id}`, { height: 1600 });
  const move = page.locator(".timeline > li", { hasText: "Its estimated reward reached" }).first();
  await expect.poll(() => move.innerText()).toMatch(/Offline → Online\s.*Evidence: (\d+) of \1 gates held/s);
  await move.getByText("Evidence: ").click();
  const gates = await move.locator("tbody th").allInnerTexts();
  expect(gates).toEqual(expect.arrayContaining(["reward", "fallback-level", "shadow"]));
  const service = agent?.workload.slice("hotel-reservation-".length);
  expect(await page.locator(".crumbs").innerText()).toBe(`Services › ${service} › agent`);
  expect(await page.locator("main h1").innerText()).toBe(`Agent of service ${service}`);
  await picture(page, "service-agent-earned-light");
});
