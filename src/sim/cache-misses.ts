/**
 * How many more accesses go to memory when a last-level cache does not hold the whole working set.
 * Owns: the miss-ratio curve and its constants, the same for every world with machines that share a cache.
 */

/** Misses per access with the whole working set cached. Assumed [0.05..0.3]. */
export const FULL_CACHE_MISSES = 0.15;

/**
 * Misses over misses with the whole working set cached, at an allocation of `a` of it: a^(−1/2), the rule of Hartstein et
 * al., "Cache miss behavior: is it √2?" (CF 2006). Capped: with no cache at all every access goes to memory.
 */
const missCurve = { exponent: -0.5, most: 1 / FULL_CACHE_MISSES } as const;

/** Misses over misses with the whole working set in the cache. */
export function missFactor(cached: number, workingSet: number): number {
  if (workingSet <= 0 || cached >= workingSet) return 1;
  if (cached <= 0) return missCurve.most;
  return Math.min(missCurve.most, (cached / workingSet) ** missCurve.exponent);
}
