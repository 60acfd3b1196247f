/**
 * Every view, dialog and state of the dashboard, light, dark and on a phone: the accessibility checker finds nothing, and
 * nothing hangs over the edge. Then a walk through all of it with the keyboard alone.
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { fleet } from "../fixtures/documents/fleet.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, picture, root, violations, visit } from "./dashboard-page.ts";
import { type Served, type ServeOptions, servePlane } from "./plane-server.ts";

let browser: Browser;
const open: Served[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const served of open.splice(0)) await served.close();
});
afterAll(async () => {
  await browser?.close();
});

async function serve(options: Omit<ServeOptions, "folder"> = {}): Promise<Served> {
  const served = await servePlane({
    folder: join(inject("installed"), "dashboard/dist"),
    studies: join(root, "docs/results"),
    // It holds still: what is checked is how things look, not how they move.
    script: { everyMs: null, ...options.script },
    ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
  });
  open.push(served);
  return served;
}

interface Scene {
  readonly name: string;
  readonly hash: string;
  readonly ready: string;
  readonly serve?: Omit<ServeOptions, "folder">;
  readonly before?: (page: Page) => Promise<unknown>;
  readonly act?: (page: Page, served: Served) => Promise<unknown>;
}

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();

const SCENES: readonly Scene[] = [
  { name: "overview", hash: "#/", ready: ".rows .row" },
  { name: "workload", hash: "#/workloads/checkout", ready: ".charts canvas" },
  { name: "agent", hash: "#/agents/agent-checkout", ready: "#history" },
  { name: "events", hash: "#/events", ready: ".events li" },
  { name: "fleet", hash: "#/fleet", ready: ".hosts .host", serve: { script: { fleet } } },
  {
    name: "fleet-curves",
    hash: "#/fleet",
    ready: ".fleet-mean canvas",
    serve: { script: { fleet } },
    act: (page) => page.locator(".fleet-mean").evaluate((section) => section.scrollIntoView()),
  },
  {
    name: "fleet-of-unknown-hosts",
    hash: "#/fleet",
    ready: ".fleet-members .row",
    serve: { script: { fleet: { ...fleet, hosts: null, changes: [] } } },
  },
  { name: "no-fleet", hash: "#/fleet", ready: ".state.problem" },
  { name: "studies", hash: "#/studies/aware-serving", ready: "#aware-serving figure img" },
  { name: "nothing-here", hash: "#/nowhere", ready: "main code" },
  { name: "unknown-workload", hash: "#/workloads/none", ready: ".state.problem" },
  { name: "no-services", hash: "#/services", ready: ".state.problem" },
  { name: "unknown-agent", hash: "#/agents/none", ready: ".state.problem" },
  { name: "empty", hash: "#/", ready: ".state", serve: { script: { workloads: 0 } } },
  {
    name: "loading",
    hash: "#/",
    ready: ".pulse",
    // A server that takes the question and says nothing.
    before: (page) => page.route("**/v1/stream", () => new Promise(() => undefined)),
  },
  {
    name: "sign-in",
    hash: "#/",
    ready: ".banner input",
    serve: { tokens: [{ name: "viewer", role: "viewer", secret: "correct-horse-battery-staple-0123456789" }] },
  },
  {
    name: "disconnected",
    hash: "#/",
    ready: ".rows .row",
    act: async (page, served) => {
      await served.close();
      await page.waitForSelector(".banner");
    },
  },
  {
    name: "promote-dialog",
    hash: "#/agents/agent-checkout",
    ready: "#history",
    act: (page) => press(page, "Promote…"),
  },
  {
    name: "roll-back-dialog",
    hash: "#/agents/agent-checkout",
    ready: "#history",
    act: (page) => press(page, "Roll back…"),
  },
  {
    name: "refused-dialog",
    hash: "#/agents/agent-checkout",
    ready: "#history",
    act: async (page) => {
      await page.route("**/pause", (route) => route.fulfill({ status: 503, json: { detail: "The store is full." } }));
      await press(page, "Pause…");
      await press(page, "Pause");
      await page.waitForSelector(".refusal");
    },
  },
  {
    name: "fault-dialog",
    hash: "#/workloads/checkout",
    ready: ".charts canvas",
    act: (page) => press(page, "Inject…"),
  },
  {
    name: "slo-dialog",
    hash: "#/workloads/checkout",
    ready: ".charts canvas",
    act: async (page) => {
      await press(page, "Change the SLO…");
      await page.getByLabel("Quantile").fill("1");
      await page.getByLabel("Target").fill("soon");
      await press(page, "Change the SLO");
      await page.waitForSelector("#slo-target-problem");
    },
  },
];

