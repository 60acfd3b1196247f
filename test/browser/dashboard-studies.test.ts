/** The studies page in a real browser: what it shows, what it does with a broken file, and who can use it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import {
  buildDashboard,
  fitsItsWidth,
  root,
  type Visit,
  type VisitOptions,
  violations,
  visit,
} from "./dashboard-page.ts";
import { type Served, servePlane } from "./plane-server.ts";

const built = mkdtempSync(join(tmpdir(), "coxswain-dashboard-"));
let browser: Browser;
let some: Served;
let none: Served;

beforeAll(async () => {
  buildDashboard({ results: join(root, "test/browser/fixtures/results"), outDir: join(built, "some") });
  buildDashboard({ results: join(built, "absent"), outDir: join(built, "none") });
  browser = await openBrowser();
  some = await servePlane({ folder: join(built, "some") });
  none = await servePlane({ folder: join(built, "none") });
});
afterAll(async () => {
  await browser?.close();
  await some?.close();
  await none?.close();
  rmSync(built, { recursive: true, force: true });
});

async function visitStudies(served: Served, options: VisitOptions = {}): Promise<Visit> {
  const visited = await visit(browser, `${served.url}/#/studies`, options);
  await visited.page.waitForSelector(".studies > :not(h1, p, [role=status])");
  return visited;
}

test("a study is shown with the paper's range, our interval, its claim and both verdicts", async () => {
  const { page, complaints, hosts } = await visitStudies(some);
  const cells = await page
    .locator("#rl-example tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.replace(/\s+/g, " ").trim())),
    );
  expect(cells).toEqual([
    [
      "Return after 100,000 steps, PPO",
      "485 – 500 reward Table 1",
      "498.3 reward 495.5 to 500, n = 10",
      "reaches at least 475",
      "✓ yes",
    ],
    ["Return after 100,000 steps, DQN", "none", "−450.5 reward −500 to −401, n = 10", "reaches at least −400", "✗ no"],
  ]);
  expect(await page.locator(".summary p").innerText()).toBe("1 of 2 claims hold, in 1 study.");
  expect(
    await page.locator("#rl-example figure img").evaluate((image) => (image as HTMLImageElement).naturalWidth),
  ).toBe(480);
  expect(complaints).toEqual([]);
  expect([...hosts]).toEqual(["127.0.0.1"]);
});

test("a result that breaks the contract is named with its first problem, beside the sound ones", async () => {
  const { page } = await visitStudies(some);
  expect(await page.locator(".studies [role=alert]").innerText()).toBe(
    "broken.json does not keep to the contract: quick: expected true or false, found nothing.",
  );
});

test("without any result the page says so, and how to make one", async () => {
  const { page } = await visitStudies(none);
  expect(await page.locator(".state").innerText()).toMatch(/^No study has been published yet\. coxswain reproduce/);
});

test.each([
  ["light", { dark: false }],
  ["dark", { dark: true }],
  ["narrow", { width: 360 }],
])(
  "the accessibility checker finds nothing in the %s page, and nothing hangs over its edge",
  async (_what, options) => {
    const { page } = await visitStudies(some, options);
    expect(await violations(page)).toEqual([]);
    expect(await fitsItsWidth(page)).toBe(true);
  },
);
