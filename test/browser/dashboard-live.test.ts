/**
 * The dashboard on the real server over a scripted control plane: what a person sees, does, and is told when it goes wrong.
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { picture, visit } from "./dashboard-page.ts";
import { type Served, type ServeOptions, servePlane } from "./plane-server.ts";
import { asService } from "./scripted-service.ts";

const folder = join(inject("installed"), "dashboard/dist");
let browser: Browser;
const open: Served[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const served of open.splice(0)) {
    await served.close();
    expect(served.defects).toEqual([]);
  }
});
afterAll(async () => {
  await browser?.close();
});

async function serve(options: Omit<ServeOptions, "folder"> = {}): Promise<Served> {
  const served = await servePlane({ folder, ...options });
  open.push(served);
  return served;
}

const STEPS = [".rows .row", ".charts canvas", "#history", ".events li"] as const;

test("the first thing a stranger reads is who is in trouble and why, on top of the list", async () => {
  const served = await serve();
  const { page, complaints, hosts } = await visit(browser, `${served.url}/`);
  await page.waitForSelector(STEPS[0]);
  expect(await page.locator("main h1").innerText()).toContain("Checkout is in trouble.");
  const first = page.locator(".rows .row").first();
  expect(await first.locator("h2").innerText()).toBe("Checkout");
  expect(await first.locator(".badge").innerText()).toBe("▲ In trouble");
  expect(await first.locator(".sentence").innerText()).toMatch(
    /^Misses its SLO since 06:57 .*: 1\.8 times its usual requests come; .*; the agent gave 3 more pods\.$/,
  );
  // How often both missed it of late is said in numbers beside the line.
  expect(await first.locator(".misses").innerText()).toMatch(/^missed \d+ of \d+ steps, twin \d+$/);
  // A release that needs more is said where all is well, too.
  expect(await page.locator(".row", { hasText: "Recommendations" }).locator(".who").innerText()).toContain(
    "Release 2.4 since 06:00: 1.8 times the CPU per request",
  );
  await page.waitForFunction(() => (document.querySelector(".sparkline .ours")?.getAttribute("d") ?? "").length > 100);
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual(["127.0.0.1"]);
  await picture(page, "overview-light");
});

test("an address typed into the browser leads to its view, and so does loading it again", async () => {
  const served = await serve();
  const { page, complaints } = await visit(browser, `${served.url}/workloads/checkout`);
  const heading = () => page.locator("main h1").innerText();
  await page.waitForSelector(STEPS[1]);
  expect(await heading()).toContain("Checkout");
  await page.reload();
  await page.waitForSelector(STEPS[1]);
  expect(await heading()).toContain("Checkout");
  await page.goto(`${served.url}/agents/agent-checkout`);
  await page.waitForSelector(STEPS[2]);
  expect(await heading()).toBe("Agent of Checkout");
  await page.goto(`${served.url}/events`);
  await page.waitForSelector(STEPS[3]);
  await page.goto(`${served.url}/workloads`);
  await page.waitForSelector(STEPS[0]);
  expect(complaints).toEqual([]);
});

test("numbers move by themselves, and only their text nodes are touched", async () => {
  const served = await serve({ script: { everyMs: null } });
  const { page } = await visit(browser, `${served.url}/`);
  const sentence = page.locator(".rows .row").nth(1).locator(".sentence");
  const before = await sentence.innerText();
  const node = await page.locator(".rows .row").nth(1).elementHandle();
  for (let step = 0; step < 5; step += 1) served.plane.step();
  await expect.poll(() => sentence.innerText()).not.toBe(before);
  expect(await node?.evaluate((element) => element.isConnected)).toBe(true);
});

test("a person promotes an agent, reads before what will happen and what speaks against it", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/#/agents/agent-checkout`);
  await page.getByRole("button", { name: "Promote…" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.locator("h2").innerText()).toBe("Promote agent-checkout to Serving");
  expect(await dialog.locator(".doubts li").innerText()).toBe("spread: standard deviation of the last ten episodes");
  await picture(page, "promote-dialog");
  await dialog.getByRole("button", { name: "Promote", exact: true }).click();
  await expect.poll(() => page.locator(".stage-steps.large [aria-current=step]").innerText()).toBe("Serving");
  expect(await page.locator(".timeline > li").first().innerText()).toMatch(/Online → Serving\s+A person decided so\./);
  expect(await page.locator(".toast").innerText()).toBe("Done: promote agent-checkout to Serving.");
  expect(await page.getByRole("button", { name: "Promote…" }).isDisabled()).toBe(true);
});

test("a person rolls an agent back by keyboard alone", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/#/agents/agent-product-search`);
  await page.getByRole("button", { name: "Roll back…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(await page.locator(".stage-steps.large [aria-current=step]").innerText()).toBe("Serving");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".stage-steps.large [aria-current=step]").innerText()).toBe("Offline");
});

test("of two who press at once one wins, and the other is told what it is now", async () => {
  const served = await serve();
  const address = `${served.url}/#/agents/agent-recommendations`;
  const [one, two] = [await visit(browser, address), await visit(browser, address)] as const;
  for (const { page } of [one, two]) await page.getByRole("button", { name: "Promote…" }).click();
  const press = (page: Page): Promise<void> =>
    page.getByRole("dialog").getByRole("button", { name: "Promote", exact: true }).click();
  await press(one.page);
  await one.page.getByRole("dialog").waitFor({ state: "hidden" });
  await press(two.page);
  await expect
    .poll(() => two.page.getByRole("dialog").locator("[role=alert]").innerText())
    .toBe(
      "Another person was faster. It changed after you looked, so nothing was done for you. It is now Online, in mode “act”.",
    );
  await picture(two.page, "another-was-faster");
});

test("pointing at the charts shows the decision of that time and why, in every chart at once", async () => {
  const served = await serve({ script: { everyMs: null } });
  const { page } = await visit(browser, `${served.url}/#/workloads/checkout`, { height: 1400 });
  await page.waitForSelector(STEPS[1]);
  await expect.poll(() => page.locator(".decision").innerText()).toContain("Newest decision");
  await page.locator(".plot").nth(1).hover();
  await expect.poll(() => page.locator(".decision").innerText()).toContain("Decision at the cursor");
  expect(await page.locator(".decision .why").innerText()).toContain("Online: the learner acts and goes on training.");
  const lefts = await page
    .locator(".u-cursor-x")
    .evaluateAll((lines) => new Set(lines.map((line) => (line as HTMLElement).style.transform)).size);
  expect(lefts).toBe(1);
  await picture(page, "workload-light");
  // The same by keyboard.
  await page.mouse.move(2, 2);
  await page.locator("#scrubber").focus();
  for (let press = 0; press < 10; press += 1) await page.keyboard.press("ArrowLeft");
  await expect.poll(() => page.locator(".decision").innerText()).toContain("Decision at the cursor");
});

test("when the server goes, the page says so and keeps what it knows; when it is back, it goes on", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/`);
  await page.waitForSelector(STEPS[0]);
  await expect.poll(() => page.locator(".connection").innerText()).toContain("Live");
  await served.close();
  await expect.poll(() => page.locator(".banner").innerText()).toContain("Not connected.");
  expect(await page.locator(".rows .row").count()).toBe(4);
  await picture(page, "disconnected");
  await serve({ port: Number(new URL(served.url).port) });
  await page.locator(".banner").waitFor({ state: "detached", timeout: 20_000 });
  await expect.poll(() => page.locator(".connection").innerText()).toContain("Live");
});

test("a server that wants a token is given one, and a wrong one is not enough", async () => {
  const secret = "correct-horse-battery-staple-0123456789";
  const served = await serve({ tokens: [{ name: "viewer", role: "viewer", secret }] });
  const { page } = await visit(browser, `${served.url}/`);
  await page.getByLabel("Token").fill("wrong-horse-battery-staple-0123456789");
  await page.getByRole("button", { name: "Connect" }).click();
  await expect.poll(() => page.locator(".connection").innerText()).toContain("Signed out");
  await page.getByLabel("Token").fill(secret);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.waitForSelector(STEPS[0]);
});

test("events are filtered by severity and words", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/#/events`);
  await page.waitForSelector(STEPS[3]);
  // What agents note at every step is not shown unasked.
  expect(await page.locator(".events li").count()).toBe(3);
  await page.getByLabel("info").check();
  await expect.poll(() => page.locator(".events li").count()).toBe(4);
  await page.getByLabel("warning").uncheck();
  await expect.poll(() => page.locator(".events li").count()).toBe(3);
  await page.getByLabel("warning").check();
  await page.getByPlaceholder("Words in the event").fill("guard");
  await expect.poll(() => page.locator(".events li").allInnerTexts()).toHaveLength(1);
  await page.getByPlaceholder("Words in the event").fill("nothing like this");
  expect(await page.locator(".state").innerText()).toBe("No event passes these filters.");
});

test("the theme follows the system until a person chooses, and remembers the choice", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/`, { dark: true });
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(await ground()).toBe("rgb(17, 20, 23)");
  await page.getByRole("button", { name: "Light theme" }).click();
  expect(await ground()).toBe("rgb(246, 247, 248)");
  await page.reload();
  expect(await ground()).toBe("rgb(246, 247, 248)");
});

test("a workload of another task is shown by its own knobs, in their units, beside those of pods", async () => {
  const served = await serve({ script: { told: asService("image-resizer") } });
  const { page, complaints } = await visit(browser, `${served.url}/#/workloads/image-resizer`);
  await page.waitForSelector(".decision tbody tr");
  const titles = await page.locator(".time-chart h2 > span:first-child").allInnerTexts();
  expect(titles.slice(2, -2)).toEqual(["Containers", "CPU", "Memory bandwidth", "Last-level cache per container"]);
  await expect
    .poll(() => page.locator(".time-chart .reading").allInnerTexts())
    .toContainEqual(expect.stringMatching(/^5,000 MB\/s of [\d,]+ MB\/s twin 5,000 MB\/s$/));
  expect(await page.locator(".decision tbody th").allInnerTexts()).toEqual([
    "Containers",
    "CPU per container, cores",
    "Memory bandwidth per container, MB/s",
    "Last-level cache per container, MiB",
  ]);
  await picture(page, "workload-service");
  await page.goto(`${served.url}/`);
  await page.waitForSelector(".row");
  expect(await page.locator("[role=columnheader]").allInnerTexts()).toContain("CPU used");
  expect(await page.locator(".task-title").allInnerTexts()).toEqual(["Workloads", "Containers"]);
  expect(await page.getByRole("grid", { name: "Containers" }).locator(".row h2").allInnerTexts()).toEqual([
    "Image resizer",
  ]);
  await picture(page, "overview-two-tasks");
  expect(complaints).toEqual([]);
});

test("an SLO of another kind asks for its own fields, and its target gets a chart", async () => {
  const served = await serve();
  const { page, complaints } = await visit(browser, `${served.url}/#/workloads/checkout`);
  const titles = (): Promise<string[]> => page.locator(".time-chart h2 > span:first-child").allInnerTexts();
  await page.waitForSelector(STEPS[1]);
  expect(await titles()).toEqual(["Load", "Latency, p95", "Replicas", "CPU", "Memory", "Reward", "Decisions"]);
  await page.getByRole("button", { name: "Change the SLO…" }).click();
  const submit = (): Promise<void> => page.getByRole("button", { name: "Change the SLO", exact: true }).click();
  await page.getByLabel("Promise").selectOption({ label: "an availability at least" });
  expect(await page.getByLabel("Quantile").count()).toBe(0);
  await page.getByLabel("Target").fill("99.9");
  await submit();
  expect(await page.locator("#slo-target-problem").innerText()).toBe("Give at most 1: 0.999 is 99.9 % of requests.");
  await page.getByLabel("Target").fill("0.999");
  await submit();
  await expect.poll(() => page.locator(".toast").innerText()).toContain("is now availability at least 99.9 %");
  await expect.poll(() => page.locator(".head").innerText()).toContain("Promise: availability at least 99.9 %");
  await expect
    .poll(titles)
    .toEqual(["Load", "SLO preservation", "Latency", "Replicas", "CPU", "Memory", "Reward", "Decisions"]);
  await picture(page, "slo-availability");
  expect(complaints).toEqual([]);
});

test("of two who change an SLO the second is told what holds now, keeps what was typed, and may go on", async () => {
  const served = await serve();
  const address = `${served.url}/#/workloads/checkout`;
  const [one, two] = [await visit(browser, address), await visit(browser, address)] as const;
  for (const { page } of [one, two]) await page.getByRole("button", { name: "Change the SLO…" }).click();
  const wish = async (page: Page, target: string): Promise<void> => {
    await page.getByLabel("Target").fill(target);
    await page.getByRole("button", { name: "Change the SLO", exact: true }).click();
  };
  await wish(one.page, "150");
  await one.page.getByRole("dialog").waitFor({ state: "hidden" });
  await wish(two.page, "120");
  const dialog = two.page.getByRole("dialog");
  await expect
    .poll(() => dialog.locator(".refusal").innerText())
    .toBe(
      "Another person was faster. Checkout changed after you looked, so nothing was done for you. It is now promised: p95 latency at most 150 ms. What you typed is still here, if you want it all the same.",
    );
  expect(await two.page.getByLabel("Target").inputValue()).toBe("120");
  await picture(two.page, "slo-overtaken");
  await dialog.getByRole("button", { name: "Change it all the same" }).click();
  await dialog.waitFor({ state: "hidden" });
  await expect.poll(() => one.page.locator(".head").innerText()).toContain("Promise: p95 latency at most 120 ms");
});
