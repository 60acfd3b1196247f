/**
 * How many requests come, slot by slot.
 * Owns: drawing counts with the load's rate and dispersion. Not here: when within a slot each comes (the fluid rung does
 * not ask), drawing arrivals one by one (workloads/arrivals.ts, of which this is the distribution of counts).
 *
 * Drawn in order of slots from a stream of its own, whatever a controller does and however a slot is cut into steps.
 */
import type { Rng } from "../../../base/index.ts";
import { sampleGamma } from "../workloads/gamma.ts";
import { DISPERSION_SPAN, type Load, rateAt } from "../workloads/index.ts";

export class SlotArrivals {
  readonly #load: Load;
  readonly #rng: Rng;
  /** When the current slot ends, in absolute milliseconds. */
  ends: number;
  /** Arrivals per millisecond in the current slot. */
  rate = 0;
  /** A standard normal for whoever looks at the slot's requests: the luck of a sample of them. */
  luck = 0;

  constructor(load: Load, rng: Rng, from: number) {
    this.#load = load;
    this.#rng = rng;
    this.ends = (Math.floor(from / DISPERSION_SPAN) + 1) * DISPERSION_SPAN;
    this.#draw(from);
  }

  next(): void {
    const from = this.ends;
    this.ends += DISPERSION_SPAN;
    this.#draw(from);
  }

  #draw(from: number): void {
    const span = this.ends - from;
    const perMs = rateAt(this.#load, from) / 1_000;
    const extra = this.#load.dispersion - 1;
    let mean = perMs * span;
    if (extra > 0 && mean > 0) {
      const shape = (perMs * DISPERSION_SPAN) / extra;
      mean *= sampleGamma(this.#rng, shape) / shape;
    }
    this.rate = samplePoisson(this.#rng, mean) / span;
    this.luck = this.#rng.normal();
  }
}

/** From here on a Poisson count is normal for our purposes: its skewness is below 0.13. */
const MANY = 64;

/** Poisson count: by inversion where it is small, by its normal limit where it is large. */
export function samplePoisson(rng: Rng, mean: number): number {
  if (mean >= MANY) return Math.max(0, Math.round(mean + Math.sqrt(mean) * rng.normal()));
  let rest = rng.next();
  let chance = Math.exp(-mean);
  let count = 0;
  while (rest > chance && count < 4 * MANY) {
    rest -= chance;
    count++;
    chance *= mean / count;
  }
  return count;
}
