/**
 * The pictures of the README, taken from a real `coxswain up`: the overview light and dark, and the workload that is in
 * trouble there. They are a build's own, so they are made by a test and by nothing else:
 *
 *   COXSWAIN_UPDATE_SCREENSHOTS=1 npx vitest run --config vitest.browser.config.ts test/browser/screenshots.test.ts
 *
 * writes them to docs/images/, after minutes of waiting until agents act, two releases have come and one workload is in
 * trouble. With COXSWAIN_UP=http://127.0.0.1:7070 they are of an `up` that runs there already, which spares the wait.
 * Without the first variable the same pictures are taken as soon as everything is live, into artifacts/browser, so that CI
 * sees that they can be taken.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { OverviewDocument } from "../../src/contract/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { openBrowser } from "./browser.ts";
import { fitsItsWidth, root, visit } from "./dashboard-page.ts";
import { type RunningUp, startUp } from "./real-up.ts";

const isForReadme = process.env.COXSWAIN_UPDATE_SCREENSHOTS === "1";
const folder = join(root, isForReadme ? "docs/images" : "artifacts/browser");
const MOST_BYTES = 300_000;
const PATIENCE = { timeout: isForReadme ? 600_000 : 60_000, interval: 250 };

const data = temporaryFolder("up-data");
let browser: Browser;
let up: Pick<RunningUp, "url" | "stop">;

beforeAll(async () => {
  const running = process.env.COXSWAIN_UP;
  [browser, up] = await Promise.all([
    openBrowser(),
    running === undefined
      ? // For the README at the speed that its readers will see.
        startUp({ installed: inject("installed"), data, speed: isForReadme ? 180 : 360 })
      : { url: running, stop: () => Promise.resolve(0) },
  ]);
});
afterAll(async () => {
  await browser?.close();
  await up?.stop();
});

const overview = async (): Promise<OverviewDocument> =>
  (await (await fetch(new URL("/v1/overview", up.url))).json()) as OverviewDocument;

async function take(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  expect(await fitsItsWidth(page)).toBe(true);
  await page.screenshot({ path, fullPage: true });
  expect(statSync(path).size).toBeLessThan(MOST_BYTES);
}

test(
  "the overview and a workload are pictured as they are",
  async () => {
    await expect.poll(async () => (await overview()).workloads.every(({ now }) => now !== null), PATIENCE).toBe(true);
    if (isForReadme) await untilTheyAct();
    const { page, complaints } = await visit(browser, up.url, { width: 1280, height: 800 });
    await page.waitForSelector(".rows .row");
    await page.waitForFunction(() => document.querySelectorAll(".sparkline .ours[d*=L]").length === 4);
    // Trouble passes in seconds at this speed, so the page is there before it is.
    if (isForReadme) await page.locator(".row.trouble").first().waitFor({ timeout: PATIENCE.timeout });
    const { workloads } = await overview();
    const troubled = workloads.find(({ trouble }) => trouble !== null) ?? workloads[0];
    await take(page, "overview-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await take(page, "overview-dark");
    await page.emulateMedia({ colorScheme: "light" });
    // As high as all its charts: what is not on the screen is not drawn.
    await page.setViewportSize({ width: 1280, height: 1400 });
    await page.goto(`${up.url}/#/workloads/${troubled?.id}`);
    await page.waitForSelector(".charts canvas");
    await expect.poll(() => page.locator(".decision h2").innerText(), PATIENCE).not.toBe("No decision yet");
    await take(page, "workload");
    expect(complaints).toEqual([]);
  },
  PATIENCE.timeout + 60_000,
);

/** Agents act, and an hour of the second release shows what that is good for. */
async function untilTheyAct(): Promise<void> {
  const acting = async (): Promise<number> =>
    (await overview()).agents.filter(({ acting }) => acting === "learner").length;
  await expect.poll(acting, PATIENCE).toBeGreaterThanOrEqual(2);
  const passed = async (): Promise<number> => {
    const [cluster] = (await overview()).worlds;
    return cluster === undefined ? 0 : cluster.at - cluster.startedAt;
  };
  await expect.poll(passed, PATIENCE).toBeGreaterThan(8 * 3_600_000);
}
