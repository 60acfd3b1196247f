/**
 * How the number of requests in a pod follows its load.
 * Owns: the pointwise stationary fluid flow approximation (Wang, Tipper and Banerjee, IEEE INFOCOM 1996): at any moment the pod
 * behaves as in the steady state that has as many requests in it, and the number changes by what comes less what that
 * state lets through. Between two load levels this has a closed form, so a step costs a few exponentials.
 * Not here: the steady states (response-table.ts), what happens to the requests (fluid-flow.ts).
 */
import { LOAD_LEVELS } from "./calibration.ts";

/** Steady states by load level; both answers for one pod. */
export interface LoadCurve {
  inside(level: number): number;
  /** Requests taken in, as a share of the nominal capacity. */
  admitted(level: number): number;
}

export interface BacklogStep {
  /** Requests in the pod at the beginning. */
  readonly inside: number;
  /** Arrivals and nominal capacity of the pod, per millisecond. */
  readonly rate: number;
  readonly capacity: number;
  /** Milliseconds. */
  readonly span: number;
}

/** Stretches of a step in which the pod is near one steady state. Reused. */
export class Course {
  count = 0;
  /** The level below, how far from it to the next (0 to 1), and for which share of the step. */
  readonly level = new Int32Array(MOST_STRETCHES);
  readonly part = new Float64Array(MOST_STRETCHES);
  readonly weight = new Float64Array(MOST_STRETCHES);
  /** Requests in the pod at the end. */
  inside = 0;
  /** See `describe`. */
  readonly way = { at: 0, aim: 0, pause: 0 };
  /** Share of the step below which a stretch is not looked at by itself. */
  #shortest = 0;

  /** Of a step of so many milliseconds. */
  begin(span: number): void {
    this.count = 0;
    this.#shortest = SHORTEST / span;
  }

