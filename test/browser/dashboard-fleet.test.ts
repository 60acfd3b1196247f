/**
 * The fleet on a real `coxswain up --demo functions`: who is in it, who comes and goes, how rewards went meanwhile, who is in
 * whose way. The tests share one process. Not here: what reality does not show on demand (dashboard-axe.test.ts has such
 * fleets as well), a plane that has no fleet (the last test).
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type { FleetDocument } from "../../src/contract/index.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, picture, violations, visit } from "./dashboard-page.ts";
import { servePlane } from "./plane-server.ts";
import { type RunningUp, startUp } from "./real-up.ts";

let browser: Browser;
let up: RunningUp;

beforeAll(async () => {
  [browser, up] = await Promise.all([
    openBrowser(),
    startUp({ installed: inject("installed"), data: ":memory:", demo: "functions" }),
  ]);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
});

/** Of twelve functions every third comes and goes, each once in an hour of the platform's time. */
const SLOWLY = { timeout: 100_000, interval: 100 };

const readFleet = async (): Promise<FleetDocument> =>
  (await (await fetch(new URL("/v1/fleet", up.url))).json()) as FleetDocument;

const NAMES = [
  "Base64",
  "Compression",
  "Graph-BFT",
  "Graph-MST",
  "HTML-Gen",
  "Image-Inference",
  "Image-Resize",
  "Markdown2HTML",
  "Page-Rank",
  "Primes",
  "Sentiment-Anlys",
  "Uploader",
];

const row = (page: Page, name: string) =>
  page.locator(".fleet-members .row").filter({ has: page.getByRole("link", { name, exact: true }) });

/** Pixels of a chart in a colour, which is given as the browser draws it. */
const pixelsOf = (page: Page, colour: readonly [number, number, number]): Promise<number> =>
  page.evaluate(([red, green, blue]) => {
    const canvas = document.querySelector<HTMLCanvasElement>(".fleet-mean canvas");
    const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let found = 0;
    for (let i = 0; i < pixels.length; i += 4)
      if (pixels[i] === red && pixels[i + 1] === green && pixels[i + 2] === blue) found += 1;
    return found;
  }, colour);

test("the page of the fleet is in the menu, and lists every function with its SLO, its use and who acts", async () => {
  const { page, complaints, hosts } = await visit(browser, up.url);
  await page.getByRole("link", { name: "Fleet" }).click();
  await page.waitForSelector(".fleet-members .row");
  expect((await page.locator(".fleet-members h3").allInnerTexts()).sort()).toEqual(NAMES);
  await expect
    .poll(() => page.locator("main h1").innerText(), SLOWLY)
    .toMatch(/^(All 12|\d+ of 12) functions are here, (all keep their SLO|\d+ miss(es its| their) SLO)$/);
  const base = row(page, "Base64");
  await expect
    .poll(() => base.innerText(), SLOWLY)
    .toMatch(
      /(Keeps|Misses) its SLO[\s\S]*here since 06:00[\s\S]*[\d.]+ % twin [\d.]+ %[\s\S]*missed \d+ of \d+ steps, twin \d+/,
    );
  expect(await base.locator(".used").innerText()).toMatch(/CPU\s*[\d.]+ % twin [\d.]+ %\s*Memory\s*[\d.]+ % twin/);
  expect(await base.locator(".agent").innerText()).toMatch(/(left to ENSURE|learner acts)/);
  // By keyboard and pointer alike it leads to the function.
  await base.getByRole("link", { name: "Base64" }).click();
  await expect.poll(() => page.locator("main h1").innerText(), SLOWLY).toContain("Base64");
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual(["127.0.0.1"]);
});

