/**
 * The cheapest load-indexed prior that keeps the error budget in a calibrated model, over the loads that were recorded.
 * Owns: what is tried, in which order, and the estimate. Pure. Not here: the form (prior.ts), the world (fluid.ts).
 *
 * It is chosen on the earlier part of the records and judged on the later one, which had no say in the choice: so what is said of
 * it is no better than it deserves.
 */
import type { Course, FluidController, FluidOptions, FluidOutcome } from "./fluid.ts";
import { STEPS, simulate } from "./fluid.ts";
import type { LookBack, Prior } from "./prior.ts";
import { AROUND, IDLE, lookBacks, NEAR, sizeOf } from "./prior.ts";

/** Steps of the records: those that a choice is made on, and those that judge it. */
export interface Parts {
  readonly from: number;
  readonly cut: number;
  readonly to: number;
}

/** The first hour is not counted: everybody is new in it. */
const WARM = 60 * STEPS;
/** The newest part judges. */
const JUDGED = 0.3;

export const partsOf = ({ steps }: Course): Parts => ({
  from: Math.min(WARM, steps),
  cut: Math.floor(steps - JUDGED * Math.max(0, steps - WARM)),
  to: steps,
});

export interface SearchOptions extends Omit<FluidOptions, "from" | "to" | "mostMissed"> {
  /** The share of steps that may miss the SLO. */
  readonly allowed: number;
  /** Nothing smaller than this, in millicores: the model was never shown such pods. */
  readonly leastSize: number;
}

export interface Found {
  readonly prior: Prior;
  /** On the part that it was not chosen on. */
  readonly judged: FluidOutcome;
  /** How many were tried, and steps that this took. */
  readonly tried: number;
}

/** What is kept free: a share of what is used, or so many millicores. */
const SLACKS: readonly Pick<Prior, "utilisation" | "spare">[] = [
  ...[0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2].map((utilisation) => ({ utilisation, spare: 0 })),
  ...[50, 100, 200, 300, 450, 600, 800, 1_100, 1_500].map((spare) => ({ utilisation: 1, spare })),
];
const PODS = [1, 2, 3, 4, 6, 8, 12] as const;
const SIZES = 20;
const DAY_STEPS = 1_440 * STEPS;

/** undefined where none keeps the budget. */
export function searchPrior(course: Course, options: SearchOptions): Found | undefined {
  const { bounds, allowed, leastSize } = options;
  const parts = partsOf(course);
  const mostMissed = Math.floor(allowed * (parts.cut - parts.from));
  const ratio = bounds.size.max / Math.max(bounds.size.min, leastSize);
  const sizes = Array.from(
    { length: SIZES },
    (_, i) => Math.max(bounds.size.min, leastSize) * ratio ** (i / (SIZES - 1)),
  );
  const least = cheapestOf(course, parts, options);
  let best: { readonly prior: Prior; readonly cost: number } | undefined;
  let tried = 0;
  for (const yesterday of course.steps > DAY_STEPS ? [false, true] : [false])
    for (const lookBack of lookBacks) {
      const expected = expectedLoads(course, { lookBack, yesterday });
      for (const pods of PODS) {
        if (pods < bounds.pods.min || pods > bounds.pods.max) continue;
        for (const slack of SLACKS) {
          const priorOf = (i: number): Prior => ({
            pods,
            size: Math.round(sizes[i] as number),
            ...slack,
            lookBack,
            yesterday,
          });
          const costOf = (i: number): number => {
            const prior = priorOf(i);
            if (best !== undefined && least(prior) >= best.cost) return Number.POSITIVE_INFINITY;
            tried += 1;
            const controller = priorController(prior, { course, expected, most: bounds.size.max });
            return simulate(course, controller, { ...options, from: parts.from, to: parts.cut, mostMissed }).cost;
          };
          // Larger pods miss less: the smallest that misses little enough lies between two of them.
          let [low, high, cost] = [-1, SIZES, Number.POSITIVE_INFINITY];
          while (high - low > 1) {
            const middle = (low + high) >> 1;
            const one = costOf(middle);
            if (one === Number.POSITIVE_INFINITY && !(best !== undefined && least(priorOf(middle)) >= best.cost))
              low = middle;
            else [high, cost] = [middle, one];
          }
          if (high < SIZES && cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { prior: priorOf(high), cost };
        }
      }
    }
  if (best === undefined) return undefined;
  const { prior } = best;
  return { prior, judged: judgePrior(course, prior, options), tried };
}

/** What it would cost and miss in the part of the records that judges. */
export function judgePrior(course: Course, prior: Prior, options: SearchOptions): FluidOutcome {
  const expected = expectedLoads(course, prior);
  const controller = priorController(prior, { course, expected, most: options.bounds.size.max });
  const { cut, to } = partsOf(course);
  return simulate(course, controller, { ...options, from: cut, to });
}

/** What its pods cost at least, whatever comes. */
function cheapestOf({ model }: Course, { from, cut }: Parts, { prices }: SearchOptions): (prior: Prior) => number {
  const memory = (prices.gib * Math.max(64, 1.4 * model.memory.most)) / 1_024;
  return ({ pods, size, yesterday }) =>
    (((cut - from) * 15) / 3_600) * pods * ((prices.core * size * (yesterday ? IDLE : 1)) / 1_000 + memory);
}

/** Requests per second that a prior reckons with, by step; negative where silence is relied on. */
export function expectedLoads(
  { measured, load, steps }: Pick<Course, "measured" | "load" | "steps">,
  { lookBack, yesterday }: { readonly lookBack: LookBack; readonly yesterday: boolean },
): Float64Array {
  const expected = new Float64Array(steps);
  // The most of a window that slides: places of ever smaller values.
  const window = new Int32Array(steps);
  let [head, tail] = [0, 0];
  for (let i = 0; i < steps; i++) {
    const value = measured[i] as number;
    while (tail > head && (measured[window[tail - 1] as number] as number) <= value) tail -= 1;
    window[tail] = i;
    tail += 1;
    const first = (Math.floor(i / STEPS) - lookBack) * STEPS;
    while ((window[head] as number) < first) head += 1;
    expected[i] = measured[window[head] as number] as number;
    const ago = (Math.floor(i / STEPS) - AROUND.before) * STEPS - DAY_STEPS;
    if (!yesterday || ago < 0) continue;
    let most = 0;
    for (let at = ago; at < ago + (AROUND.before + AROUND.after + 1) * STEPS; at++)
      most = Math.max(most, load[at] as number);
    expected[i] = most === 0 && expected[i] === 0 ? SILENCE : Math.max(most, expected[i] as number);
  }
  return expected;
}
const SILENCE = -1;

interface Driven {
  readonly course: Course;
  readonly expected: Float64Array;
  readonly most: number;
}

export function priorController(prior: Prior, { course, expected, most }: Driven): FluidController {
  const { work } = course.model;
  const perPod = work / prior.utilisation / prior.pods;
  return (view) => {
    const load = expected[view.step] as number;
    let pods = prior.pods;
    let size = Math.max(prior.size, load > 0 ? load * perPod + prior.spare : 0);
    if (size > most) ({ pods, size } = sizeOf(prior, load * work, most));
    const wanted = load < 0 ? IDLE * size : size;
    view.wantPods = pods;
    view.wantSize = Math.abs(wanted - view.size) <= NEAR * view.size ? view.size : wanted;
  };
}