test.each(SCENES)("the accessibility checker finds nothing in $name, in light, dark and on a phone", async (scene) => {
  const served = await serve(scene.serve);
  const { page } = await visit(browser, "about:blank", { height: 1400 });
  await scene.before?.(page);
  await page.goto(`${served.url}/${scene.hash}`);
  await page.waitForSelector(scene.ready);
  await scene.act?.(page, served);
  await page.waitForTimeout(150);
  await picture(page, `${scene.name}-light`);
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, `${scene.name}-dark`);
  // In other colours nothing else can be different.
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 1800 });
  await page.waitForTimeout(150);
  await picture(page, `${scene.name}-phone`);
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
});

/** What has the focus, in a few words; and it must be seen that it has it. */
async function focused(page: Page): Promise<string> {
  const { words, outline } = await page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const name = element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    // Headings and the main part take the focus from scripts only; nobody tabs to them.
    const isSilent = element.tabIndex === -1;
    return {
      words: `${element.tagName.toLowerCase()}${element.id === "" ? "" : `#${element.id}`} ${name.slice(0, 40)}`.trim(),
      outline: isSilent ? "silent" : outlineStyle === "none" || outlineWidth === "0px" ? "unseen" : "seen",
    };
  });
  expect(outline, `the focus on ${words} must be seen`).not.toBe("unseen");
  return words;
}

async function walk(page: Page, key: string, to: RegExp): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press(key);
    const words = await focused(page);
    if (to.test(words)) return;
    seen.push(words);
  }
  throw new Error(`${key} does not lead to ${to}, but through: ${seen.join(", ")}`);
}

test("everything can be reached and left with the keyboard alone", async () => {
  const served = await serve();
  const { page } = await visit(browser, `${served.url}/`);
  await page.waitForSelector(".rows .row");
  const step = async (key: string): Promise<string> => {
    await page.keyboard.press(key);
    return focused(page);
  };
  expect(await step("Tab")).toBe("a Skip to the content");
  expect(await step("Enter")).toContain("main#main");

  // The list of workloads is one stop, with arrows within.
  expect(await step("Tab")).toBe("a Checkout");
  expect(await step("ArrowDown")).toBe("a Image resizer");
  expect(await step("ArrowRight")).toMatch(/^a .*Serving/);
  expect(await step("End")).toMatch(/^a .*Offline/);
  expect(await step("ArrowLeft")).toBe("a Recommendations");
  expect(await step("Tab")).toBe("a All events");
  expect(await step("Shift+Tab")).toBe("a Recommendations");
  expect(await step("Home")).toBe("a Checkout");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("main h1").innerText()).toBe("Checkout");
  await expect.poll(() => focused(page)).toBe("h1 Checkout");

  // A dialog takes the focus, keeps it, and gives it back where it was.
  await walk(page, "Tab", /Change the SLO…/);
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toMatch(/^select/);
  await walk(page, "Tab", /^input#slo-target/);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("90");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".head").innerText()).toContain("at most 90 ms");
  await expect.poll(() => focused(page)).toContain("Change the SLO…");
  // At once again: the browser's late word of the first closing must not close the second.
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toMatch(/^select/);
  await page.keyboard.press("Escape");
  await expect.poll(() => focused(page)).toContain("Change the SLO…");
  await walk(page, "Tab", /^input#scrubber/);

  // Tabs are one stop, arrows choose, and whoever chooses stays there.
  await walk(page, "Shift+Tab", /^a Studies/);
  await page.keyboard.press("Enter");
  await page.waitForSelector("[role=tab]");
  await walk(page, "Tab", /^button#tab-/);
  const first = await page.locator("[role=tab][aria-selected=true]").getAttribute("id");
  expect(await step("ArrowDown")).toMatch(/^button#tab-/);
  await expect.poll(() => page.locator("[role=tab][aria-selected=true]").getAttribute("id")).not.toBe(first);
  expect(await page.locator("[role=tab][aria-selected=true]").evaluate((tab) => tab === document.activeElement)).toBe(
    true,
  );
  expect(await step("Home")).toContain(`button#${first}`);
  expect(await step("Tab")).toMatch(/^section Reproductions of/);

  // So are the filters of the events.
  await walk(page, "Shift+Tab", /^a Events/);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".events li");
  await walk(page, "Tab", /^select/);
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => page.evaluate(() => location.hash)).toMatch(/^#\/events\/./);
  expect(await focused(page)).toMatch(/^select/);
});
