/**
 * The features of one instance in the requests of one type.
 * Owns: relative importance and congestion intensity as Algorithm 3.2 has them, and what is added to them: how far the
 * instance is above its normal, how much of what the request lost it explains, and whether a resource is pressed.
 * Not here: the times (trace-window.ts), which resource (resource-evidence.ts), the classifier (svm.ts).
 */
import type { Deviation } from "./habits.ts";
import { meanOf, quantileOfSorted, type RequestTimes } from "./trace-window.ts";

export interface Features {
  /** Pearson's correlation with the whole time; 0 where one of the two does not vary. */
  readonly relativeImportance: number;
  /** The 99th percentile over the median, of the requests it took part in. */
  readonly congestionIntensity: number;
  /** Mean own time over its normal; 1 where no normal is known. */
  readonly elevation: number;
  /**
   * Mean microseconds per request above normal, 0 where no normal is known: of its own time, of that without the slow ways
   * to those it calls, and of the ways to and from it. Nobody waits for background work: its own is not in the second.
   */
  readonly ownExcessUs: number;
  readonly workExcessUs: number;
  readonly wayExcessUs: number;
}

/** A median of nothing makes a ratio of anything. */
const MOST_INTENSITY = 100;

/** Of every instance in the requests of one type. */
export interface RequestFeatures {
  readonly request: string;
  readonly count: number;
  /** Mean microseconds above normal that these requests take; 0 where that is next to nothing, or not known. */
  readonly lostUs: number;
  /** Mean of the whole time in calm times; null where nothing is known. */
  readonly normalTotalUs: number | null;
  readonly of: ReadonlyMap<string, Features>;
}

/** A request that lost less than this part of its normal has lost nothing: shares of noise say nothing. */
const LEAST_LOSS = 0.05;

export function featuresIn(times: RequestTimes): RequestFeatures {
  const { request, totalUs, normalTotalUs } = times;
  const ways = wayExcesses(times);
  const lost = normalTotalUs === null ? 0 : meanOf(totalUs) - normalTotalUs;
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
      elevation: normalUs === null ? 1 : (mean + 1) / (normalUs + 1),
      ownExcessUs,
      workExcessUs: instance.isBackground ? 0 : ownExcessUs - fromIt,
      wayExcessUs: atIt,
    });
  }
  const lostUs = normalTotalUs !== null && lost > LEAST_LOSS * normalTotalUs ? lost : 0;
  return { request, count: totalUs.length, lostUs, normalTotalUs, of: found };
}

/** What one instance has to do with what requests of all types lost. */
export interface Harm {
  /** Of all that was lost, the part that is its own work, and that is its ways; 0 to 1. */
  readonly workShare: number;
  readonly wayShare: number;
  /**
   * What it adds to a request, its work or its ways, over what such a request takes in calm times; of the type where that
   * is most. Unlike a share it does not depend on who else is slow.
   */
  readonly burden: number;
  /** The type of request to which it does most. */
  readonly worst: RequestFeatures;
  readonly features: Features;
}

interface HarmSum {
  work: number;
  way: number;
  burden: number;
  most: number;
  worst: RequestFeatures;
  features: Features;
}

/** Of every instance; a loss counts by how many requests have it, so that a rare type's noise makes nobody a suspect. */
export function harmIn(requests: readonly RequestFeatures[]): ReadonlyMap<string, Harm> {
  const lost = requests.reduce((sum, { count, lostUs }) => sum + count * lostUs, 0);
  const sums = new Map<string, HarmSum>();
  for (const worst of requests) {
    for (const [instance, features] of worst.of) {
      const counts = worst.lostUs > 0 ? worst.count : 0;
      const work = counts * Math.max(0, features.workExcessUs);
      const way = counts * Math.max(0, features.wayExcessUs);
      // Where nothing is known to be lost, the one that it varies with.
      const most = lost > 0 ? Math.max(work, way) : features.relativeImportance;
      const added = Math.max(0, features.workExcessUs, features.wayExcessUs);
      const burden = worst.normalTotalUs === null ? 0 : added / Math.max(1, worst.normalTotalUs);
      const sum = sums.get(instance);
      if (sum === undefined) sums.set(instance, { work, way, burden, most, worst, features });
      else {
        sum.work += work;
        sum.way += way;
        sum.burden = Math.max(sum.burden, burden);
        if (most > sum.most) Object.assign(sum, { most, worst, features });
      }
    }
  }
  const shareOf = (excess: number): number => (lost > 0 ? Math.min(1, excess / lost) : 0);
  return new Map(
    [...sums].map(([instance, { work, way, burden, worst, features }]) => [
      instance,
      { workShare: shareOf(work), wayShare: shareOf(way), burden, worst, features },
    ]),
  );
}

interface WayExcess {
  /** Mean microseconds per request that the ways to and from an instance take beyond normal, each as the middle one. */
  atIt: number;
  /** Of its own time, what is a slow way to somebody it calls. */
  fromIt: number;
}

const noWays: WayExcess = { atIt: 0, fromIt: 0 };
/** A way that is taken less often in a window says nothing. */
const LEAST_CALLS = 5;

