/**
 * Services in a real browser on a real `coxswain up`: a person presses an anomaly button, the culprit shows, and once somebody
 * may act its limits change and its requests are in time again; a trace is read as a timeline; everything is there by keyboard, in the dark and on a phone.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type { InstanceDocument, ServicesDocument, SuspectsDocument } from "../../src/server/services-contract.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, picture, violations, visit } from "./dashboard-page.ts";
import { type RunningUp, startUp } from "./real-up.ts";

const data = mkdtempSync(join(tmpdir(), "coxswain-up-services-"));
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
  rmSync(data, { recursive: true, force: true });
});

/** Lessons take some ten seconds of a free core, traces seven seconds, and CI has others to serve. */
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
const acting = async () => (await read<ServicesDocument>("/v1/services")).simulated?.acting;

test("a person presses an anomaly button, the culprit shows, and is given what it lacks once somebody may act", {
  timeout: 900_000,
}, async () => {
  await expect.poll(async () => (await read<SuspectsDocument>("/v1/services/suspects")).isTrained, SLOWLY).toBe(true);
  await expect.poll(async () => (await acting())?.charge, SLOWLY).toBe("learner");
  // What is normal is known some ten seconds after the lessons are over.
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

test("the accessibility checker finds nothing, in light, dark and on a phone, and nothing hangs over the edge", async () => {
  const page = await visitServices();
  await page.waitForSelector(".timeline-table");
  const panel = async (name: string): Promise<void> => {
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
