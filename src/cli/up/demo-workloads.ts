/**
 * The workloads of the demonstration cluster: what each does, for whom, under which promise.
 * Owns: the four that everybody sees, and drawing more from the simulator's applications; loads, SLOs, first allocations,
 * all made from one seed. Not here: where they run (demo-cluster.ts, simulated-world.ts), the rules beside them (pod-rules.ts).
 */
import type { Allocation } from "../../act/index.ts";
import type { Ms, Rng } from "../../base/index.ts";
import {
  bytes,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  parseWorkloadId,
  perSecond,
  seconds,
  seededRng,
  unwrap,
} from "../../base/index.ts";
import type { PodBounds } from "../../control/tasks/pods/index.ts";
import type { Slo } from "../../observe/telemetry/index.ts";
import type { Application, Load, LoadShape } from "../../sim/index.ts";
import {
  composeApplication,
  generateApplications,
  generateLoad,
  isolatedLatency,
  meanRate,
  meanWork,
  processors,
  studyLoad,
} from "../../sim/index.ts";
import { bounds, PROCESSOR } from "./demo-cluster.ts";
import type { DemoObjective } from "./demo-profile.ts";
import { demoLife } from "./demo-profile.ts";
import type { Change } from "./releases.ts";
import { changesOf } from "./releases.ts";
import type { Rules, SimulatedWorkload } from "./simulated-workload.ts";

/**
 * HPA and VPA as operators set them who measured nothing: 60 % of the request where latency counts, more where only
 * throughput does, and a VPA that makes no pod smaller than what one request can use.
 */
export const rulesFor: { readonly [kind in Pledge["kind"]]: Rules } = {
  latency: { leastCpu: 1_000, targetPercent: 60, leastReplicas: 1 },
  throughput: { leastCpu: 500, targetPercent: 75, leastReplicas: 1 },
};

interface Pledge {
  readonly kind: "latency" | "throughput";
  /** Times the 99th percentile of a pod that has nothing else to do; or the share of the mean load to be served. */
  readonly times: number;
}

interface Recipe {
  readonly id: string;
  readonly title: string;
  readonly application: Application;
  readonly load: { readonly shape?: LoadShape; readonly level: Load["level"]; readonly mean: number };
  readonly promise: Pledge;
  /** Where they were measured. */
  readonly rules?: Rules;
  /** When its first release comes, after the world's beginning; without it there is none. */
  readonly firstRelease?: Ms;
}

