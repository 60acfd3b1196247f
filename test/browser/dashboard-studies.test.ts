/** The studies page in a real browser: where its results come from, what it does with a broken one, how it marks the paper's. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { openBrowser } from "./browser.ts";
import { buildDashboard, picture, root, type Visit, visit } from "./dashboard-page.ts";
import { type Served, type ServeOptions, servePlane } from "./plane-server.ts";

const FIXTURES = join(root, "test/browser/fixtures/results");
const PUBLISHED = join(root, "docs/results");
/** Built with the fixtures in it, so that it is seen which results are shown. */
const folder = temporaryFolder("dashboard");
let browser: Browser;
const open: Served[] = [];

beforeAll(async () => {
  buildDashboard({ results: FIXTURES, outDir: folder });
  browser = await openBrowser();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const served of open.splice(0)) await served.close();
});
afterAll(async () => {
  await browser?.close();
});

async function serve(options: Omit<ServeOptions, "folder">): Promise<Served> {
  const served = await servePlane({ folder, script: { everyMs: null }, ...options });
  open.push(served);
  return served;
}

async function visitStudies(options: Omit<ServeOptions, "folder">, study = ""): Promise<Visit> {
  const served = await serve(options);
  const visited = await visit(browser, `${served.url}/#/studies/${study}`);
  await visited.page.waitForSelector("[role=tabpanel]");
  return visited;
}

const SUMMARY =
  "1 of 2 promises are kept; 0 of 1 published figures are reproduced, 1 in the same direction; in 1 study.";

test.each([
  ["the control plane's own", { studies: FIXTURES }, SUMMARY],
  ["built in", {}, `${SUMMARY} As they were when this page was built; the control plane keeps none of its own.`],
])(
  "a study, %s, is shown with the paper's range, our interval, its claims and verdicts, each kind apart",
  async (_where, options, summary) => {
    const { page, complaints, hosts } = await visitStudies(options, "rl-example");
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
        "",
        "reaches at least 475",
        "✓ yes",
      ],
      [
        "Return after 100,000 steps, DQN",
        "none",
        "−450.5 reward −500 to −401, n = 10",
        "",
        "reaches at least −400",
        "✗ no",
      ],
      [
        "Steps of another method, as a multiple",
        "5 × Fig. 2",
        "3 × 2 to 4, n = 10",
        "",
        "at least 5×",
        "≈ same direction",
      ],
      ["Seconds of a run", "none", "60 s 59 to 61, n = 10", "", "of this machine", ""],
    ]);
    expect(await page.locator("#rl-example h3").allInnerTexts()).toEqual([
      "Promises",
      "Reproductions",
      "Shown, not judged",
    ]);
    expect(await page.locator(".summary").innerText()).toBe(summary);
    const width = (): Promise<number> =>
      page.locator("#rl-example figure img").evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBe(480);
    // A server without studies answers 404, and 503 for the broken one; the browser writes such answers down as errors.
    expect(complaints.filter((text) => !/status of (?:404|503)/.test(text))).toEqual([]);
    expect([...hosts]).toEqual(["127.0.0.1"]);
  },
);

test("the paper's value is marked on the scale of our interval, where there is one", async () => {
  const { page } = await visitStudies({ studies: FIXTURES }, "rl-example");
  const marks = (row: number): Promise<number> =>
    page.locator("#rl-example tbody tr").nth(row).locator(".interval-plot .paper").count();
  expect([await marks(0), await marks(1)]).toEqual([1, 0]);
});

test.each([
  ["the control plane's own", { studies: FIXTURES }],
  ["built in", {}],
])(
  "a result that breaks the contract, %s, is named with its first problem, beside the sound ones",
  async (_where, options) => {
    const { page } = await visitStudies(options);
    await page.getByRole("tab", { name: "broken cannot be read" }).click();
    await expect
      .poll(() => page.locator(".studies [role=alert]").innerText())
      .toBe("The result of study 'broken' cannot be read: quick: expected true or false, found nothing.");
  },
);

test("what has been published since the page was built is shown, and what has gone is not", async () => {
  const { page } = await visitStudies({ studies: PUBLISHED });
  expect(await page.getByRole("tab").count()).toBeGreaterThan(5);
  expect(await page.getByRole("tab", { name: "rl-example" }).count()).toBe(0);
  await page.getByRole("tab", { name: /serving through updates/ }).click();
  await page.waitForSelector("#aware-serving figure img");
  await page.setViewportSize({ width: 1280, height: 1600 });
  await picture(page, "studies-light");
});

test("plots are shown where a token is asked for, too", async () => {
  const secret = "correct-horse-battery-staple-0123456789";
  const served = await serve({ studies: FIXTURES, tokens: [{ name: "viewer", role: "viewer", secret }] });
  const { page } = await visit(browser, `${served.url}/`);
  await page.getByLabel("Token").fill(secret);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.waitForSelector(".rows .row");
  await page.goto(`${served.url}/#/studies/rl-example`);
  await page.waitForSelector("#rl-example figure img");
});

test("without any result the page says so, and how to make one", async () => {
  const served = await serve({});
  const { page } = await visit(browser, `${served.url}/`);
  await page.route("**/results/index.json", (route) => route.fulfill({ json: [] }));
  await page.goto(`${served.url}/#/studies`);
  await expect
    .poll(() => page.locator(".studies").innerText())
    .toMatch(/No study has been published yet\. coxswain reproduce/);
});
