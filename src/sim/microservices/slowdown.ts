/**
 * How much longer a request takes when its container gets less than it wants.
 * Owns: the one formula that both rungs use. Not here: what a container gets (../sharing.ts), CPU quotas (event/quota-clock.ts).
 *
 * A request's own time is a mix of parts, one per resource. Alone with less than its rate of a resource, that part grows by
 * demand over share; a stressor beside it is more demand of the same kind. With n requests at work, the container cannot
 * draw more than its share of any resource either, so all of them together take at least n times the bytes of one over
 * what the stressor leaves (max–min of the two). Per unit of work:
 *
 *     slowdown(n) = max( Σ part · max(1, (rate + stress) / share),  n · max over resources of (part · rate / left) )
 *
 * The first is the time of one alone, the second the bottleneck's; both conserve what flows. Cache has no part of its own:
 * with less of it misses grow, and with them the memory part and its bytes. A cache is divided by who fills it.
 */

import { missFactor } from "../cache-misses.ts";
import { besideStressor } from "../sharing.ts";
import { CPU, IO, LLC, MEMORY, NETWORK, type Profile, RESOURCE_COUNT } from "./calibration.ts";

export interface Slowdown {
  /** Of one request alone. */
  base: number;
  /** Per request at work, where a resource is short for all of them together. */
  perRequest: number;
  /** Misses over those with the whole working set cached. */
  misses: number;
}

/** A container as the formula sees it. */
export interface Placed {
  readonly profile: Profile;
  /** Of the processor it runs on. */
  readonly speed: number;
  /** By resource: what the container gets, and what a stressor in it wants. */
  readonly shares: ArrayLike<number>;
  readonly stress: ArrayLike<number>;
}

export const noStress: ArrayLike<number> = new Float64Array(RESOURCE_COUNT);

export function slowdownOf({ profile, speed, shares, stress }: Placed, into: Slowdown): void {
  const { memory, io, network, workingSet } = profile;
  const cpu = profile.cpu / speed;
  const cached = divided(shares[LLC]!, workingSet, stress[LLC]!);
  const misses = missFactor(cached, workingSet);
  const memoryPart = memory.share * misses;
  into.misses = misses;
  into.base =
    cpu * growth(1 + stress[CPU]!, shares[CPU]!) +
    memoryPart * growth(memory.rate + stress[MEMORY]!, shares[MEMORY]!) +
    io.share * growth(io.rate + stress[IO]!, shares[IO]!) +
    network.share * growth(network.rate + stress[NETWORK]!, shares[NETWORK]!);
  into.perRequest = Math.max(
    crowding(cpu, shares[CPU]!, stress[CPU]!),
    crowding(memoryPart * memory.rate, shares[MEMORY]!, stress[MEMORY]!),
    crowding(io.share * io.rate, shares[IO]!, stress[IO]!),
    crowding(network.share * network.rate, shares[NETWORK]!, stress[NETWORK]!),
  );
}

const divided = (cache: number, wanted: number, stressor: number): number =>
  wanted + stressor <= cache || wanted <= 0 ? wanted : (cache * wanted) / (wanted + stressor);

/** A share of nothing would stop the world for good; a thousandth of what is wanted is slow enough. */
const LEAST = 1e-3;

const growth = (demand: number, share: number): number =>
  demand <= share ? 1 : share > demand * LEAST ? demand / share : 1 / LEAST;

const crowding = (bytes: number, share: number, stressor: number): number => {
  if (bytes <= 0) return 0;
  const left = besideStressor(share, stressor);
  return left > bytes * LEAST ? bytes / left : 1 / LEAST;
};
