/** What the tests of the dashboard share: a build of it, a page with its complaints, the accessibility checker, pictures. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What tests leave to be looked at. */
export const ARTEFACTS = join(root, "artifacts/browser");

export function buildDashboard({ results, outDir }: { results: string; outDir: string }): void {
  execFileSync(join(root, "node_modules/.bin/vite"), ["build", "--logLevel", "error", "--outDir", outDir], {
    cwd: join(root, "dashboard"),
    env: { ...process.env, COXSWAIN_RESULTS: results },
  });
}

export interface Visit {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly hosts: ReadonlySet<string>;
}

export interface VisitOptions {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
}

export async function visit(browser: Browser, address: string, options: VisitOptions = {}): Promise<Visit> {
  const page = await browser.newPage({
    colorScheme: options.dark === true ? "dark" : "light",
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
  });
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => hosts.add(new URL(request.url()).hostname));
  await page.goto(address);
  return { page, complaints, hosts };
}

export interface AxeOptions {
  /** Only these rules; all that are on by default, and the size of targets, where nothing is said. */
  readonly only?: readonly string[];
}

export async function violations(page: Page, { only }: AxeOptions = {}): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const options = only === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: [...only] };
  return page.evaluate(async (asked) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run(asked)).violations.map(
      ({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 120)}`,
    );
  }, options);
}

export const fitsItsWidth = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

/** Kept as an artefact, to be looked at. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
}