/**
 * An instance behind a slow wire is slow to reach, each call by as much, and often slow to reach others from. One that calls
 * it has other ways that are not slow. So an instance has what the middle one of the calls to it has, or the middle one of
 * all its calls, the lower where there are two; and its callers are rid of what is then explained.
 */
function wayExcesses({ ways, totalUs }: RequestTimes): ReadonlyMap<string, WayExcess> {
  const known = ways.filter(({ calls, normalUs }) => calls >= LEAST_CALLS && normalUs !== null);
  const [toIt, atIt] = [new Map<string, SlowCalls[]>(), new Map<string, SlowCalls[]>()];
  for (const { caller, callee, calls, perCallUs, normalUs } of known) {
    const slow: SlowCalls = { calls, perCallUs: Math.max(0, perCallUs - (normalUs ?? perCallUs)) };
    append(toIt, callee, slow);
    append(atIt, callee, slow);
    append(atIt, caller, slow);
  }
  const requests = Math.max(1, totalUs.length);
  const found = new Map<string, WayExcess>();
  for (const [end, list] of atIt) {
    const sum = Math.max(sumOfMiddle(list), sumOfMiddle(toIt.get(end) ?? []));
    found.set(end, { atIt: sum / requests, fromIt: 0 });
  }
  for (const { caller, callee, calls, isApart } of known) {
    const entry = found.get(caller);
    // With a client span between them, the way was never in the caller's own time.
    if (entry !== undefined && !isApart) entry.fromIt += (lowerMedian(toIt.get(callee) ?? []) * calls) / requests;
  }
  return found;
}

interface SlowCalls {
  readonly calls: number;
  /** Beyond normal. */
  readonly perCallUs: number;
}

const append = (lists: Map<string, SlowCalls[]>, end: string, slow: SlowCalls): void => {
  const list = lists.get(end);
  if (list === undefined) lists.set(end, [slow]);
  else list.push(slow);
};

const countOf = (list: readonly SlowCalls[]): number => list.reduce((sum, { calls }) => sum + calls, 0);

/** All calls, if each were as slow as the middle one. */
const sumOfMiddle = (list: readonly SlowCalls[]): number => lowerMedian(list) * countOf(list);

function lowerMedian(list: readonly SlowCalls[]): number {
  const all = countOf(list);
  let below = 0;
  for (const { perCallUs, calls } of [...list].sort((a, b) => a.perCallUs - b.perCallUs)) {
    below += calls;
    if (2 * below >= all) return perCallUs;
  }
  return 0;
}

export function intensityOf(times: Float64Array): number {
  if (times.length === 0) return 1;
  const sorted = Float64Array.from(times).sort();
  const [median, tail] = [quantileOfSorted(sorted, 0.5), quantileOfSorted(sorted, 0.99)];
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

/**
 * Which features the classifier sees: the two of Algorithm 3.2; all that requests and telemetry say; or, with `habits`, also
 * how far each operation is from what it usually does.
 */
export type FeatureSet = "printed" | "all" | "habits";

const counts: Readonly<Record<FeatureSet, number>> = { printed: 2, all: 7, habits: 14 };

export const featureCount = (set: FeatureSet): number => counts[set];

/** What is known of an instance besides the harm it does to requests. */
export interface Signs {
  readonly pressure: number;
  readonly deviation: Deviation;
}

/** Of the order of one each, since the kernel weighs them alike; bounded, so that nothing far off rules. */
export function vectorOf(
  { features, workShare, wayShare, burden }: Harm,
  { pressure, deviation }: Signs,
  set: FeatureSet,
): Float64Array {
  const importance = 2 * features.relativeImportance;
  const intensity = Math.log(Math.max(1, features.congestionIntensity));
  if (set === "printed") return Float64Array.of(importance, intensity);
  const elevation = Math.min(3, Math.max(-1, Math.log(features.elevation)));
  const known = [
    ...[importance, intensity, elevation],
    ...[2 * workShare, 2 * wayShare, Math.min(3, 2 * Math.log1p(burden))],
    2 * Math.min(1, Math.max(-0.5, pressure)),
  ];
  if (set === "all") return Float64Array.from(known);
  const { slower, faster, slowTo, slowFrom, changed, stops } = deviation;
  // With few labels a kernel cannot know that signs add up; the last one tells it.
  const signs = Math.max(workShare, wayShare) + Math.max(slower, slowTo) + Math.max(0, pressure) + changed;
  return Float64Array.of(
    ...known,
    ...[2 * slower, 2 * faster, 2 * slowTo, 2 * slowFrom, 2 * changed, 2 * stops, 2 * Math.min(2, signs)],
  );
}

/** Of an instance that no trace of the window has. */
export const noHarm = (worst: RequestFeatures): Harm => ({
  workShare: 0,
  wayShare: 0,
  burden: 0,
  worst,
  features: {
    relativeImportance: 0,
    congestionIntensity: 1,
    elevation: 1,
    ownExcessUs: 0,
    workExcessUs: 0,
    wayExcessUs: 0,
  },
});
