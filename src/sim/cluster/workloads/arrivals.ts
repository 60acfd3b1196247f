/**
 * When requests come.
 * Owns: drawing arrivals from a load. Not here: what a request does (request.ts), which loads there are (load-*.ts).
 *
 * Arrivals depend on the load and the stream only, so every controller that is compared meets the same ones.
 */
import type { Rng } from "../../../base/index.ts";
import { sampleGamma } from "./gamma.ts";
import { type Load, rateAt } from "./load.ts";

/** The span over which a load's dispersion is stated; a divisor of the minute. */
export const DISPERSION_SPAN = 15_000;

export interface Arrivals {
  /** The moment (ms) of the next arrival, never before the last one; Infinity when none will ever come. */
  next(): number;
}

/**
 * A Poisson process whose rate is that of the minute times a factor drawn anew for every 15 s. A gamma factor of mean 1
 * and shape k makes the counts of 15 s negative binomial with variance/mean = 1 + mean/k, so k = mean / (dispersion − 1)
 * gives exactly the load's dispersion, whatever the rate. Loads more regular than Poisson are drawn as Poisson.
 */
export function arrivals(load: Load, rng: Rng, from = 0): Arrivals {
  const drawRate = (at: number): number => {
    const perMs = rateAt(load, at) / 1_000;
    const extra = load.dispersion - 1;
    if (extra <= 0 || perMs === 0) return perMs;
    const shape = (perMs * DISPERSION_SPAN) / extra;
    return (perMs * sampleGamma(rng, shape)) / shape;
  };
  const isSilent = load.perMinute.every((rate) => rate === 0);
  return isSilent ? silence : steppedArrivals({ span: DISPERSION_SPAN, rateAt: drawRate }, rng, from);
}

const silence: Arrivals = { next: () => Number.POSITIVE_INFINITY };

export interface SteppedRate {
  /** How long a rate holds, ms; spans begin at multiples of it. */
  readonly span: number;
  /** Per millisecond, in the span that begins or is under way at a moment; asked once for each, in order. */
  readonly rateAt: (at: number) => number;
}

/** A Poisson process whose rate changes from span to span; some span has a rate above 0, sooner or later. */
export function steppedArrivals(rate: SteppedRate, rng: Rng, from = 0): Arrivals {
  return new SteppedPoisson(rate, rng, from);
}

class SteppedPoisson implements Arrivals {
  readonly #rng: Rng;
  readonly #stepped: SteppedRate;
  #now: number;
  #spanEnds: number;
  /** Per millisecond, in the current span. */
  #rate: number;

  constructor(stepped: SteppedRate, rng: Rng, from: number) {
    this.#rng = rng;
    this.#stepped = stepped;
    this.#now = from;
    this.#spanEnds = (Math.floor(from / stepped.span) + 1) * stepped.span;
    this.#rate = stepped.rateAt(from);
  }

  next(): number {
    for (;;) {
      // Without memory: what is left of a gap at the end of a span is drawn anew at the next span's rate.
      const gap = this.#rate > 0 ? -Math.log(1 - this.#rng.next()) / this.#rate : Number.POSITIVE_INFINITY;
      if (this.#now + gap < this.#spanEnds) {
        this.#now += gap;
        return this.#now;
      }
      this.#now = this.#spanEnds;
      this.#spanEnds += this.#stepped.span;
      this.#rate = this.#stepped.rateAt(this.#now);
    }
  }
}
