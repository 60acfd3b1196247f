/**
 * `coxswain bench up`: the control plane as its users meet it, in a process of its own.
 * How long from the start to the first live sample, how fast the API answers while agents run and train, what the browser
 * loads, and whether memory grows over simulated hours.
 */
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { packageRoot } from "../src/adapters/runtime/index.ts";
import { type Bench, type BenchContext, type BenchReport, describeMachine, type Figure, round } from "./report.ts";
import { bundleBytes } from "./up/bundle.ts";
import { percentile, steadyLoad } from "./up/load.ts";
import { type RunningUp, startUp } from "./up/running.ts";
import { firstSample } from "./up/stream.ts";

const START_TARGET_S = 3;
const P99_TARGET_MS = 10;
const RATE = 500;
const BUNDLE_TARGET_KB = 250;
const GROWTH_TARGET = 0.1;
/** What a dashboard asks for, with the workloads' own pages added once their names are known. */
const PATHS = ["/v1/overview", "/v1/workloads", "/v1/agents", "/v1/decisions?limit=50", "/v1/events?limit=50"];

export const upBench: Bench = {
  title: "the control plane as its users meet it: start, API under load, bundle, memory",
  async run(context): Promise<BenchReport> {
    const machine = describeMachine();
    const absent: string[] = [];
    const figures = [...(await startFigures(context)), ...(await bundleFigures(absent))];
    figures.push(...(await loadFigures(context)), ...(await memoryFigures(context, absent)));
    return { figures, absent, machine: machine() };
  },
};

async function withUp<T>(
  { signal }: BenchContext,
  { speed }: { readonly speed?: number },
  work: (up: RunningUp) => Promise<T>,
): Promise<T> {
  const up = await startUp({ signal, ...(speed === undefined ? {} : { speed }) });
  try {
    return await work(up);
  } finally {
    await up.stop();
  }
}

async function startFigures(context: BenchContext): Promise<Figure[]> {
  const starts: number[] = [];
  for (let i = 0; i < (context.quick ? 2 : 5); i++) {
    context.log("starting it and waiting for the first sample");
    starts.push(
      await withUp(context, {}, async ({ url, startedAt }) => (await firstSample(url, context.signal)) - startedAt),
    );
  }
  const ascending = Float64Array.from(starts).sort();
  const best = percentile(ascending, 0) / 1_000;
  return [
    {
      id: "up.start",
      what: "from the start of the process to the first live sample on the stream",
      value: round(best),
      unit: "s",
      median: round(percentile(ascending, 0.5) / 1_000),
      target: `at most ${START_TARGET_S} s`,
      holds: best <= START_TARGET_S,
    },
  ];
}

async function bundleFigures(absent: string[]): Promise<Figure[]> {
  const bytes = await bundleBytes(join(packageRoot(), "dashboard", "dist"));
  if (bytes === undefined) {
    absent.push("the dashboard's bundle: it is not built; run npm run build");
    return [];
  }
  return [
    {
      id: "up.bundle",
      what: "all that the dashboard loads, gzipped",
      value: round(bytes / 1_000),
      unit: "kB",
      target: `at most ${BUNDLE_TARGET_KB} kB`,
      holds: bytes / 1_000 <= BUNDLE_TARGET_KB,
    },
  ];
}

async function loadFigures(context: BenchContext): Promise<Figure[]> {
  const { quick, signal, log } = context;
  return withUp(context, {}, async ({ url }) => {
    await firstSample(url, signal);
    // Until agents train: the first rounds begin after some episodes.
    await after(quick ? 3_000 : 15_000, undefined, { signal });
    const { paths, agents } = await askable(url, signal);
    log(`${RATE} requests a second while ${agents} agents run`);
    await steadyLoad({ url, paths, perSecond: RATE, seconds: 2, signal });
    const { sent, failed, times } = await steadyLoad({ url, paths, perSecond: RATE, seconds: quick ? 10 : 60, signal });
    const p99 = percentile(times, 0.99);
    const holds = p99 <= P99_TARGET_MS && failed === 0;
    const what = `99th percentile of the API at ${RATE} requests/s while ${agents} agents run and train`;
    return [
      { id: "up.p99", what, value: round(p99), unit: "ms", target: `at most ${P99_TARGET_MS} ms, none failed`, holds },
      { id: "up.p50", what: "its median", value: round(percentile(times, 0.5)), unit: "ms" },
      { id: "up.failed", what: `requests of ${sent} that were refused or not answered`, value: failed, unit: "" },
    ];
  });
}

async function askable(url: string, signal: AbortSignal) {
  const response = await fetch(new URL("/v1/overview", url), { signal });
  const { workloads, agents } = (await response.json()) as {
    readonly workloads: readonly { readonly id: string }[];
    readonly agents: readonly { readonly id: string }[];
  };
  const own = workloads.flatMap(({ id }) => [`/v1/workloads/${id}`, `/v1/workloads/${id}/series`]);
  return { paths: [...PATHS, ...own, ...agents.map(({ id }) => `/v1/agents/${id}`)], agents: agents.length };
}

/** Simulated hours before the first look, in which caches and windows fill, and after it. */
async function memoryFigures(context: BenchContext, absent: string[]): Promise<Figure[]> {
  const { quick, signal, log } = context;
  const hours = quick ? { warm: 0.5, measured: 1 } : { warm: 2, measured: 24 };
  return withUp(context, { speed: 3_600 }, async ({ url, memory }) => {
    const began = await worldTime(url, signal);
    const reach = async (hour: number): Promise<number | undefined> => {
      while ((await worldTime(url, signal)) - began < hour * 3_600_000) await after(250, undefined, { signal });
      return memory();
    };
    log(`${hours.warm + hours.measured} simulated hours`);
    const before = await reach(hours.warm);
    const later = await reach(hours.warm + hours.measured);
    if (before === undefined || later === undefined) {
      absent.push("growth of memory: this system does not tell the memory of a process under /proc");
      return [];
    }
    const growth = later / before - 1;
    return [
      {
        id: "up.memory",
        what: `growth of resident memory over ${hours.measured} simulated hours, from ${round(before / 1e6)} MB`,
        value: round(100 * growth),
        unit: "%",
        target: `at most ${100 * GROWTH_TARGET} %`,
        holds: growth <= GROWTH_TARGET,
      },
    ];
  });
}

async function worldTime(url: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(new URL("/v1/overview", url), { signal });
  return ((await response.json()) as { readonly at: number }).at;
}
