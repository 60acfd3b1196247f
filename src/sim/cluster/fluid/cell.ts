/**
 * What a steady condition does to requests: one cell of a response table.
 * Owns: running a condition on the bench and what is kept of it. Not here: which cells there are (response-table.ts).
 */
import type { Rng } from "../../../base/index.ts";
import { mechanics } from "../mechanics.ts";
import type { Application } from "../workloads/application.ts";
import { requestLength, sampleRequest } from "../workloads/request.ts";
import { CELL_REQUESTS, CELL_WARMUP, FULL, FULL_WARMUP, SLICE_ENDS, SLOT } from "./calibration.ts";
import type { BenchConditions, BenchWatch } from "./pod-bench.ts";
import { PodBench } from "./pod-bench.ts";

/**
 * Places of a cell's figures. Latencies follow at SLICES, one per slice of the requests that were taken in, in
 * milliseconds, however long they took: which of them were too late for their clients is found out where a cell is used,
 * because between two cells latencies can be interpolated and what exceeds a limit cannot.
 */
export const PLACE = {
  /** Requests in one pod, mean over time, and the sum of their sizes. */
  inside: 0,
  sizes: 1,
  /** Requests that a pod takes in, as a share of the nominal capacity; the rest of the load is refused. */
  admitted: 2,
  /** Share of its CPU limit that a pod uses, mean over time. */
  busy: 3,
} as const;
/** Rate, per admitted request, at which the sum of sizes in a pod first exceeds each threshold: logarithms. */
export const CROSSINGS = Object.keys(PLACE).length;
export const CROSSING_COUNT = 20;
const CROSSING_FIRST = 1;
const CROSSING_RATIO = 1.35;
export const SLICES = CROSSINGS + CROSSING_COUNT;
export const CELL_SIZE = SLICES + SLICE_ENDS.length;

/** Once in so many requests is never; and from so many sightings on, a crossing rate is taken as seen. */
const RARE = 1e-7;
const FIRM_COUNT = 8;
/** What a client who gave up in the queue would have waited in the end, in timeouts: somewhat longer than it did. */
const GIVEN_UP = 1.25;

/** Where a sum of sizes lies on the scale of thresholds; not rounded. */
export const crossingPlace = (sizes: number): number =>
  Math.log(Math.max(sizes, 1e-3) / CROSSING_FIRST) / Math.log(CROSSING_RATIO);

export interface CellConditions {
  readonly application: Application;
  readonly quota: number;
  readonly speed: number;
  readonly cores: number;
  readonly pods: number;
  /** Share of the nominal capacity; 0 asks for requests that are alone in their pod. */
  readonly level: number;
}

/** Requests per second that one pod could serve if nothing were lost to queueing or to the quota's grain. */
export function nominalCapacity({ application, quota, speed, cores }: Omit<CellConditions, "level" | "pods">): number {
  let cpu = 0;
  let alone = 0;
  const usable = Math.min(cores, application.threads);
  for (const phase of application.phases) {
    const work = phase.cpu / speed;
    cpu += work;
    // While it works, a request takes the time of its width or of the quota, whichever is slower, and then it waits.
    alone += work / Math.min(phase.width, usable, quota) + phase.wait;
  }
  const byCpu = (1_000 * Math.min(quota, usable)) / Math.max(cpu, 1e-9);
  const byThreads = (1_000 * application.threads) / Math.max(alone, 1e-9);
  return Math.min(byCpu, byThreads);
}

export function runCell(conditions: CellConditions, rng: Rng): Float64Array {
  const { application, pods, level } = conditions;
  const record = new Recorder();
  const bench = new PodBench({ ...conditions, period: mechanics.quotaPeriod } satisfies BenchConditions, {
    rng: rng.fork("pods"),
    draw: requestsOf(application, rng.fork("requests")),
    watch: record,
  });
  const arrivals = rng.fork("arrivals");
  const ratePerMs = (nominalCapacity(conditions) * level * pods) / 1_000;
  if (level >= FULL) bench.fill(0);
  // A pod that begins full has to lose what it began with, or as much of it as its clients wait for.
  const warm = level >= FULL ? Math.min(FULL_WARMUP, pods * (application.threads + application.queue)) : CELL_WARMUP;
  const times = arrivalTimes(
    { ratePerMs, alone: aloneFor(application, conditions), count: warm + CELL_REQUESTS },
    arrivals,
  );
  let started = 0;
  let before = bench.totals();
  for (let i = 0; i < times.length; i++) {
    const at = times[i] as number;
    if (i === warm) {
      bench.finish(at);
      before = bench.totals();
      record.reset();
      started = at;
    }
    bench.arrive(at);
  }
  const end = times.at(-1) as number;
  const span = Math.max(end - started, 1e-9);
  bench.finish(end);
  const after = bench.totals();
  const share = 1 / (span * pods);
  // Requests that came are not all done yet; the long ones among them belong to the tail, so let them finish.
  bench.finish(end + 2 * application.timeout);
  return record.cell({
    // Alone means that hardly anybody is there; how rarely somebody comes is the bench's choice and says nothing.
    inside: level === 0 ? 0 : (after.requestMs - before.requestMs) * share,
    sizes: level === 0 ? 0 : (after.sizeMs - before.sizeMs) * share,
    busy: level === 0 ? 0 : ((after.burnt - before.burnt) * share) / conditions.quota,
    level,
    timeout: application.timeout,
  });
}

/** Time on the CPU of requests that are alone and not throttled, at speed 1, slice by slice. */
export function runTimes(application: Application, rng: Rng): Float64Array {
  const work = new Float64Array(requestLength(application));
  const times = Float64Array.from({ length: 2 * CELL_REQUESTS }, () => {
    sampleRequest(application, rng, work);
    return application.phases.reduce((sum, { width }, p) => sum + work[2 * p]! / width, 0);
  }).sort();
  const slices = new Float64Array(SLICE_ENDS.length);
  sliceMeans(times, slices);
  return slices;
}

