/**
 * The four workloads of the demonstration cluster: what each does, for whom, under which promise.
 * Owns: applications, loads, SLOs, first allocations and the rules' settings, all made from one seed.
 * Not here: the worlds they run in (worlds.ts), their agents (demo-agent.ts).
 */
import type { Allocation, GuardLimits } from "../../act/index.ts";
import { parseGuardLimits } from "../../act/index.ts";
import type { Ms, WorkloadId } from "../../base/index.ts";
import {
  bytes,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  parseWorkloadId,
  perSecond,
  ratio,
  seconds,
  unwrap,
} from "../../base/index.ts";
import type { Fallback, HpaVpaControllerState, WarmHistory } from "../../control/fallbacks/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../control/fallbacks/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import type { Application, Load, LoadShape, NodeSpec } from "../../sim/index.ts";
import {
  composeApplication,
  generateLoad,
  isolatedLatency,
  meanRate,
  meanWork,
  processors,
  rateAt,
  studyLoad,
} from "../../sim/index.ts";

export interface DemoWorkload {
  readonly id: WorkloadId;
  readonly title: string;
  readonly application: Application;
  readonly load: Load;
  readonly slo: Slo;
  readonly initial: Allocation;
  readonly rules: Rules;
}

/** HPA and VPA as a careful operator sets them. */
export interface Rules {
  /** The VPA's minAllowed CPU, in millicores. */
  readonly leastCpu: number;
  /** The HPA's target, in percent of the request. */
  readonly targetPercent: number;
  readonly leastReplicas: number;
}

export const PROCESSOR = "xeon-e5";

export const bounds: GuardLimits["bounds"] = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};

/** As wide as the steps of HPA and VPA, which bring rules of their own: the guard is not to decide who does better. */
export const guardLimits: GuardLimits = unwrap(
  parseGuardLimits({
    bounds,
    step: {
      replicas: { absolute: bounds.replicas.max, relative: ratio(10) },
      cpu: { absolute: bounds.cpu.max, relative: ratio(10) },
      memory: { absolute: bounds.memory.max, relative: ratio(10) },
    },
    cooldown: {
      replicas: { up: seconds(0), down: seconds(0) },
      cpu: { up: seconds(0), down: seconds(0) },
      memory: { up: seconds(0), down: seconds(0) },
    },
    disruption: { replicas: 1_000, window: minutes(10) },
  }),
);

/** Room for all four at their largest, and for the loss of a node. */
export const nodes: readonly NodeSpec[] = Array.from({ length: 16 }, (_, i) => ({
  name: `node-${i}`,
  cpu: millicores(16_000),
  memory: mebibytes(64 * 1_024),
  processor: PROCESSOR,
}));

interface Recipe {
  readonly id: string;
  readonly title: string;
  readonly segments: readonly string[];
  readonly threads: number;
  readonly timeout: number;
  readonly load: { readonly shape: LoadShape; readonly level: Load["level"]; readonly mean: number };
  /** Times the 99th percentile of a pod that has nothing else to do; or the share of the mean load to be served. */
  readonly promise: { readonly kind: "latency" | "throughput"; readonly times: number };
  readonly rules: Rules;
}

/**
 * The rules' settings are what operators run: 60 % of the request where latency counts, more where only throughput does,
 * and a VPA that makes no pod smaller than what one request can use. The studies measure them per workload instead.
 */
const recipes: readonly Recipe[] = [
  {
    id: "web-shop",
    title: "Web shop",
    segments: ["web-rendering", "database-scan"],
    threads: 16,
    timeout: 4_000,
    load: { shape: "diurnal", level: "high", mean: 24 },
    promise: { kind: "latency", times: 2 },
    rules: { leastCpu: 1_000, targetPercent: 60, leastReplicas: 1 },
  },
  {
    id: "image-resizing",
    title: "Image resizing",
    segments: ["object-store", "image-manipulation"],
    threads: 8,
    timeout: 6_000,
    load: { shape: "bursty", level: "low", mean: 8 },
    promise: { kind: "latency", times: 3 },
    rules: { leastCpu: 1_000, targetPercent: 60, leastReplicas: 1 },
  },
  {
    id: "ml-serving",
    title: "ML serving",
    segments: ["text-processing", "ml-inference"],
    threads: 8,
    timeout: 5_000,
    load: { shape: "steady", level: "high", mean: 18 },
    promise: { kind: "latency", times: 2.5 },
    rules: { leastCpu: 1_000, targetPercent: 60, leastReplicas: 1 },
  },
  {
    id: "queue-worker",
    title: "Queue worker",
    segments: ["queue-consume", "compression", "object-store"],
    threads: 12,
    timeout: 8_000,
    load: { shape: "on-off", level: "high", mean: 14 },
    promise: { kind: "throughput", times: 0.8 },
    rules: { leastCpu: 500, targetPercent: 75, leastReplicas: 1 },
  },
];