export function composed(
  id: string,
  segments: readonly string[],
  served: { threads: number; timeout: number },
): Application {
  const { threads, timeout } = served;
  return composeApplication(segments, {
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
}

const hours = (n: number): Ms => minutes(60 * n);

/**
 * Their rules are the cheapest that kept the SLO on a day of each one's load under the default seed, with the software that
 * runs when the world begins, found as the studies find theirs (docs/adr/0015-a-careful-opponent.md): a twin that misses
 * its SLO all day would make every agent look good. At least two pods each: a VPA leaves fewer than two as they are, and a
 * release that needs more memory would then keep a twin in a crash loop until the next one. Releases come four hours apart,
 * so that one is always in force.
 */
const four = (): readonly Recipe[] => [
  {
    id: "web-shop",
    title: "Web shop",
    application: composed("web-shop", ["web-rendering", "database-scan"], { threads: 16, timeout: 4_000 }),
    load: { shape: "diurnal", level: "high", mean: 24 },
    promise: { kind: "latency", times: 2 },
    rules: { leastCpu: 700, targetPercent: 53, leastReplicas: 2 },
    firstRelease: hours(7),
  },
  {
    id: "image-resizing",
    title: "Image resizing",
    application: composed("image-resizing", ["object-store", "image-manipulation"], { threads: 8, timeout: 6_000 }),
    load: { shape: "bursty", level: "low", mean: 8 },
    promise: { kind: "latency", times: 3 },
    rules: { leastCpu: 500, targetPercent: 30, leastReplicas: 2 },
    firstRelease: hours(11),
  },
  {
    id: "ml-serving",
    title: "ML serving",
    application: composed("ml-serving", ["text-processing", "ml-inference"], { threads: 8, timeout: 5_000 }),
    load: { shape: "steady", level: "high", mean: 18 },
    promise: { kind: "latency", times: 2.5 },
    rules: { leastCpu: 1_000, targetPercent: 70, leastReplicas: 2 },
    firstRelease: hours(3),
  },
  {
    id: "queue-worker",
    title: "Queue worker",
    application: composed("queue-worker", ["queue-consume", "compression", "object-store"], {
      threads: 12,
      timeout: 8_000,
    }),
    load: { shape: "on-off", level: "high", mean: 14 },
    promise: { kind: "throughput", times: 0.8 },
    rules: { leastCpu: 300, targetPercent: 90, leastReplicas: 2 },
    firstRelease: hours(15),
  },
];

/** One of the simulator's applications, with a load and a promise of its own. Its number makes its name unique. */
function drawn(application: Application, number: number, rng: Rng): Recipe {
  const [segment = "service"] = application.segments;
  const words = segment.replaceAll("-", " ");
  const uniform = (low: number, high: number) => low + (high - low) * rng.next();
  return {
    id: `${segment}-${number}`,
    title: `${words.charAt(0).toUpperCase()}${words.slice(1)} ${number}`,
    application,
    load: { level: rng.int(2) === 0 ? "low" : "high", mean: Math.exp(uniform(Math.log(0.5), Math.log(8))) },
    promise:
      rng.int(5) === 0
        ? { kind: "throughput", times: uniform(0.7, 0.9) }
        : { kind: "latency", times: uniform(1.8, 3.5) },
  };
}

export const LOAD_DAYS = 7;

/** One of the four by its name, for a workload of somebody's own. */
export const demoApplication = (name: string): Application | undefined =>
  four().find(({ id }) => id === name)?.application;

/** The first ones are the same, however many there are. */
export function demoWorkloads(
  seed: number,
  count: number,
  objective: DemoObjective = "cost",
): readonly SimulatedWorkload[] {
  const known = four();
  const applications = generateApplications({ seed, count: Math.max(0, count - known.length) });
  const rng = seededRng(seed).fork("demo");
  const more = applications.map((application, index) => {
    const number = known.length + index + 1;
    return drawn(application, number, rng.fork(String(number)));
  });
  return [...known, ...more]
    .slice(0, count)
    .map((recipe, slot) => workloadOf(recipe, { seed: seed + 1_000 * slot, objective }));
}

function workloadOf(
  recipe: Recipe,
  { seed, objective }: { readonly seed: number; readonly objective: DemoObjective },
): SimulatedWorkload {
  const { id, title, application, load, promise, rules, firstRelease } = recipe;
  const rates = studyLoad(generateLoad({ seed, days: LOAD_DAYS, ...load }), application);
  const changes = firstRelease === undefined ? [] : changesOf({ application, load: rates });
  return {
    id: unwrap(parseWorkloadId(id)),
    title,
    application,
    load: rates,
    slo: sloOf(promise, { application, load: rates, changes }),
    bounds,
    initial: startOf(application, rates, bounds),
    rules: rules ?? rulesFor[promise.kind],
    releases: { first: firstRelease ?? hours(0), changes },
    life: demoLife(rates, objective),
  };
}

/** Times the slowest release's p99 on an idle pod: as much room as the studies leave for the versions to come. */
const ROOM = 1.2;

interface Promised extends Pick<SimulatedWorkload, "application" | "load"> {
  readonly changes: readonly Change[];
}

/**
 * A target that a later release cannot meet even on an idle pod would be broken by everyone, whatever they do: it is set
 * with the slowest one in mind, as the studies set theirs.
 */
function sloOf({ kind, times }: Pledge, { application, load, changes }: Promised): Slo {
  if (kind === "throughput") return { kind, target: perSecond(round2(times * meanRate(load))) };
  const slowest = Math.max(0, ...changes.map((change) => ROOM * idleLatency(change.application)));
  return {
    kind,
    quantile: 0.99,
    target: milliseconds(Math.round(Math.max(times * idleLatency(application), slowest))),
  };
}

/** The p99 of a pod that is slower than 19 of 20: a target that depends on where a pod was put would compare luck. */
function idleLatency(application: Application): number {
  const { speed, sigma } = processors[PROCESSOR];
  return isolatedLatency(application, 0.99, { speed: speed * Math.exp(-1.645 * sigma) });
}

const round2 = (value: number) => Math.round(value * 100) / 100;

/** What a careful person would have asked for: a core per pod, twice the mean need, memory for a full pod. */
export function startOf(application: Application, load: Load, within: PodBounds): Allocation {
  const cores = (meanRate(load) * meanWork(application).cpu) / 1_000;
  const { base, perRequest, cache } = application.memory;
  const memory = base + cache + perRequest * application.threads;
  return {
    replicas: clamped(Math.max(Math.ceil(2 * cores), 2), within.replicas),
    cpu: millicores(clamped(1_000, within.cpu)),
    memory: bytes(clamped(Math.ceil(memory), within.memory)),
  };
}

const clamped = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(Math.max(value, min), max);
