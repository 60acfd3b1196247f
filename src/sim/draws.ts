/**
 * What chance decides about one request: how much work each of its calls is, which caches have what it asks for.
 * Owns: draws that depend on the request and the call only, never on what else happens in the world.
 *
 * So two worlds with one seed and different controllers meet the same requests, call by call, however differently they
 * treat them: counters go in, not a stream (as in Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
 */

/** Uniform in (0, 1), from the seed of a request, a call of its workflow and what the draw is for. */
export function uniform(seed: number, call: number, purpose: number): number {
  let h = Math.imul(seed ^ Math.imul(call + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(purpose + 1, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (((h ^ (h >>> 16)) >>> 0) + 0.5) / 4_294_967_296;
}

export const PURPOSE = { chance: 0, workA: 1, workB: 2, there: 3, back: 4, delay: 5, loss: 6 } as const;

/** Standard normal, by Box and Muller. */
export const normalFrom = (a: number, b: number): number => Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b);

/** The spread of work: as the profiles say, or what closed forms want. */
export type WorkSpread = "profile" | "exponential" | "constant";

/** A factor of mean 1. */
export function workFactor(
  { seed, call, sigma }: { readonly seed: number; readonly call: number; readonly sigma: number },
  spread: WorkSpread,
): number {
  if (spread === "constant") return 1;
  const a = uniform(seed, call, PURPOSE.workA);
  if (spread === "exponential") return -Math.log(a);
  if (sigma === 0) return 1;
  return Math.exp(sigma * normalFrom(a, uniform(seed, call, PURPOSE.workB)) - (sigma * sigma) / 2);
}

/** Of a lognormal with this coefficient of variation. */
export const sigmaOf = (variation: number): number => Math.sqrt(Math.log(1 + variation * variation));
