/**
 * Applications by the thousand.
 * Owns: drawing segments with replacement, drawing how each application is served, the split for meta-learning.
 * Not here: what segments cost (calibration.ts), how they add up (compose.ts).
 *
 * An application depends on the seed and on its own segments only, never on how many others were drawn before it.
 */
import { bytes, CodedError, failure, mebibytes, milliseconds, type Rng, seededRng } from "../../../base/index.ts";
import type { Application } from "./application.ts";
import { applicationRanges, basePayloads } from "./calibration.ts";
import { composeApplication, type ServerSettings } from "./compose.ts";
import { meanWork } from "./request.ts";
import { type SegmentName, segments } from "./segments.ts";

/** Unordered choices of one to four out of sixteen, with repetition: 16 + 136 + 816 + 3,876. */
const DIFFERENT = 4_844;

export interface GenerateOptions {
  readonly seed: number;
  /** How many different ones. Default 1,000, as in the AWARE paper. */
  readonly count?: number;
}

/**
 * Different applications of one to four segments. Two that call the same segments in another order do the same work, so
 * they count as one.
 */
export function generateApplications({ seed, count = 1_000 }: GenerateOptions): Application[] {
  if (!(Number.isInteger(count) && count >= 0 && count <= DIFFERENT)) {
    throw new CodedError(
      failure(
        "workload.count",
        `there are ${DIFFERENT} different applications of sixteen segments, ${count} were asked for; ask for a whole number up to that`,
      ),
    );
  }
  const names = segments.map(({ name }) => name);
  return drawDifferent(seededRng(seed).fork("applications"), { count, names, seed, seen: new Set() });
}

export interface SplitApplications {
  readonly train: readonly Application[];
  readonly test: readonly Application[];
}

/** Four fifths to train on and one fifth to test on, at random: 800 and 200 of a thousand (AWARE, 5.1). */
export function splitApplications(applications: readonly Application[], seed: number): SplitApplications {
  const rng = seededRng(seed).fork("split");
  const shuffled = [...applications];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = rng.int(i + 1);
    const kept = shuffled[i] as Application;
    shuffled[i] = shuffled[j] as Application;
    shuffled[j] = kept;
  }
  const train = Math.round(0.8 * shuffled.length);
  return { train: shuffled.slice(0, train), test: shuffled.slice(train) };
}

export interface HeldOutSplit {
  /** Segments that no application of `train` and `recombined` calls. */
  readonly heldOut: readonly SegmentName[];
  readonly train: readonly Application[];
  /** Unseen, but made of seen segments. */
  readonly recombined: readonly Application[];
  /** Unseen, with at least one segment that was never seen. */
  readonly unseen: readonly Application[];
}

/**
 * A harder split: two segments are kept from training, and half of the unseen applications call at least one of them.
 * A random split of the thousand cannot give this: a third of them would call one of the two.
 */
export function generateHeldOut({ seed, count = 1_000 }: GenerateOptions): HeldOutSplit {
  const rng = seededRng(seed).fork("held-out");
  const names = segments.map(({ name }) => name);
  const heldOut: SegmentName[] = [];
  while (heldOut.length < 2) heldOut.push(...names.splice(rng.int(names.length), 1));
  const unseenCount = Math.round(0.1 * count);
  const seen = new Set<string>();
  const known = drawDifferent(rng.fork("known"), { count: count - unseenCount, names, seed, seen });
  const all = segments.map(({ name }) => name);
  const callsHeldOut = (drawn: readonly string[]) => heldOut.some((name) => drawn.includes(name));
  const unseen = drawDifferent(rng.fork("unseen"), {
    count: unseenCount,
    names: all,
    seed,
    seen,
    wanted: callsHeldOut,
  });
  const train = Math.round(0.8 * count);
  return { heldOut, train: known.slice(0, train), recombined: known.slice(train), unseen };
}

interface DrawOptions {
  readonly count: number;
  readonly names: readonly SegmentName[];
  readonly seed: number;
  /** What was drawn already; grows. */
  readonly seen: Set<string>;
  readonly wanted?: (drawn: readonly SegmentName[]) => boolean;
}

function drawDifferent(rng: Rng, { count, names, seed, seen, wanted = () => true }: DrawOptions): Application[] {
  const { low, high } = applicationRanges.segments;
  const applications: Application[] = [];
  while (applications.length < count) {
    const length = low + rng.int(high - low + 1);
    const drawn = Array.from({ length }, () => names[rng.int(names.length)] as SegmentName);
    const unordered = [...drawn].sort().join("+");
    if (seen.has(unordered) || !wanted(drawn)) continue;
    seen.add(unordered);
    applications.push(serve(drawn, seededRng(seed).fork("server").fork(unordered)));
  }
  return applications;
}

/** Draws how an application of these segments is served. */
function serve(names: readonly SegmentName[], rng: Rng): Application {
  const ranges = applicationRanges;
  const between = ({ low, high }: { low: number; high: number }) => low + (high - low) * rng.next();
  const oneOf = (list: readonly number[]) => list[rng.int(list.length)] as number;
  const threads = oneOf(ranges.threads);
  const settings: ServerSettings = {
    sigma: between(ranges.sigma),
    threads,
    queue: threads * oneOf(ranges.queuePerThread),
    timeout: milliseconds(0),
    retries: oneOf(ranges.retries),
    runtime: mebibytes(between(ranges.runtime)),
    startup: { mean: milliseconds(Math.round(between(ranges.startup))), sigma: ranges.startup.sigma },
    warmup: {
      factor: between(ranges.warmup),
      span: milliseconds(Math.round(between({ low: ranges.warmup.spanLow, high: ranges.warmup.spanHigh }))),
    },
  };
  const application = composeApplication(names, { ...settings, payloads: basePayloads });
  const { cpu, wait } = meanWork(application);
  const deadline = between(ranges.deadlineFactor) * (cpu + wait);
  const { low, high } = ranges.timeout;
  const { base, perRequest } = application.memory;
  // A queue that could not be kept in the largest pod would be a configuration error, not a workload.
  const fits = Math.floor(bytes(mebibytes(ranges.fullPod) - base) / perRequest) - threads;
  return {
    ...application,
    queue: Math.min(application.queue, fits),
    timeout: milliseconds(Math.round(Math.min(Math.max(deadline, low), high))),
  };
}