const LOAD_DAYS = 7;

export function demoWorkloads(seed: number): readonly DemoWorkload[] {
  return recipes.map((recipe, slot) => workloadOf(recipe, seed + 1_000 * slot));
}

function workloadOf({ id, title, segments, threads, timeout, load, promise, rules }: Recipe, seed: number) {
  const application = composeApplication(segments, {
    id,
    sigma: 0.25,
    threads,
    queue: 4 * threads,
    timeout: milliseconds(timeout),
    retries: 1,
    startup: { mean: seconds(8), sigma: 0.3 },
    warmup: { factor: 1.5, span: seconds(30) },
    runtime: mebibytes(80),
  });
  const rates = studyLoad(generateLoad({ seed, days: LOAD_DAYS, ...load }), application);
  return {
    id: unwrap(parseWorkloadId(id)),
    title,
    application,
    load: rates,
    slo: sloOf(application, rates, promise),
    initial: startOf(application, rates),
    rules,
  };
}

function sloOf(application: Application, load: Load, { kind, times }: Recipe["promise"]): Slo {
  if (kind === "throughput") return { kind, target: perSecond(round2(times * meanRate(load))) };
  const { speed, sigma } = processors[PROCESSOR];
  // Of a pod that is slower than 19 of 20: a target that depends on where a pod was put would compare luck.
  const p99 = isolatedLatency(application, 0.99, { speed: speed * Math.exp(-1.645 * sigma) });
  return { kind, percentile: 0.99, target: milliseconds(Math.round(times * p99)) };
}

const round2 = (value: number) => Math.round(value * 100) / 100;

/** What a careful person would have asked for: a core per pod, twice the mean need, memory for a full pod. */
function startOf(application: Application, load: Load): Allocation {
  const cores = (meanRate(load) * meanWork(application).cpu) / 1_000;
  const { base, perRequest, cache } = application.memory;
  const memory = base + cache + perRequest * application.threads;
  return {
    replicas: Math.min(Math.max(Math.ceil(2 * cores), 2), bounds.replicas.max),
    cpu: millicores(1_000),
    memory: bytes(Math.min(Math.max(Math.ceil(memory), bounds.memory.min), bounds.memory.max)),
  };
}

export function fallbackOf({ initial, rules }: DemoWorkload): Fallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: rules.leastReplicas,
      maxReplicas: bounds.replicas.max,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: rules.targetPercent } }],
    }),
  );
  return hpaVpaController({
    hpa,
    template: { cpu: initial.cpu, memory: initial.memory },
    bounds: { cpu: { min: millicores(rules.leastCpu), max: bounds.cpu.max }, memory: bounds.memory },
  });
}

const MINUTE = 60_000;

/** What the pods used over the last eight days: a VPA that knows nothing of the past is no fair opponent. */
export function historyOf({ application, load, initial }: DemoWorkload, until: Ms): WarmHistory {
  const { cpu, wait } = meanWork(application);
  const perRequest = cpu / processors[PROCESSOR].speed;
  const { base, cache, perRequest: perRequestMemory } = application.memory;
  const day = Array.from({ length: 1_440 }, (_, minute) => rateAt(load, until + minute * MINUTE) / initial.replicas);
  return {
    cpu: day.map((rate) => millicores(rate * perRequest)),
    memory: day.map((rate) => bytes(base + cache + ((rate * (perRequest + wait)) / 1_000) * perRequestMemory)),
    pods: initial.replicas,
    days: 8,
    until,
  };
}
