/**
 * Campaigns drawn at random, as the dissertation draws them (3.3.1, 3.3.2).
 * Owns: the two ways. Not here: reading campaigns from files (cli/inject), doing them.
 */
import type { FaultKind, Ms, Rng } from "../../base/index.ts";
import { faultKinds, seconds } from "../../base/index.ts";
import type { FaultTarget, Injection } from "./injection.ts";

/** FIRM 3.3.1: gaps between injections are exponential with this rate per second. */
export const USUAL_RATE = 0.33;
/** FIRM 3.3.2: with several anomalies at once, intensities are drawn anew every so often. */
export const USUAL_WINDOW: Ms = seconds(10);

interface Range {
  readonly min: number;
  readonly max: number;
}

interface Drawing {
  readonly from: Ms;
  readonly until: Ms;
  readonly kinds?: readonly FaultKind[];
  /** Containers and nodes; load anomalies take `requests`. */
  readonly targets: readonly FaultTarget[];
  readonly requests?: readonly FaultTarget[];
  readonly intensity?: Range;
}

export interface RandomOptions extends Drawing {
  readonly perSecond?: number;
  readonly duration?: { readonly min: Ms; readonly max: Ms };
}

const everyRequest: readonly FaultTarget[] = [{ on: "requests", request: "all" }];
const anyIntensity: Range = { min: 0, max: 1 };

/** One after another and across each other: exponential gaps; kind, target, intensity and duration uniform. */
export function randomCampaign(rng: Rng, options: RandomOptions): readonly Injection[] {
  const { from, until, perSecond = USUAL_RATE, duration = { min: seconds(5), max: seconds(30) } } = options;
  const injections: Injection[] = [];
  const gap = (): number => (-Math.log(1 - rng.next()) / perSecond) * 1_000;
  for (let at = from + gap(); at < until; at += gap()) {
    const kind = pick(rng, options.kinds ?? faultKinds);
    const length = duration.min + (duration.max - duration.min) * rng.next();
    injections.push({
      id: `random-${injections.length}`,
      kind,
      target: targetFor(rng, kind, options),
      start: at as Ms,
      duration: Math.min(length, until - at) as Ms,
      pattern: "constant",
      intensity: within(rng, options.intensity ?? anyIntensity),
    });
  }
  return injections;
}

export interface WindowsOptions extends Drawing {
  readonly window?: Ms;
}

/** Several at once: in each window one injection of every kind, each with its own target and intensity. */
export function windowedCampaign(rng: Rng, options: WindowsOptions): readonly Injection[] {
  const { from, until, window = USUAL_WINDOW } = options;
  const injections: Injection[] = [];
  for (let at: number = from; at < until; at += window) {
    for (const kind of options.kinds ?? faultKinds) {
      injections.push({
        id: `window-${injections.length}`,
        kind,
        target: targetFor(rng, kind, options),
        start: at as Ms,
        duration: Math.min(window, until - at) as Ms,
        pattern: "constant",
        intensity: within(rng, options.intensity ?? anyIntensity),
      });
    }
  }
  return injections;
}

const targetFor = (rng: Rng, kind: FaultKind, { targets, requests = everyRequest }: Drawing): FaultTarget =>
  pick(rng, kind === "workload-variation" ? requests : targets);

const within = (rng: Rng, { min, max }: Range): number => min + (max - min) * rng.next();
const pick = <T>(rng: Rng, from: readonly T[]): T => from[rng.int(from.length)] as T;
