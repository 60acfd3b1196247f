/**
 * The map of workloads by embedding in a real browser, with a shared model that `coxswain pretrain` makes here: a tiny one,
 * of which nothing can be expected but that it is real.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type { PretrainReport } from "../../src/cli/pretraining/report.ts";
import { openSharedPool } from "../../src/cli/up/shared-pool.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, picture, root, violations, visit } from "./dashboard-page.ts";
import { type Served, type ServeOptions, servePlane } from "./plane-server.ts";
import { startUp } from "./real-up.ts";

const APPLICATIONS = 8;
const folder = temporaryFolder("map");
const model = join(folder, "pool");
let browser: Browser;
let report: PretrainReport;
const open: Served[] = [];

beforeAll(async () => {
  const args = `pretrain --quick --applications ${APPLICATIONS} --visits 1 --width 8 --threads 1 --out ${model}`;
  execFileSync(process.execPath, [join(inject("installed"), "bin/coxswain"), ...args.split(" ")], { stdio: "pipe" });
  report = JSON.parse(readFileSync(join(model, "report.json"), "utf8")) as PretrainReport;
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

async function visitMap(options: Omit<ServeOptions, "folder"> = {}, hash = "#/map"): Promise<Page> {
  const script = { everyMs: null, ...options.script };
  const served = await servePlane({ folder: join(inject("installed"), "dashboard/dist"), ...options, script });
  open.push(served);
  const { page } = await visit(browser, `${served.url}/${hash}`, { height: 1600 });
  return page;
}

async function looksRight(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(150);
  await picture(page, `${name}-light`);
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, `${name}-dark`);
  expect(await violations(page, { only: ["color-contrast"] })).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 1800 });
  await page.waitForTimeout(150);
  await picture(page, `${name}-phone`);
  expect(await violations(page)).toEqual([]);
  expect(await fitsItsWidth(page)).toBe(true);
}

const titleOf = (member: { readonly application: string } | undefined): string =>
  member?.application.replaceAll("+", " + ") ?? "";
const titles = (page: Page): Promise<string[]> => page.locator(".kin ol .link").allInnerTexts();

test("a real `up` with a shared model shows what it was trained on, who is whose neighbour, and its own workloads", async () => {
  const up = await startUp({ installed: inject("installed"), data: ":memory:", sharedModel: model });
  try {
    const { page, complaints, hosts } = await visit(browser, `${up.url}/`);
    await page.getByRole("link", { name: "Map" }).click();
    await page.waitForSelector(".scatter g");
    expect(await page.locator(".scatter g:not(.managed)").count()).toBe(APPLICATIONS);
    expect(await page.locator(".map-view .facts").innerText()).toContain(`pool · ${APPLICATIONS} applications`);
    const [first, second] = report.map.members;
    await page.getByLabel("Look at").selectOption(first?.name ?? "");
    await expect.poll(() => page.locator(".kin h2").innerText()).toBe(titleOf(first));
    expect(await titles(page)).toHaveLength(5);
    expect(await page.locator(".scatter .tie").count()).toBe(5);
    // By keyboard, by pointer, and along the neighbours.
    await page.getByLabel("Look at").selectOption(second?.name ?? "");
    await expect.poll(() => page.locator(".kin h2").innerText()).toBe(titleOf(second));
    const [nearest] = await titles(page);
    await page.locator(".kin ol .link").first().click();
    await expect.poll(() => page.locator(".kin h2").innerText()).toBe(nearest);
    const mark = page.locator(".scatter g").first().locator("path");
    await mark.click();
    await expect.poll(() => page.locator(".kin h2").innerText()).toBe(titleOf(first));
    // The agents began with it, and after a few episodes each it knows whom they are like.
    await expect.poll(() => page.locator(".scatter .managed").count(), { timeout: 100_000 }).toBeGreaterThan(0);
    const name = (await page.locator(".scatter .managed text").first().textContent()) ?? "";
    await page.getByLabel("Look at").selectOption({ label: name });
    await expect.poll(() => page.locator(".kin h2").innerText()).toBe(name);
    expect(await titles(page)).toHaveLength(5);
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual(["127.0.0.1"]);
  } finally {
    await up.stop();
  }
});

test("a managed workload lies where its embedding says, with its kin; one that is not known yet is not on the map", async () => {
  const [member] = report.map.members;
  const familiar = {
    state: "known" as const,
    why: `known by 5 trajectories: ${member?.name} is most like it`,
    model: "pool",
    embedding: member?.embedding ?? [],
    kin: [{ name: member?.name ?? "", similarity: 1 }],
  };
  const neutral = { ...familiar, state: "neutral" as const, why: "2 of 3 episodes were seen.", embedding: [], kin: [] };
  const page = await visitMap({ pool: openSharedPool(model), script: { familiar: [familiar, neutral] } });
  await page.waitForSelector(".scatter .managed");
  const place = (mark: string): Promise<string | null> => page.locator(mark).first().getAttribute("transform");
  expect(await page.locator(".scatter .managed").count()).toBe(1);
  expect(await place(".scatter .managed")).toBe(await place(".scatter g"));
  const beside = await page.locator(".kin").innerText();
  // What only the model's makers call it is said as what it is.
  expect(beside).toContain(`Has kin here: known by 5 trajectories: ${titleOf(member)} is most like it.`);
  expect(beside).toContain(`${titleOf(member)}\n1.00`);
  await page.getByLabel("Look at").selectOption({ label: "Product search" });
  await expect.poll(() => page.locator(".kin").innerText()).toContain("Not placed yet: 2 of 3 episodes were seen.");
  await page.getByLabel("Look at").selectOption({ label: "Checkout" });
  await page.getByLabel("Marks show").selectOption("shape");
  const shapes = new Set(report.map.members.map(({ shape }) => shape));
  await expect.poll(() => page.locator("[aria-label=Marks] svg").count()).toBe(shapes.size);
  await looksRight(page, "map");
  await page.goto(page.url().replace(/#.*/, "#/agents/agent-checkout"));
  await expect.poll(() => page.locator("#familiar + p").innerText()).toBe(familiar.why);
});

test("without a shared model the page says so, and how to make one", async () => {
  const page = await visitMap();
  await page.waitForSelector(".map-view .state");
  const text = await page.locator(".map-view").innerText();
  expect(text).toContain("No shared model yet.");
  expect(text).toContain("coxswain pretrain --quick --out runs/pool");
  expect(text).toContain("coxswain up --shared-model runs/pool");
  await looksRight(page, "map-empty");
});

test("an adaptation run is shown next to transfer learning, where one was published", async () => {
  const page = await visitMap({ studies: join(root, "test/browser/fixtures/adaptation") });
  const image = page.locator("section.studies figure img");
  await expect.poll(() => image.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(480);
  expect(await page.locator("section.studies tbody tr").innerText()).toMatch(
    /TL against AWARE.*2\.5 ×.*≈ same direction/s,
  );
  await looksRight(page, "map-adaptation");
});

test("where none was published, it is said how to play one", async () => {
  const page = await visitMap({ studies: join(root, "test/browser/fixtures/results") });
  await expect
    .poll(() => page.locator("section.studies").innerText())
    .toMatch(/No adaptation run has been published yet\. coxswain reproduce aware-adaptation/);
});

test("a report that was damaged meanwhile is told with its reason", async () => {
  const page = await visitMap({ pool: openSharedPool(join(folder, "nowhere")) });
  await expect.poll(() => page.locator(".state.problem").innerText()).toMatch(/cannot be shown\..*report\.json/s);
});
