/**
 * A campaign of anomalies on a simulated world, and the intensity from which one of them alone breaks the SLO.
 * Owns: passing each injection through the guard when it is due, running, and what happened second by second.
 * Not here: campaign files (cli/inject), drawing campaigns (act/faults), controllers (nobody mends anything here).
 */
import {
  breakingIntensity,
  type FaultChange,
  type FaultLimits,
  type FaultRefusal,
  freshFaultState,
  guardInjection,
  type Injection,
} from "../../act/faults/index.ts";
import type { Ms } from "../../base/index.ts";
import { milliseconds, seconds } from "../../base/index.ts";
import type { ApplicationTruth, MicroserviceWorld, RequestTruth } from "./world.ts";

export interface CampaignVerdict {
  /** As it was asked for. */
  readonly wished: Injection;
  /** As it was done; null where the guard refused it. */
  readonly done: Injection | null;
  readonly changed: readonly FaultChange[];
  readonly refused: FaultRefusal | null;
}

export interface CampaignOptions {
  readonly world: MicroserviceWorld;
  readonly injections: readonly Injection[];
  readonly until: Ms;
  readonly limits: FaultLimits;
  /** One second where absent. */
  readonly step?: Ms;
  /** Called after every step with what happened in it. */
  readonly onStep?: (truth: ApplicationTruth) => void;
}

const STEP: Ms = seconds(1);

/** Injections are guarded in the order in which they begin, each when its step comes. */
export function runCampaign(options: CampaignOptions): readonly CampaignVerdict[] {
  const { world, injections, until, limits, step = STEP, onStep } = options;
  const due = [...injections].sort((a, b) => a.start - b.start);
  const verdicts: CampaignVerdict[] = [];
  let state = freshFaultState;
  while (world.now < until) {
    const next = milliseconds(Math.min(until, world.now + step));
    while (due[0] !== undefined && due[0].start < next) {
      const wished = due.shift() as Injection;
      const verdict = guardInjection(wished, { limits, state, now: world.now, knows: (one) => world.hasTarget(one) });
      state = verdict.state;
      if (verdict.injection !== undefined) world.inject(verdict.injection);
      const { changed, refused = null } = verdict;
      verdicts.push({ wished, done: verdict.injection ?? null, changed, refused });
    }
    world.advance(next);
    onStep?.(world.truth());
  }
  for (const wished of due) verdicts.push({ wished, done: null, changed: [], refused: "already-over" });
  return verdicts;
}

/** How requests of one type ended, without how long they took. */
export type CountedRequests = Pick<RequestTruth, "completed" | "timedOut" | "dropped" | "late" | "inFlight">;

/** Requests that did not get an answer in time: late, given up, refused. */
export const missed = ({ late, timedOut, dropped }: CountedRequests): number => late + timedOut + dropped;

/** Of requests that ended, a 99th percentile forgives one in a hundred. */
const FORGIVEN = 0.01;

/**
 * Whether a type of request breaks its SLO: more than one in a hundred miss it, by two standard deviations, so that a
 * quiet world of few requests is not called broken by chance.
 */
export function breaksSlo(truth: CountedRequests): boolean {
  const ended = truth.completed + truth.timedOut + truth.dropped;
  if (ended === 0) return truth.inFlight > 0;
  const slack = 2 * Math.sqrt((FORGIVEN * (1 - FORGIVEN)) / ended);
  return missed(truth) / ended > FORGIVEN + slack;
}

export interface ThresholdRun {
  /** A fresh world, the same every time. */
  readonly makeWorld: () => MicroserviceWorld;
  readonly tolerance?: number;
  /** How long the world runs before, and with, the injection. */
  readonly warmup?: Ms;
  readonly span?: Ms;
}

/** The least intensity at which an injection of this kind into this target alone breaks the SLO of some request type. */
export function thresholdOf(injection: Injection, run: ThresholdRun): number | null {
  const { makeWorld, tolerance = 1 / 16, warmup = seconds(3), span = seconds(12) } = run;
  return breakingIntensity(
    (intensity) => {
      const world = makeWorld();
      const start = milliseconds(world.now + warmup);
      world.advance(start);
      world.truth();
      world.inject({ ...injection, pattern: "constant", intensity, start, duration: milliseconds(2 * span) });
      world.advance(milliseconds(start + span));
      return world.truth().requests.some(breaksSlo);
    },
    { tolerance },
  );
}
