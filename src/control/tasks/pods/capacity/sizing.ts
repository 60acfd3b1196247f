/**
 * The setting with the least CPU and misses, as far as the capacity model knows.
 * Owns: the size for a count of pods, the count. Pure. Not here: the model (knees.ts), what a miss is worth (caution.ts), limits and
 * pace (act's guard).
 *
 * What is minimised is ln(CPU) + worth · risk. So CPU is given as long as one percent more of it saves more misses than it
 * is worth, and where more CPU is no cure it is not given.
 */
import { conditionsOf } from "./conditions.ts";
import type { Points } from "./points.ts";
import { riskAt, sharesOf, withoutLimit } from "./points.ts";

interface Need {
  /** Requests per second, and millicore-seconds that each takes. */
  readonly load: number;
  readonly work: number;
  /** Of a missed step, in steps of CPU. */
  readonly worth: number;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

interface Size {
  readonly size: number;
  readonly loss: number;
}

/** Sizes that are tried first, and how often the steps between them are halved: to 3 %, for closer is no change. */
const TRIED = 9;
const HALVINGS = 4;
/**
 * Another pod has to be better by this share of one, and one fewer by that. Pods that go take work with them; pods that come
 * are cold, and may be on a slower node than those that were there, which no CPU makes up for.
 */
const RELUCTANCE = { more: 0.5, fewer: 0.2 } as const;

interface Asked {
  readonly need: Need;
  readonly bounds: Range;
}

/** Infinite where it is more than `least` whatever the risk is: CPU alone costs as much. */
type Losses = (size: number, least: number) => number;

const lossesOf =
  (points: Points, pods: number, { load, work, worth }: Need): Losses =>
  (size, least) => {
    const cpu = Math.log(pods * size);
    if (cpu >= least) return Number.POSITIVE_INFINITY;
    return cpu + worth * riskAt(points, conditionsOf({ size, pods, load, work }));
  };

/** Of a few sizes all over the range. */
function bestOfAll(lossOf: Losses, { min, max }: Range, tries = TRIED): Size & { readonly step: number } {
  const step = (max / min) ** (1 / (tries - 1));
  let size = min;
  let loss = lossOf(min, Number.POSITIVE_INFINITY);
  for (let i = 1; i < tries; i++) {
    const tried = i === tries - 1 ? max : min * step ** i;
    const one = lossOf(tried, loss);
    // Larger ones cost even more.
    if (one === Number.POSITIVE_INFINITY) break;
    if (one >= loss) continue;
    size = tried;
    loss = one;
  }
  return { size, loss, step };
}

export function bestSize(points: Points, pods: number, { need, bounds }: Asked): Size {
  const lossOf = lossesOf(points, pods, need);
  let { size, loss, step } = bestOfAll(lossOf, bounds);
  for (let i = 0; i < HALVINGS; i++) {
    step = Math.sqrt(step);
    const middle = size;
    const [smaller, larger] = [Math.max(middle / step, bounds.min), Math.min(middle * step, bounds.max)];
    const ofSmaller = lossOf(smaller, loss);
    if (ofSmaller < loss) [size, loss] = [smaller, ofSmaller];
    const ofLarger = lossOf(larger, loss);
    if (ofLarger < loss) [size, loss] = [larger, ofLarger];
  }
  return { size, loss };
}

/** Sizes between what the usual minute needs and the most that bursts get: 3 % apart. */
const INSURED = { most: 1.3, tries: 9 } as const;

/**
 * The size for minutes with more than usual, too. They get at most three tenths more than the usual minute needs: where that is
 * no cure, what was seen has another cause, and more CPU is none either.
 */
export function insuredSize(points: Points, pods: number, asked: Asked): Size {
  const { each, noise } = points;
  const { size: min } = bestSize({ each, noise }, pods, asked);
  const max = Math.min(INSURED.most * min, asked.bounds.max);
  return bestOfAll(lossesOf(points, pods, asked.need), { min, max }, INSURED.tries);
}

/** How likely it has to be that pods have no limit of their own, for fewer of them to be tried. */
const CHANCE = 0.25;

/**
 * One fewer or half, one more or twice as many. Whether pods have a limit beside their CPU is learned only by having fewer of
 * them, so one fewer is also tried where there may be none; whoever asks waits longer after each time that it failed.
 */
export function bestCount(points: Points, now: number, asked: Asked & { readonly pods: Range }): number {
  const { pods } = asked;
  const lossOf = (count: number, by = points): number => bestOfAll(lossesOf(by, count, asked.need), asked.bounds).loss;
  const start = Math.min(Math.max(now, pods.min), pods.max);
  const least = RELUCTANCE.fewer / start;
  let count = start;
  let loss = lossOf(start);
  for (const other of new Set([Math.ceil(start / 2), start - 1, start + 1, 2 * start])) {
    if (other < pods.min || other > pods.max || other === start) continue;
    const one = lossOf(other) + (other > start ? RELUCTANCE.more : RELUCTANCE.fewer) / start;
    if (one < loss) [count, loss] = [other, one];
  }
  if (count !== start || start === pods.min) return count;
  const free = withoutLimit(points);
  const isLikely = sharesOf(free) >= CHANCE * sharesOf(points);
  return isLikely && lossOf(start - 1, free) < lossOf(start, free) - least ? start - 1 : start;
}
