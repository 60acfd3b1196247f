/** The engine as built for Node, unchanged and unbundled, in a page: the same training run must give the same bytes. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, type Served, serveFolder } from "./browser.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const UPDATES = 200;
const PATHS = {
  base: "/dist/src/base/index.js",
  tensor: "/dist/src/learn/tensor/index.js",
  program: "/test/browser/train-small-network.mjs",
  wasm: "/kernels/kernels.wasm",
};

interface Run {
  readonly losses: readonly number[];
  readonly bytes: Uint8Array;
}

type Program = (parts: object) => { losses: number[]; parameters: Float32Array };
let browser: Browser;
let served: Served;
beforeAll(async () => {
  browser = await openBrowser();
  served = await serveFolder(root);
});
afterAll(async () => {
  served?.close();
  await browser?.close();
});

async function trainInNode(updates: number): Promise<Run> {
  const load = (path: string): Promise<object> => import(pathToFileURL(join(root, path)).href) as Promise<object>;
  const [base, tensor, program] = await Promise.all([load(PATHS.base), load(PATHS.tensor), load(PATHS.program)]);
  const { trainSmallNetwork } = program as { trainSmallNetwork: Program };
  const wasm = new Uint8Array(readFileSync(join(root, PATHS.wasm)));
  const { losses, parameters } = trainSmallNetwork({ base, tensor, wasm, updates });
  return { losses, bytes: new Uint8Array(parameters.buffer, parameters.byteOffset, parameters.byteLength) };
}

/** What the page is: it loads the modules and the wasm file as any page does, and leaves its result in `run`. */
const pageWith = (updates: number): string => `<!doctype html>
<script type="module">
  import * as base from "${PATHS.base}";
  import * as tensor from "${PATHS.tensor}";
  import { trainSmallNetwork } from "${PATHS.program}";
  const wasm = new Uint8Array(await (await fetch("${PATHS.wasm}")).arrayBuffer());
  const { losses, parameters } = trainSmallNetwork({ base, tensor, wasm, updates: ${updates} });
  const bytes = [...new Uint8Array(parameters.buffer, parameters.byteOffset, parameters.byteLength)];
  globalThis.run = { losses, bytes, shared: typeof SharedArrayBuffer };
</script>`;

async function trainInPage(updates: number): Promise<Run & { shared: string }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.route(`${served.address}/`, (route) =>
    route.fulfill({ contentType: "text/html", body: pageWith(updates) }),
  );
  await page.goto(`${served.address}/`);
  expect(complaints).toEqual([]);
  const handle = await page.waitForFunction(() => (globalThis as { run?: unknown }).run, undefined, {
    timeout: 30_000,
  });
  const run = (await handle.jsonValue()) as { losses: number[]; bytes: number[]; shared: string };
  await page.close();
  return { losses: run.losses, bytes: Uint8Array.from(run.bytes), shared: run.shared };
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("two hundred updates in a page give the very bytes of two hundred in Node, without shared memory", async () => {
  const [node, page] = [await trainInNode(UPDATES), await trainInPage(UPDATES)];
  expect(page.shared).toBe("undefined");
  expect(node.bytes.length).toBeGreaterThan(1000);
  expect(hash(page.bytes)).toBe(hash(node.bytes));
  expect(page.losses).toEqual(node.losses);
});

test("the run really learns, and one update more gives other bytes", async () => {
  const { losses, bytes } = await trainInNode(UPDATES);
  const mean = (part: readonly number[]): number => part.reduce((sum, loss) => sum + loss, 0) / part.length;
  // The target a·b − c² of uniform draws in −1…1 has the mean −1/3 and the variance 1/9 + 4/45 = 1/5: a constant can do
  // no better than 0.2.
  expect(mean(losses.slice(0, 5))).toBeGreaterThan(0.1);
  expect(mean(losses.slice(-20))).toBeLessThan(0.02);
  expect(hash((await trainInNode(UPDATES + 1)).bytes)).not.toBe(hash(bytes));
});