test("a function leaves and is said to be away, comes back and is said to be here, and both are marked", async () => {
  const { page, complaints } = await visit(browser, `${up.url}/#/fleet`);
  await page.waitForSelector(".fleet-members .row");
  // Whoever is away at some time comes back later: what the page says of both is followed.
  let gone = "";
  await expect
    .poll(async () => {
      const [text = ""] = await page.locator(".fleet-members .row.away").allInnerTexts();
      gone = text.split("\n")[0] ?? "";
      return text;
    }, SLOWLY)
    .toMatch(/^[\w-]+\s+○ Away\s+away since \d\d:\d\d/);
  await expect.poll(() => row(page, gone).getAttribute("class"), SLOWLY).not.toContain("away");
  await expect.poll(() => row(page, gone).innerText(), SLOWLY).toMatch(/here since \d\d:\d\d/);
  await expect
    .poll(() => page.locator(".fleet-mean .changes").innerText(), SLOWLY)
    .toMatch(/\d\d:\d\d [\w-]+ joined[\s\S]*\d\d:\d\d [\w-]+ left/);
  // In its own line it is marked where it came, and grey where it was away.
  await expect.poll(() => row(page, gone).locator(".curve path.joined").count(), SLOWLY).toBeGreaterThan(0);
  expect(await row(page, gone).locator(".curve rect.away").count()).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

test("curves draw: the fleet's mean beside its twin's with churn marked, and one of each function as it is chosen", async () => {
  const { page } = await visit(browser, `${up.url}/#/fleet`);
  await page.waitForSelector(".fleet-mean canvas");
  await page.locator(".fleet-mean").scrollIntoViewIfNeeded();
  // Managed and joined, in the colours of the light theme.
  await expect.poll(() => pixelsOf(page, [11, 99, 181]), SLOWLY).toBeGreaterThan(200);
  await expect.poll(() => pixelsOf(page, [19, 106, 49]), SLOWLY).toBeGreaterThan(0);
  const lines = page.locator(".curves .curve path.ours");
  expect(await lines.count()).toBe(NAMES.length);
  const first = await lines.first().getAttribute("d");
  expect(first).toMatch(/^M[\d.]+ [\d.]+L/);
  await page.getByLabel("Show").selectOption("CPU used");
  await expect.poll(() => page.locator(".curves .curve").first().getAttribute("aria-label")).toMatch(/^CPU used of /);
  expect(await lines.first().getAttribute("d")).not.toBe(first);
});

test("contention is shown: cores by machine and function, and who costs whom how much of its speed", async () => {
  const { page } = await visit(browser, `${up.url}/#/fleet`);
  await page.waitForSelector(".hosts .host");
  expect(await page.locator(".host h3").allInnerTexts()).toEqual(
    [0, 1, 2, 3].map((i) => expect.stringMatching(new RegExp(`^invoker${i}\\s*[\\d.]+ of 28 cores$`))),
  );
  const here = (await readFleet()).members.filter(({ isPresent }) => isPresent).length;
  // One may come or go between the two looks.
  expect(Math.abs((await page.locator(".tenants li").count()) - here)).toBeLessThanOrEqual(1);
  expect(await page.locator(".host-bar rect:not(.all)").count()).toBeGreaterThan(8);
  // Base64 and Graph-BFT fill one machine's memory bandwidth whenever both have many calls.
  await expect
    .poll(() => page.locator(".tenants .lost-to").allInnerTexts(), SLOWLY)
    .toContainEqual(expect.stringMatching(/to (.+ [\d.]+ %, )?[A-Z][\w-]+ [\d.]+ %[\s\S]*(memory bandwidth|CPU)/));
  await expect
    .poll(() => page.locator(".fleet-summary").innerText(), SLOWLY)
    .toMatch(/Most in the way: [\w-]+ costs [\w-]+ [\d.]+ % of its speed on invoker\d \((memory bandwidth|CPU)/);
});

test("light, dark and on a phone it can be read by everybody, and nothing hangs over the edge", async () => {
  const { page } = await visit(browser, `${up.url}/#/fleet`);
  await page.waitForSelector(".hosts .host");
  await page.waitForSelector(".fleet-mean canvas");
  await picture(page, "up-fleet-light");
  expect(await violations(page)).toEqual([]);
  await page.locator(".fleet-mean").evaluate((section) => section.scrollIntoView());
  await page.waitForTimeout(300);
  await picture(page, "up-fleet-curves-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(300);
  await picture(page, "up-fleet-curves-dark");
  await page.evaluate(() => window.scrollTo(0, 0));
  await picture(page, "up-fleet-dark");
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 1800 });
  await page.waitForTimeout(300);
  await picture(page, "up-fleet-phone");
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
});

test("where nothing comes and goes, the menu has no fleet, and the address says why", async () => {
  const served = await servePlane({ folder: join(inject("installed"), "dashboard/dist"), script: { everyMs: null } });
  try {
    const { page } = await visit(browser, `${served.url}/#/fleet`);
    await expect
      .poll(() => page.locator(".state.problem").innerText())
      .toMatch(/^There is no fleet here\. Nothing that is managed here shares machines/);
    expect(await page.getByRole("navigation").getByRole("link", { name: "Fleet" }).count()).toBe(0);
  } finally {
    await served.close();
  }
});