function requestsOf(application: Application, rng: Rng): (into: Float64Array) => number {
  return (into) => sampleRequest(application, rng, into);
}

/** Long enough apart that two requests do not meet. */
function aloneFor({ timeout, phases }: Application, { quota, speed }: CellConditions): number {
  const work = phases.reduce((sum, { cpu, wait }) => sum + cpu / speed / Math.min(1, quota) + wait, 0);
  return Math.min(timeout, 40 * work) + 10 * mechanics.quotaPeriod;
}

/**
 * Arrival times whose count per slot is what the rate says, with no luck in it: the luck of a slot's count is drawn by the
 * world, step by step, and must not be counted twice. Within a slot they fall as they like.
 */
function arrivalTimes(
  { ratePerMs, alone, count }: { ratePerMs: number; alone: number; count: number },
  rng: Rng,
): Float64Array {
  const times = new Float64Array(count);
  if (ratePerMs === 0) {
    for (let i = 0; i < count; i++) times[i] = (i + rng.next()) * 2 * alone;
    return times;
  }
  // A fast load fills its cell before the slot is over; then the cell is the slot.
  const slot = Math.min(SLOT, count / ratePerMs);
  for (let filled = 0, index = 1; filled < count; index++) {
    const due = Math.min(count, Math.round(index * slot * ratePerMs));
    // The last slot may be cut short, and so is its time.
    const share = (due - filled) / (slot * ratePerMs);
    for (let i = filled; i < due; i++) times[i] = (index - 1 + share * rng.next()) * slot;
    times.subarray(filled, due).sort();
    filled = due;
  }
  return times;
}

interface CellMeans {
  readonly inside: number;
  readonly sizes: number;
  readonly busy: number;
  readonly level: number;
  readonly timeout: number;
}

class Recorder implements BenchWatch {
  #latencies: number[] = [];
  #given = 0;
  #refusals = 0;
  #admitted = 0;
  readonly #crossed = new Float64Array(CROSSING_COUNT);

  done(latency: number): void {
    this.#latencies.push(latency);
  }

  gaveUp(): void {
    this.#given++;
  }

  refused(): void {
    this.#refusals++;
  }

  admitted(sizes: number, own: number): void {
    this.#admitted++;
    const from = Math.max(0, Math.ceil(crossingPlace(sizes - own)));
    const to = Math.min(CROSSING_COUNT - 1, Math.floor(crossingPlace(sizes)));
    for (let k = from; k <= to; k++) this.#crossed[k]! += 1;
  }

  reset(): void {
    this.#latencies = [];
    this.#given = 0;
    this.#refusals = 0;
    this.#admitted = 0;
    this.#crossed.fill(0);
  }

  cell({ inside, sizes, busy, level, timeout }: CellMeans): Float64Array {
    const cell = new Float64Array(CELL_SIZE);
    const taken = this.#latencies.length + this.#given;
    cell[PLACE.inside] = inside;
    cell[PLACE.sizes] = sizes;
    cell[PLACE.busy] = busy;
    cell[PLACE.admitted] = (level * taken) / Math.max(1, taken + this.#refusals);
    crossingRates(this.#crossed, this.#admitted, cell.subarray(CROSSINGS, SLICES));
    for (let i = 0; i < this.#given || this.#latencies.length === 0; i++) this.#latencies.push(GIVEN_UP * timeout);
    sliceMeans(Float64Array.from(this.#latencies).sort(), cell.subarray(SLICES));
    return cell;
  }
}

/**
 * Logarithms of how often each threshold is crossed. A cell shows what happens once in some hundred requests; rarer
 * crossings follow the slope of the last that it shows, since the tail of a sum of sizes falls about geometrically.
 */
function crossingRates(crossed: Float64Array, admitted: number, into: Float64Array): void {
  const threshold = (k: number): number => CROSSING_FIRST * CROSSING_RATIO ** k;
  let firm = 0;
  for (let k = 0; k < CROSSING_COUNT; k++) if (crossed[k]! >= FIRM_COUNT) firm = k;
  for (let k = 0; k < CROSSING_COUNT; k++) into[k] = Math.log(Math.max(RARE, crossed[k]! / Math.max(1, admitted)));
  if (crossed[firm]! >= FIRM_COUNT) {
    const before = Math.max(0, firm - 2);
    const slope = firm > before ? (into[firm]! - into[before]!) / (threshold(firm) - threshold(before)) : -3;
    const falling = Math.min(slope, -0.05);
    for (let k = firm + 1; k < CROSSING_COUNT; k++) {
      into[k] = Math.max(Math.log(RARE), into[firm]! + falling * (threshold(k) - threshold(firm)));
    }
  }
  // Who reaches a threshold has passed all below it: a pod that is always above one would not have lived so long.
  for (let k = CROSSING_COUNT - 2; k >= 0; k--) into[k] = Math.max(into[k]!, into[k + 1]!);
}

/** Mean of the values in each slice. */
function sliceMeans(sorted: Float64Array, into: Float64Array): void {
  let from = 0;
  SLICE_ENDS.forEach((share, slice) => {
    const to = share * sorted.length;
    // The slice is a stretch of the empirical quantile function, so it may begin and end within a request's share.
    let sum = 0;
    let weight = 0;
    for (let i = Math.floor(from); i < to && i < sorted.length; i++) {
      const part = Math.min(i + 1, to) - Math.max(i, from);
      sum += part * sorted[i]!;
      weight += part;
    }
    into[slice] = weight > 0 ? sum / weight : 0;
    from = to;
  });
}
