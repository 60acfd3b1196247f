/**
 * Whether the two rungs of the microservices world agree: one condition, run in both.
 * Owns: what a condition is and what is measured in it. Not here: which are compared, and what is claimed of them.
 */
import type { FaultKind } from "../../act/faults/index.ts";
import { milliseconds, seconds } from "../../base/index.ts";
import type { MicroserviceApplication } from "./applications/index.ts";
import type { MicroserviceWorldOptions } from "./spec.ts";
import type { MicroserviceWorld, RequestTruth } from "./world.ts";

export interface MicroserviceCell {
  readonly application: MicroserviceApplication;
  /** Load over the load that limits are made for. */
  readonly load: number;
  /** An anomaly in one container, from 0 (none) to 1. */
  readonly kind: FaultKind;
  readonly service: string;
  readonly contention: number;
}

export interface MicroserviceMeasurement {
  /** By request type, ms; null where hardly anybody is answered. */
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
  /** Share of all requests that was answered in time for the client. */
  readonly answered: number;
}

export interface MeasureCellOptions {
  readonly seed: number;
  /** Requests per second at a load of 1. */
  readonly designRate: number;
  /** Seconds that count, after the first five. */
  readonly span: number;
}

const WARMUP = 5;
/** Below these, a percentile says nothing. */
const ANSWERED_ENOUGH = 0.05;
const REQUESTS_ENOUGH = 50;

export function measureMicroserviceCell(
  makeWorld: (options: MicroserviceWorldOptions) => MicroserviceWorld,
  { application, load, kind, service, contention }: MicroserviceCell,
  { seed, designRate, span }: MeasureCellOptions,
): MicroserviceMeasurement {
  const world = makeWorld({
    seed,
    application,
    designRate,
    tracing: { sampling: 0 },
    load: { id: "steady", level: "high", perMinute: Float64Array.of(load * designRate), dispersion: 1 },
  });
  if (contention > 0)
    world.inject({
      id: "cell",
      kind,
      intensity: contention,
      pattern: "constant",
      target: { on: "instance", service, replica: 0 },
      start: milliseconds(0),
      duration: seconds(WARMUP + span + 1),
    });
  world.advance(seconds(WARMUP));
  world.truth();
  world.advance(seconds(WARMUP + span));
  const { requests } = world.truth();
  const telling = (truth: RequestTruth): boolean =>
    truth.completed >= REQUESTS_ENOUGH && truth.completed >= ANSWERED_ENOUGH * truth.arrived;
  const total = (pick: (truth: RequestTruth) => number): number =>
    requests.reduce((sum, truth) => sum + pick(truth), 0);
  return {
    p50: requests.map((truth) => (telling(truth) ? truth.p50 : null)),
    p99: requests.map((truth) => (telling(truth) ? truth.p99 : null)),
    answered:
      total(({ completed }) => completed) /
      Math.max(
        1,
        total(({ arrived }) => arrived),
      ),
  };
}
