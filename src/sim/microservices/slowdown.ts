/**
 * How much longer a request takes when its container gets less than it wants.
 * Owns: the one formula that both rungs use. Not here: what a container gets (sharing.ts), CPU quotas (event/quota-clock.ts).
 *
 * A request's own time is a mix of parts, one per resource. Alone with less than its rate of a resource, that part grows by
 * demand over share. With n requests at work, the container can not draw more than its share of any resource either, so all
 * of them together take at least n times the bytes of one over the share. Per unit of work:
 *
 *     slowdown(n) = max( Σ part · max(1, rate / share),  n · max over resources of (part · rate / share) )
 *
 * The first is the time of one alone, the second the bottleneck's; both conserve what flows. Cache has no part of its own:
 * with less of it misses grow, and with them the memory part and its bytes.
 */
import { CPU, IO, LLC, MEMORY, missCurve, NETWORK, type Profile } from "./calibration.ts";

/** Misses over misses with the whole working set in the cache. */
export function missFactor(cached: number, workingSet: number): number {
  if (workingSet <= 0 || cached >= workingSet) return 1;
  if (cached <= 0) return missCurve.most;
  return Math.min(missCurve.most, (cached / workingSet) ** missCurve.exponent);
}

export interface Slowdown {
  /** Of one request alone. */
  base: number;
  /** Per request at work, where a resource is short for all of them together. */
  perRequest: number;
  /** Misses over those with the whole working set cached. */
  misses: number;
}

export interface Placed {
  readonly profile: Profile;
  /** Of the processor it runs on. */
  readonly speed: number;
}

/** For a container that gets `shares` (by resource); written into `into`. */
export function slowdownOf({ profile, speed }: Placed, shares: ArrayLike<number>, into: Slowdown): void {
  const { memory, io, network } = profile;
  const cpu = profile.cpu / speed;
  const misses = missFactor(shares[LLC]!, profile.workingSet);
  const memoryPart = memory.share * misses;
  into.misses = misses;
  into.base =
    cpu * atLeastOne(1, shares[CPU]!) +
    memoryPart * atLeastOne(memory.rate, shares[MEMORY]!) +
    io.share * atLeastOne(io.rate, shares[IO]!) +
    network.share * atLeastOne(network.rate, shares[NETWORK]!);
  into.perRequest = Math.max(
    ratio(cpu, shares[CPU]!),
    ratio(memoryPart * memory.rate, shares[MEMORY]!),
    ratio(io.share * io.rate, shares[IO]!),
    ratio(network.share * network.rate, shares[NETWORK]!),
  );
}

/** A share of nothing would stop the world for good; a thousandth of what is wanted is slow enough. */
const LEAST = 1e-3;
const atLeastOne = (demand: number, share: number): number => {
  if (demand <= share) return 1;
  return share > demand * LEAST ? demand / share : 1 / LEAST;
};
const ratio = (demand: number, share: number): number =>
  demand <= 0 ? 0 : share > demand * LEAST ? demand / share : 1 / LEAST;
