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
import { quantile } from "./up/load.ts";
import { type LoadProcess, startLoadProcess } from "./up/load-apart.ts";
import type { HeapFigures } from "./up/memory-worker.ts";
import { type RunningUp, startUp, type UpStart } from "./up/running.ts";
import { answerTimes, counterOf } from "./up/scrape.ts";
import { firstSample } from "./up/stream.ts";

const START_TARGET_S = 3;
const P99_TARGET_MS = 10;
const RATE = 500;
const BUNDLE_TARGET_KB = 250;
const GROWTH_TARGET = 0.1;
const WORKLOADS = 50;
const LOOKS = 5;
/** What a dashboard asks for, with the workloads' own pages added once their names are known. */
const PATHS = ["/v1/overview", "/v1/workloads", "/v1/agents", "/v1/decisions?limit=50", "/v1/events?limit=50"];

export const upBench: Bench = {
  title: "the control plane as its users meet it: start, API under load, bundle, memory",
  async run(context): Promise<BenchReport> {
    const machine = describeMachine();
    const absent: string[] = [];
    const figures = [...(await startFigures(context)), ...(await bundleFigures(absent))];
    figures.push(...(await loadFigures(context)), ...(await memoryFigures(context)));
    return { figures, absent, machine: machine() };
  },
};

async function withUp<T>(
  { signal }: BenchContext,
  start: Omit<UpStart, "signal">,
  work: (up: RunningUp) => Promise<T>,
): Promise<T> {
  const up = await startUp({ signal, ...start });
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
  const best = quantile(ascending, 0) / 1_000;
  return [
    {
      id: "up.start",
      what: "from the start of the process to the first live sample on the stream",
      value: round(best),
      unit: "s",
      median: round(quantile(ascending, 0.5) / 1_000),
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
  const loader = startLoadProcess(context.signal);
  try {
    return await figuresUnderLoad(context, loader);
  } finally {
    loader.stop();
  }
}

async function figuresUnderLoad(context: BenchContext, { load }: LoadProcess): Promise<Figure[]> {
  const { quick, signal, log } = context;
  return withUp(context, { workloads: WORKLOADS }, async ({ url }) => {
    await firstSample(url, signal);
    // Until agents train: the first rounds begin after some turns.
    await after(quick ? 3_000 : 15_000, undefined, { signal });
    const { paths, agents } = await askable(url, signal);
    log(`${RATE} requests a second while ${agents} agents run and train`);
    await load({ url, paths, perSecond: RATE, seconds: 2 });
    const before = await scrape(url, signal);
    const { sent, failed, times } = await load({ url, paths, perSecond: RATE, seconds: quick ? 10 : 60 });
    const later = await scrape(url, signal);
    const p99 = quantile(times, 0.99);
    const own = answerTimes(later, { since: before, share: 0.99 });
    const grown = (name: string) => counterOf(later, name) - counterOf(before, name);
    const rounds = grown('coxswain_training_rounds_total{outcome="succeeded"}');
    const turns = grown("coxswain_turn_duration_seconds_count");
    const holds = p99 <= P99_TARGET_MS && failed === 0;
    const what = `99th percentile of the API at ${RATE} requests/s while ${agents} agents run and train`;
    return [
      { id: "up.p99", what, value: round(p99), unit: "ms", target: `at most ${P99_TARGET_MS} ms, none failed`, holds },
      { id: "up.p50", what: "its median", value: round(quantile(times, 0.5)), unit: "ms" },
      {
        id: "up.p99-own",
        what: "99th percentile of what the server itself took from arrival to answer (upper end of the bucket of its histogram)",
        value: round(own),
        unit: "ms",
      },
      { id: "up.failed", what: `requests of ${sent} that were refused or not answered`, value: failed, unit: "" },
      { id: "up.turns", what: "turns of agents meanwhile", value: turns, unit: "" },
      { id: "up.rounds", what: "rounds of training meanwhile", value: rounds, unit: "" },
    ];
  });
}

const scrape = async (url: string, signal: AbortSignal): Promise<string> =>
  (await fetch(new URL("/metrics", url), { signal })).text();

async function askable(url: string, signal: AbortSignal) {
  const response = await fetch(new URL("/v1/overview", url), { signal });
  const { workloads, agents } = (await response.json()) as {
    readonly workloads: readonly { readonly id: string }[];
    readonly agents: readonly { readonly id: string }[];
  };
  const own = workloads.flatMap(({ id }) => [`/v1/workloads/${id}`, `/v1/workloads/${id}/series`]);
  return { paths: [...PATHS, ...own, ...agents.map(({ id }) => `/v1/agents/${id}`)], agents: agents.length };
}

/** Simulated hours before the first look, in which caches, replays and windows fill, and after it. */
async function memoryFigures(context: BenchContext): Promise<Figure[]> {
  const { quick, signal, log } = context;
  const hours = quick ? { warm: 0.5, measured: 1 } : { warm: 6, measured: 24 };
  // Traces come in the wall's time, whatever the speed of the cluster, and their windows are five minutes long.
  const warmSeconds = quick ? 0 : 330;
  return withUp(context, { speed: 3_600, isMemoryWatched: true }, async ({ url, memory }) => {
    const began = await worldTime(url, signal);
    const reach = async (hour: number) => {
      while ((await worldTime(url, signal)) - began < hour * 3_600_000) await after(250, undefined, { signal });
      return lowest(memory);
    };
    log(`${warmSeconds} s until every window is full, then ${hours.measured} simulated hours`);
    await after(warmSeconds * 1_000, undefined, { signal });
    const before = await reach(hours.warm);
    const warmHours = ((await worldTime(url, signal)) - began) / 3_600_000;
    const later = await reach(warmHours + hours.measured);
    const figure = (id: string, what: string, [from, to]: readonly [number, number]): Figure => ({
      id,
      what: `growth of ${what} over ${hours.measured} simulated hours, from ${round(from / 1e6)} MB to ${round(to / 1e6)} MB`,
      value: round(100 * (to / from - 1)),
      unit: "%",
      target: `at most ${100 * GROWTH_TARGET} %`,
      holds: to / from - 1 <= GROWTH_TARGET,
    });
    return [
      figure("up.heap", `what ${later.threads} threads use after a collection`, [before.heapUsed, later.heapUsed]),
      figure("up.resident", "resident memory", [before.resident, later.resident]),
    ];
  });
}

/** A round of training holds a second learner while it lasts: the lowest of some looks in which all threads answered. */
async function lowest(memory: RunningUp["memory"]): Promise<HeapFigures> {
  const looks: HeapFigures[] = [];
  for (let i = 0; i < LOOKS; i++) looks.push(await memory());
  const threads = Math.max(...looks.map((look) => look.threads));
  const whole = looks.filter((look) => look.threads === threads);
  return {
    threads,
    heapUsed: Math.min(...whole.map(({ heapUsed }) => heapUsed)),
    resident: Math.min(...whole.map(({ resident }) => resident)),
  };
}

async function worldTime(url: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(new URL("/v1/overview", url), { signal });
  const { worlds } = (await response.json()) as { readonly worlds: readonly { readonly at: number }[] };
  return worlds[0]?.at ?? 0;
}
