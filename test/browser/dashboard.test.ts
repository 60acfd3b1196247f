/** The studies page in a real browser: what it shows, what it does with a broken file, and who can use it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, type Served, serveFolder } from "./browser.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const built = mkdtempSync(join(tmpdir(), "coxswain-dashboard-"));
let browser: Browser;
let served: Served;

function buildWith(results: string, outDir: string): void {
  execFileSync(join(root, "node_modules/.bin/vite"), ["build", "--logLevel", "error", "--outDir", outDir], {
    cwd: join(root, "dashboard"),
    env: { ...process.env, COXSWAIN_RESULTS: results },
  });
}

beforeAll(async () => {
  buildWith(join(root, "test/browser/fixtures/results"), join(built, "some"));
  buildWith(join(built, "absent"), join(built, "none"));
  browser = await openBrowser();
  served = await serveFolder(built);
});
afterAll(async () => {
  served?.close();
  await browser?.close();
  rmSync(built, { recursive: true, force: true });
});

interface Visit {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly hosts: ReadonlySet<string>;
}

async function visit(path: string, options: { dark?: boolean; width?: number } = {}): Promise<Visit> {
  const page = await browser.newPage({
    colorScheme: options.dark === true ? "dark" : "light",
    viewport: { width: options.width ?? 1200, height: 900 },
  });
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => hosts.add(new URL(request.url()).hostname));
  await page.goto(`${served.address}${path}`);
  await page.waitForSelector("main > :not([role=status])");
  return { page, complaints, hosts };
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: unknown[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id} (${nodes.length})`);
  });
}

test("a study is shown with the paper's range, our interval, its claim and both verdicts", async () => {
  const { page, complaints, hosts } = await visit("/some/");
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
  const { page } = await visit("/some/");
  expect(await page.locator("[role=alert]").innerText()).toBe(
    "broken.json does not keep to the contract: quick: expected true or false, found nothing.",
  );
});

test("without any result the page says so, and how to make one", async () => {
  const { page } = await visit("/none/");
  expect(await page.locator("main").innerText()).toMatch(/^No study has been published yet\. coxswain reproduce/);
});

test.each([
  ["light", { dark: false }],
  ["dark", { dark: true }],
  ["narrow", { width: 360 }],
])(
  "the accessibility checker finds nothing in the %s page, and nothing hangs over its edge",
  async (_what, options) => {
    const { page } = await visit("/some/", options);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  },
);
