/**
 * The dashboard on the real server over a scripted control plane: what a person sees, does, and is told when it goes wrong.
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { picture, visit } from "./dashboard-page.ts";
import { type Served, type ServeOptions, servePlane } from "./plane-server.ts";

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
