/**
 * Knative's autoscaler over a workload's readings.
 * Owns: filling its one-second windows from readings that come every few seconds.
 * Not here: the algorithm (kpa/kpa.ts). Limits of pods: it knows none, so they stay as they are.
 *
 * The original scrapes concurrency every second and decides every two. A reading has a mean rate instead, so requests
 * per second are the metric here, every second since the last reading counts as that mean, and there is one decision per
 * reading.
 */
import type { Ms } from "../../base/index.ts";
import { milliseconds } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { PodFallback, PodFallbackStep } from "./fallback.ts";
import type { KpaConfig, KpaState } from "./kpa/kpa.ts";
import { freshKpaState, kpaObserve, kpaStep } from "./kpa/kpa.ts";

export interface KpaControllerState {
  readonly kpa: KpaState;
  /** Up to this moment the windows are filled. */
  readonly filledTo: Ms;
}

/** Null before the first reading: how many pods it finds decides how it starts. */
export type KpaFallbackState = KpaControllerState | null;

/** `total` of the config is what one pod can take, in requests per second. */
export function kpaController(config: KpaConfig): PodFallback<KpaFallbackState> {
  return {
    name: "kpa",
    start: () => null,
    step: (state, reading, now) => step(config, state, { reading, now }),
  };
}

interface Tick {
  readonly reading: WorkloadReading;
  readonly now: Ms;
}

function step(config: KpaConfig, before: KpaFallbackState, { reading, now }: Tick): PodFallbackStep<KpaFallbackState> {
  const readyPods = reading.pods.reduce((count, { readyAt }) => count + (readyAt === null ? 0 : 1), 0);
  const started = before ?? { kpa: freshKpaState(config, { now, readyPods }), filledTo: milliseconds(now - 1000) };
  const filled = fill(config, started, { reading, now });
  const decision = kpaStep(config, filled.kpa, { now, readyPods, replicas: reading.spec.replicas });
  return {
    want: { replicas: decision.desired },
    reasons: decision.reasons.map((reason) => ({ by: "kpa", reason })),
    ...(decision.failure && { failure: decision.failure }),
    state: { kpa: decision.state, filledTo: filled.filledTo },
  };
}

function fill(config: KpaConfig, { kpa, filledTo }: KpaControllerState, { reading, now }: Tick): KpaControllerState {
  const { offered } = reading;
  // A clock that went back fills nothing until it has caught up; a missing rate leaves its seconds empty.
  if (offered === null || now <= filledTo) return { kpa, filledTo };
  let state = kpa;
  // Older seconds than the window holds would only be thrown away again.
  const from = Math.max(filledTo + 1000, now - config.stableWindow);
  for (let at = from; at <= now; at += 1000) state = kpaObserve(state, { at: milliseconds(at), value: offered });
  return { kpa: state, filledTo: now };
}