  add(level: number, part: number, weight: number): void {
    const last = this.count - 1;
    const isRoom = this.count < MOST_STRETCHES;
    if (last >= 0 && (!isRoom || this.weight[last]! < this.#shortest)) {
      this.#join(last, level + part, weight);
      return;
    }
    const at = this.count++;
    this.level[at] = level;
    this.part[at] = Math.min(Math.max(part, 0), 1);
    this.weight[at] = weight;
  }

  end(inside: number): void {
    this.inside = inside;
    const last = this.count - 1;
    if (last < 1 || this.weight[last]! >= this.#shortest) return;
    // Nothing came after it to join it: it counts with the one before it.
    this.weight[last - 1]! += this.weight[last]!;
    this.count = last;
  }

  /**
   * A stretch of `share` of the step on its way, which is written down before, from `at` towards `aim` (both in parts of
   * the way between two levels) with a time constant of `pause` steps.
   */
  describe(level: number, share: number): void {
    const { at, aim, pause } = this.way;
    const gap = aim - at;
    // It is where it goes at once.
    if (share > 20 * pause && Math.abs(gap) >= RESTING) {
      this.add(level, aim, share);
      return;
    }
    const moved = Math.abs(gap) * (1 - Math.exp(-share / pause));
    // It rests where it is, or is so slow, or so soon over, that the middle stands for all of it.
    if (moved <= WIDE || share <= this.#shortest) {
      this.add(level, moved < RESTING ? at : aim - gap * Math.exp(-share / 2 / pause), share);
      return;
    }
    // It moves most at first and then rests, so where it rests long, most of the stretch is the rest.
    const moving = Math.min(share, 3 * pause);
    for (let third = 0; third < 3; third++) {
      this.add(level, aim - gap * Math.exp((-(third + 0.5) * moving) / 3 / pause), moving / 3);
    }
    if (share > moving) this.add(level, aim - gap * Math.exp(-(moving + share) / 2 / pause), share - moving);
  }

  /** Two stretches become one, where they are on average. */
  #join(at: number, place: number, weight: number): void {
    const before = this.weight[at]!;
    const both = before + weight;
    const mean = both > 0 ? (before * (this.level[at]! + this.part[at]!) + weight * place) / both : place;
    const level = Math.min(Math.max(Math.floor(mean), 0), TOP);
    this.level[at] = level;
    this.part[at] = Math.min(Math.max(mean - level, 0), 1);
    this.weight[at] = both;
  }
}

export const MOST_STRETCHES = 12;
/** Milliseconds below which a stretch is not looked at by itself: half a percent of the minute that latencies are read over. */
const SHORTEST = 300;
/** A difference in backlog that so small a share of the step's requests makes up is gone at once. */
const AT_ONCE = 0.01;
/** A stretch that covers more of the way between two levels is cut in three. */
const WIDE = 0.25;
/** And one that covers less is no way at all. */
const RESTING = 1e-3;
const TOP = LOAD_LEVELS.length - 2;

export function followLoad(
  curve: LoadCurve,
  { inside, rate: asked, capacity, span }: BacklogStep,
  course: Course,
): void {
  course.begin(span);
  const rate = Math.min(asked, capacity * LOAD_LEVELS[TOP + 1]!);
  let level = 0;
  while (level < TOP && capacity * LOAD_LEVELS[level + 1]! < rate) level++;
  let low = curve.inside(level);
  let high = above(low, curve.inside(level + 1));
  const slack = AT_ONCE * rate * span;
  while (inside > high + slack && level < TOP) {
    level++;
    low = high;
    high = above(low, curve.inside(level + 1));
  }
  while (inside < low - slack && level > 0) {
    level--;
    high = low;
    low = Math.min(curve.inside(level), high * 0.9999);
  }
  let from = capacity * LOAD_LEVELS[level]!;
  let to = capacity * LOAD_LEVELS[level + 1]!;
  let at = from + Math.min(Math.max((inside - low) / (high - low), 0), 1) * (to - from);
  for (let left = span; ; ) {
    const gap = rate - at;
    const slope = (high - low) / (to - from);
    const pause = (slowness(level) * slope) / admittedShare(curve, gap > 0 || level === 0 ? level + 1 : level);
    const edge = gap > 0 ? to : from;
    const isWithin = gap > 0 ? rate <= edge : rate >= edge;
    const reach = isWithin ? left : pause * Math.log(gap / (rate - edge));
    const time = Math.min(reach, left);
    const { way } = course;
    way.at = (at - from) / (to - from);
    way.aim = (rate - from) / (to - from);
    way.pause = pause / span;
    course.describe(level, time / span);
    left -= time;
    if (isWithin || left <= 1e-9 * span) {
      course.end(low + slope * (rate - gap * Math.exp(-time / pause) - from));
      return;
    }
    const next = gap > 0 ? level + 1 : level - 1;
    if (next < 0 || next > TOP) {
      course.add(level, gap > 0 ? 1 : 0, left / span);
      course.end(gap > 0 ? high : low);
      return;
    }
    if (gap > 0) {
      low = high;
      high = above(low, curve.inside(next + 1));
    } else {
      high = low;
      low = Math.min(curve.inside(next), high * 0.9999);
    }
    level = next;
    at = edge;
    from = capacity * LOAD_LEVELS[level]!;
    to = capacity * LOAD_LEVELS[level + 1]!;
  }
}

/** Cells have noise; a curve that falls where it must rise would have no inverse. */
const above = (low: number, high: number): number => Math.max(high, low * 1.0001 + 1e-9);

/**
 * The approximation settles too fast where the backlog is chance and not surplus: for M/M/1 its time constant is
 * 1/(μ(1−ρ)²), the true relaxation time 1/(μ(1−√ρ)²): 2.9 times as long at half load, 4 times in the limit.
 */
const slowness = (level: number): number => ((LOAD_LEVELS[level + 1] as number) < 1 ? RELAXATION : 1);
const RELAXATION = 3;

/** Of the load at a level above zero. */
const admittedShare = (curve: LoadCurve, level: number): number =>
  Math.max(1e-3, Math.min(1, curve.admitted(level) / (LOAD_LEVELS[level] as number)));
