/**
 * The features of one instance in the requests of one type.
 * Owns: relative importance and congestion intensity as Algorithm 3.2 has them, and what is added to them: how far the
 * instance is above its normal, how much of what the request lost it explains, and whether a resource is pressed.
 * Not here: the times (trace-window.ts), which resource (resource-evidence.ts), the classifier (svm.ts).
 */
import { meanOf, quantileOf, type RequestTimes } from "./trace-window.ts";

export interface Features {
  /** Pearson's correlation with the whole time; 0 where one of the two does not vary. */
  readonly relativeImportance: number;
  /** The 99th percentile over the median, of the requests it took part in. */
  readonly congestionIntensity: number;
  /** Mean microseconds above normal, of its own time and of the ways to and from it; 0 where no normal is known. */
  readonly ownExcessUs: number;
  readonly wayExcessUs: number;
  /** Mean own time over its normal; 1 where no normal is known. */
  readonly elevation: number;
  /** Of what the request lost against its normal, the part that is its own work, and that is its ways; 0 to 1. */
  readonly ownShare: number;
  readonly wayShare: number;
}

/** A median of nothing makes a ratio of anything. */
const MOST_INTENSITY = 100;
/** A request that lost less than this part of its normal has lost nothing: shares of noise say nothing. */
const LEAST_LOSS = 0.05;

/** Of every instance in the requests of one type. */
export function featuresIn(times: RequestTimes): ReadonlyMap<string, Features> {
  const { totalUs, normalTotalUs } = times;
  const ways = wayExcesses(times);
  const lost = normalTotalUs === null ? 0 : meanOf(totalUs) - normalTotalUs;
  const shareOf = (excess: number): number =>
    normalTotalUs !== null && lost > LEAST_LOSS * normalTotalUs ? Math.min(1, Math.max(0, excess / lost)) : 0;
  const found = new Map<string, Features>();
  for (const instance of times.instances) {
    const { ownUs, normalUs } = instance;
    const present = instance.count === ownUs.length ? ownUs : ownUs.filter((us) => us > 0);
    const mean = meanOf(ownUs);
    const ownExcessUs = normalUs === null ? 0 : mean - normalUs;
    const { atIt, fromIt } = ways.get(instance.instance) ?? noWays;
    found.set(instance.instance, {
      relativeImportance: pearson(ownUs, totalUs),
      congestionIntensity: intensityOf(present),
      ownExcessUs,
      wayExcessUs: atIt,
      elevation: normalUs === null ? 1 : (mean + 1) / (normalUs + 1),
      // Nobody waits for background work, so it explains nothing of what the request lost.
      ownShare: instance.isBackground ? 0 : shareOf(ownExcessUs - fromIt),
      wayShare: shareOf(atIt),
    });
  }
  return found;
}

interface WayExcess {
  /** Mean microseconds per request that the ways to and from an instance take beyond normal, each as the least of them. */
  atIt: number;
  /** Of its own time, what is a slow way to somebody it calls. */
  fromIt: number;
}

const noWays: WayExcess = { atIt: 0, fromIt: 0 };
/** A way that is taken less often in a window says nothing. */
const LEAST_CALLS = 5;

/**
 * An instance behind a slow wire is slow to reach and slow to reach others from: every way at it takes longer, each call by
 * as much. One that only calls it, or is called by it, has other ways that do not. So an instance has the least of what its
 * ways have, and its callers are rid of what is then explained.
 */
function wayExcesses({ ways, totalUs }: RequestTimes): ReadonlyMap<string, WayExcess> {
  const known = ways.filter(({ calls, normalUs }) => calls >= LEAST_CALLS && normalUs !== null);
  const least = new Map<string, { perCallUs: number; calls: number }>();
  for (const { caller, callee, calls, perCallUs, normalUs } of known) {
    const excess = Math.max(0, perCallUs - (normalUs ?? perCallUs));
    for (const end of [caller, callee]) {
      const before = least.get(end);
      if (before === undefined) least.set(end, { perCallUs: excess, calls });
      else {
        before.perCallUs = Math.min(before.perCallUs, excess);
        before.calls += calls;
      }
    }
  }
  const requests = Math.max(1, totalUs.length);
  const found = new Map<string, WayExcess>();
  for (const [end, { perCallUs, calls }] of least) found.set(end, { atIt: (perCallUs * calls) / requests, fromIt: 0 });
  for (const { caller, callee, calls } of known) {
    const entry = found.get(caller);
    const explained = least.get(callee);
    if (entry !== undefined && explained !== undefined) entry.fromIt += (explained.perCallUs * calls) / requests;
  }
  return found;
}

export function intensityOf(times: Float64Array): number {
  if (times.length === 0) return 1;
  const median = quantileOf(times, 0.5);
  const tail = quantileOf(times, 0.99);
  if (tail <= 0) return 1;
  return median > 0 ? Math.min(MOST_INTENSITY, tail / median) : MOST_INTENSITY;
}

export function pearson(a: Float64Array, b: Float64Array): number {
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  let [both, ofA, ofB] = [0, 0, 0];
  for (let k = 0; k < a.length; k++) {
    const [x, y] = [a[k]! - meanA, b[k]! - meanB];
    both += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  const scale = Math.sqrt(ofA * ofB);
  return scale > 0 ? Math.min(1, Math.max(-1, both / scale)) : 0;
}

/** Which features the classifier sees: the two of Algorithm 3.2, or all of them. */
export type FeatureSet = "printed" | "all";

export const featureCount = (set: FeatureSet): number => (set === "printed" ? 2 : 6);

/** Of the order of one each, since the kernel weighs them alike; bounded, so that nothing far off rules. */
export function vectorOf(features: Features, pressure: number, set: FeatureSet): Float64Array {
  const importance = 2 * features.relativeImportance;
  const intensity = Math.log(Math.max(1, features.congestionIntensity));
  if (set === "printed") return Float64Array.of(importance, intensity);
  const elevation = Math.min(3, Math.max(-1, Math.log(features.elevation)));
  const { ownShare, wayShare } = features;
  return Float64Array.of(
    ...[importance, intensity, elevation],
    ...[2 * ownShare, 2 * wayShare, 2 * Math.min(1, Math.max(-0.5, pressure))],
  );
}
