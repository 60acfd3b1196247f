/**
 * Fifty workloads at ten updates per second: nothing is lost, and the page stays usable. How smooth it was is written to
 * artifacts/browser/frames.json; it depends on the machine, so only what no machine excuses is demanded here.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { latency } from "../../dashboard/src/words/format.ts";
import type { MetricsDocument, OverviewDocument } from "../../src/contract/index.ts";
import { openBrowser } from "./browser.ts";
import { ARTEFACTS, picture, visit } from "./dashboard-page.ts";
import { type Served, servePlane } from "./plane-server.ts";

const WORKLOADS = 50;
const WATCHED_MS = 5_000;

let browser: Browser;
let served: Served;

beforeAll(async () => {
  browser = await openBrowser();
  served = await servePlane({
    folder: join(inject("installed"), "dashboard/dist"),
    script: { workloads: WORKLOADS, everyMs: 100 },
  });
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

const read = async <T>(path: string): Promise<T> => (await (await fetch(new URL(path, served.url))).json()) as T;

test("fifty workloads at ten updates per second lose no update, and the page answers all the while", async () => {
  const { page, complaints } = await visit(browser, served.url);
  await page.waitForFunction((count) => document.querySelectorAll(".rows .row").length === count, WORKLOADS);
  const session = await page.context().newCDPSession(page);
  // Time of the thread, not of the wall: what others do on the machine is not the page's doing.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busySeconds = async (): Promise<number> =>
    (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  const busyBefore = await busySeconds();
  const stepsBefore = served.plane.steps;
  const watched = await page.evaluate(
    (ms) =>
      new Promise<{ frames: number[]; answers: number[] }>((resolve) => {
        const frames: number[] = [];
        const answers: number[] = [];
        const began = performance.now();
        let last = began;
        const frame = (now: number): void => {
          frames.push(now - last);
          last = now;
          if (now - began < ms) requestAnimationFrame(frame);
          else {
            clearInterval(asking);
            resolve({ frames, answers });
          }
        };
        requestAnimationFrame(frame);
        // How long a person's click would wait for its turn.
        const asking = setInterval(() => {
          const asked = performance.now();
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => answers.push(performance.now() - asked);
          port2.postMessage(null);
        }, 50);
      }),
    WATCHED_MS,
  );
  const steps = served.plane.steps - stepsBefore;
  const busy = (await busySeconds()) - busyBefore;
  await picture(page, "fifty-workloads");
  served.plane.close();

  const figures = {
    workloads: WORKLOADS,
    updatesPerSecond: round(steps / (WATCHED_MS / 1000)),
    mainThreadMsPerUpdate: round((1000 * busy) / steps),
    frames: watched.frames.length,
    frameMs: { median: at(watched.frames, 0.5), p95: at(watched.frames, 0.95), p99: at(watched.frames, 0.99) },
    framesOver50Ms: watched.frames.filter((ms) => ms > 50).length,
    framesOver100Ms: watched.frames.filter((ms) => ms > 100).length,
    answerMs: { p95: at(watched.answers, 0.95), worst: at(watched.answers, 1) },
  };
  mkdirSync(ARTEFACTS, { recursive: true });
  writeFileSync(join(ARTEFACTS, "frames.json"), `${JSON.stringify(figures, null, 2)}\n`);

  // Nothing was dropped on the way, and every row shows its newest measurement.
  const { server } = await read<MetricsDocument>("/v1/metrics");
  expect(server.samplesDropped).toBe(0);
  const { workloads } = await read<OverviewDocument>("/v1/overview");
  const expected = Object.fromEntries(
    workloads
      .filter(({ trouble }) => trouble === null)
      .map(({ title, now, slo }) => [
        title,
        `p95 ${latency(now?.latency)}, target ${latency(slo.kind === "latency" ? slo.target : null)}`,
      ]),
  );
  const shown = (): Promise<Record<string, string>> =>
    page
      .locator(".rows .row:not(.trouble)")
      .evaluateAll((rows) =>
        Object.fromEntries(
          rows.map((row) => [row.querySelector("h2")?.textContent, row.querySelector(".sentence")?.textContent]),
        ),
      );
  await expect.poll(shown).toEqual(expected);
  // An update that needed its whole tenth of a second would leave nothing for anybody else, on any machine.
  expect(figures.mainThreadMsPerUpdate).toBeLessThan(100);
  expect(watched.answers.length).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

const round = (value: number): number => Math.round(value * 10) / 10;

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}
