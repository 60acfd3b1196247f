/** One short run of an application for the insights: measured from when it has settled, with spans where they are asked for. */
import type { Injection } from "../../act/faults/index.ts";
import { type Limits, milliseconds, seconds } from "../../base/index.ts";
import type { Span } from "../../observe/telemetry/index.ts";
import { firmNodes, isolatedSlos, type MicroserviceApplication, microserviceWorld } from "../../sim/index.ts";
import { quantile } from "../statistics/index.ts";

export interface InsightOptions {
  readonly application: MicroserviceApplication;
  readonly seed: number;
  readonly perSecond: number;
  /** Measured. */
  readonly seconds: number;
}

export interface RunOptions extends InsightOptions {
  /** The rate that limits are made for; what comes where absent. */
  readonly designRate?: number;
  /** From the beginning on, for as long as it lasts. */
  readonly anomaly?: Pick<Injection, "kind" | "target" | "intensity" | "pattern">;
  readonly replicas?: Readonly<Record<string, number>>;
  readonly limits?: Readonly<Record<string, Partial<Limits>>>;
  readonly sampling?: number;
}

export interface RunOutcome {
  readonly p50: number;
  readonly p99: number;
  /** Of some types of request together. */
  of(names: readonly string[]): { readonly p50: number; readonly p99: number };
  readonly spans: readonly Span[];
  /** Default limits by service. */
  readonly limits: ReadonlyMap<string, Limits>;
}

const SETTLE = 5;
/** Where memory bandwidth can be limited at all: POWER has no partitions, and twice a limit is nothing there. */
const nodes = firmNodes().filter(({ processor }) => processor === "xeon");

export function insightRun(options: RunOptions): RunOutcome {
  const { application, seed, perSecond, designRate = perSecond, replicas = {}, limits = {}, sampling = 0 } = options;
  const world = microserviceWorld({
    seed,
    application,
    designRate,
    replicas,
    limits,
    slos: isolatedSlos(application),
    nodes,
    load: { id: "steady", level: "high", perMinute: Float64Array.of(perSecond), dispersion: 1 },
    tracing: { sampling, capacity: 2_000_000 },
  });
  const found = new Map(world.readInstances().map((reading) => [reading.service, reading.limits]));
  const length = SETTLE + options.seconds;
  if (options.anomaly !== undefined)
    world.inject({ ...options.anomaly, id: "anomaly", start: milliseconds(0), duration: seconds(length) });
  world.advance(seconds(SETTLE));
  world.truth();
  world.takeSpans();
  world.advance(seconds(length));
  const { requests } = world.truth();
  const all = requests.flatMap(({ latencies }) => [...latencies]);
  return {
    ...percentiles(all),
    of: (names) =>
      percentiles(requests.flatMap(({ request, latencies }) => (names.includes(request) ? [...latencies] : []))),
    spans: world.takeSpans(),
    limits: found,
  };
}

/** Where nobody was answered a request takes as long as clients wait. */
const NOBODY = 5_000;

function percentiles(latencies: readonly number[]) {
  if (latencies.length === 0) return { p50: NOBODY, p99: NOBODY };
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}
