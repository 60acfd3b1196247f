/**
 * What a microservices world is made of; the same options for the fluid and the event rung.
 * Owns: their types and defaults, and the check that a world can be built of them.
 */
import type { Limits, Ms } from "../../base/index.ts";
import { CodedError, failure, seconds, unwrap } from "../../base/index.ts";
import type { MetricsConfig } from "../cluster/metrics/config.ts";
import type { Load } from "../cluster/workloads/index.ts";
import type { WorkSpread } from "../draws.ts";
import { type MicroserviceApplication, parseApplication } from "./applications/index.ts";
import { CLIENT_TIMEOUT, hop, tracing } from "./calibration.ts";
import { firmNodes, type MicroserviceNode, processorClasses } from "./nodes.ts";

export interface TracingOptions {
  /** Share of requests that are traced, decided at the ingress. */
  readonly sampling: number;
  /** CPU per span, ms; standard deviation of the nodes' clocks, ms; share of spans that never arrive. */
  readonly overhead: number;
  readonly skew: number;
  readonly loss: number;
  /** Spans that are kept until somebody takes them; more are dropped and counted. */
  readonly capacity: number;
}

export interface MicroserviceWorldOptions {
  readonly seed: number;
  readonly start?: Ms;
  readonly application: MicroserviceApplication;
  /** Requests of all types per second, by minute; types share it by their weights. */
  readonly load: Load;
  readonly nodes?: readonly MicroserviceNode[];
  /** The rate that default limits are made for; the load's mean when absent. */
  readonly designRate?: number;
  /** By service; 1 where absent. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** By service; the defaults where absent. */
  readonly limits?: Readonly<Record<string, Partial<Limits>>>;
  /** By request type; without an SLO every answer is in time. */
  readonly slos?: readonly Ms[];
  readonly timeout?: Ms;
  readonly tracing?: Partial<TracingOptions>;
  readonly metrics?: Partial<MetricsConfig>;
  /** What closed forms want: no way between containers, another spread of work. */
  readonly hop?: { readonly mean: number; readonly variation: number };
  readonly spread?: WorkSpread;
}

/**
 * FIRM decides every second from the newest counters and spans, so its agents scrape every second; delay, holes and noise
 * as in the cluster world's pipeline, scaled to that. Assumed.
 */
export const microserviceMetrics: MetricsConfig = {
  interval: seconds(1),
  window: seconds(2),
  delay: seconds(0.5),
  sloWindow: seconds(10),
  missing: 0.005,
  noise: 0.02,
};

export const tracingDefaults: TracingOptions = { sampling: 1, ...tracing, capacity: 200_000 };

export type FilledOptions = Required<Omit<MicroserviceWorldOptions, "metrics" | "tracing" | "designRate">> & {
  readonly metrics: MetricsConfig;
  readonly tracing: TracingOptions;
  readonly designRate: number;
};

export function fillOptions(options: MicroserviceWorldOptions): FilledOptions {
  const { application, load } = options;
  unwrap(parseApplication(application));
  const mean = load.perMinute.reduce((sum, rate) => sum + rate, 0) / Math.max(1, load.perMinute.length);
  const filled: FilledOptions = {
    start: 0 as Ms,
    nodes: firmNodes(),
    replicas: {},
    limits: {},
    slos: application.requests.map(() => Number.POSITIVE_INFINITY as Ms),
    timeout: CLIENT_TIMEOUT as Ms,
    hop,
    spread: "profile",
    ...options,
    designRate: options.designRate ?? mean,
    metrics: { ...microserviceMetrics, ...options.metrics },
    tracing: { ...tracingDefaults, ...options.tracing },
  };
  const problem = problemOf(filled);
  if (problem === undefined) return filled;
  throw new CodedError(failure("microservices.options", `the microservices world cannot be built: ${problem}`));
}

function problemOf({
  application,
  load,
  nodes,
  replicas,
  limits,
  slos,
  timeout,
  tracing: traced,
  designRate,
}: FilledOptions) {
  const names = new Set(application.services.map(({ name }) => name));
  if (load.perMinute.length === 0) return `its load ${load.id} is empty: give a rate for a minute`;
  if (!(designRate >= 0 && Number.isFinite(designRate))) return `its design rate is ${designRate}: give 0 or more`;
  if (nodes.length === 0) return "it has no nodes: give at least one";
  for (const { name, processor, capacity } of nodes) {
    if (!Object.hasOwn(processorClasses, processor))
      return `node ${name} has an unknown processor '${processor}': there are ${Object.keys(processorClasses).join(", ")}`;
    if (!capacity.every((amount) => amount > 0)) return `node ${name} has none of a resource: give more than 0 of each`;
  }
  for (const [service, count] of Object.entries(replicas)) {
    if (!names.has(service)) return `it is to have replicas of ${service}, which ${application.name} has not`;
    if (!(Number.isInteger(count) && count >= 1)) return `${service} is to have ${count} replicas: give 1 or more`;
  }
  for (const service of Object.keys(limits))
    if (!names.has(service)) return `it is to have limits of ${service}, which ${application.name} has not`;
  if (slos.length !== application.requests.length)
    return `it has ${slos.length} SLOs for ${application.requests.length} request types: give one each`;
  if (!slos.every((slo) => slo > 0)) return "an SLO is not above 0";
  if (!(timeout > 0)) return `its clients wait ${timeout} ms: give more than 0`;
  const { sampling, loss } = traced;
  if (!(sampling >= 0 && sampling <= 1 && loss >= 0 && loss <= 1)) return "a share of its tracing is not from 0 to 1";
  return undefined;
}
