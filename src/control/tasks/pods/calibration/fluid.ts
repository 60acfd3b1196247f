/**
 * Recorded loads played against a calibrated model: what a controller would have cost and missed. A fluid world.
 * Owns: how time passes in it, queues, pods that start, the guard's pace. Pure: the same arguments give the same numbers.
 * Not here: the model's numbers (calibrate.ts), controllers (prior.ts, controllers.ts).
 *
 * Steps of 15 s. What clients see in a step is a percentile over the last minute, so its strain is that of the worst of four
 * steps. What happened in a recorded minute and is no controller's doing happens again: its load, its noise, and the burst
 * that was seen in it. Bursts that could not be seen, because there was CPU to spare, are drawn from the tail that was learned
 * of those that could (capacity/bursts.ts), below what would have been seen. Requests that find no capacity wait for the next
 * steps, until clients give up.
 */
import { chanceBeyond } from "../capacity/bursts.ts";
import { bend, kneeOf, SLOPE, strainAt } from "../capacity/points.ts";
import { MOST_STRAIN } from "../capacity/strain.ts";
import type { CalibratedModel } from "./model.ts";
import { pointOf } from "./model.ts";
import type { Minute } from "./records.ts";

/** Steps of a minute. */
export const STEPS = 4;
export const STEP_MS = 15_000;
const STEP_SECONDS = 15;
/** A pod takes so many steps until it is ready: image, start, readiness. Assumed; 30 s to two minutes are usual. */
const START_STEPS = 4;
/** A fall may follow another one after a minute, and halves at most; growing doubles at most, as the usual guard has it. */
const FALLS_EVERY = 4;
/** Clients give up after so many times what the SLO allows. */
const PATIENCE = 8;
/** A draw that is the same for the same minute, whoever acts in it. */
const SPIN = 0.618_033_988_749_895;

/** The recorded life, step by step: the same for every controller. */
export interface Course {
  readonly model: CalibratedModel;
  /** Of the first step, in steps since the clock's beginning. */
  readonly first: number;
  readonly steps: number;
  /** Requests per second; and as they are measured: a mean of half a minute, known half a minute later. */
  readonly load: Float64Array;
  readonly measured: Float64Array;
  /** By minute: strain that is added whatever there is, and the knee of free millicores below which requests wait. */
  readonly noise: Float64Array;
  readonly knee: Float64Array;
  /** What there was in the first minute. */
  readonly start: { readonly pods: number; readonly size: number };
}

const DELAY = 2;

/** Minutes that were not seen are left out: nobody knows what came in them. */
export function courseOf(model: CalibratedModel, minutes: readonly Minute[]): Course {
  const origin = minutes[0]?.at ?? 0;
  const count = minutes.length === 0 ? 0 : (minutes.at(-1) as Minute).at - origin + 1;
  const load = new Float64Array(STEPS * count);
  const noise = new Float64Array(count);
  const knee = new Float64Array(count).fill(Math.log(model.free));
  const point = pointOf(model);
  const usualKnee = Math.log(model.free);
  const logWork = Math.log(Math.max(model.work, 0.01));
  for (const minute of minutes) {
    const at = minute.at - origin;
    spreadLoad(load, STEPS * at, minute);
    const { strain, size, free, peak, pods } = minute;
    const draw = (minute.at * SPIN) % 1;
    if (strain === null || minute.load <= 0) {
      knee[at] = Math.max(usualKnee, drawnKnee(model, draw, Number.POSITIVE_INFINITY) + logWork);
      continue;
    }
    const conditions = { size, free, rate: peak / pods, load: minute.load };
    const off = strain - strainAt(point, conditions);
    const seen = kneeOf(point, strain, { conditions, work: minute.work });
    const isBurst = seen.knee > seen.from && strain < MOST_STRAIN;
    noise[at] = isBurst ? 0 : Math.min(off, 0.1);
    const own = isBurst ? seen.knee : drawnKnee(model, draw, seen.from);
    knee[at] = Math.max(usualKnee, own + logWork);
  }
  const first = minutes.find((minute) => minute.size > 0);
  return {
    model,
    first: STEPS * origin,
    steps: load.length,
    load,
    measured: measuredOf(load),
    noise,
    knee,
    start: { pods: first?.pods ?? 2, size: first?.size ?? 1_000 },
  };
}

/** The most of half a minute is two of the four steps; which two, differs. */
function spreadLoad(load: Float64Array, from: number, { at, load: mean, peak }: Minute): void {
  const rest = Math.max(0, 2 * mean - peak);
  const high = at % 3;
  for (let i = 0; i < STEPS; i++) load[from + i] = i === high || i === high + 1 ? peak : rest;
}

function measuredOf(load: Float64Array): Float64Array {
  const measured = new Float64Array(load.length);
  for (let i = 0; i < load.length; i++) {
    const [one, two] = [load[Math.max(0, i - DELAY)] as number, load[Math.max(0, i - DELAY - 1)] as number];
    measured[i] = (one + two) / 2;
  }
  return measured;
}

/** A minute's own knee, of those below a limit: the logarithm of millicores for each millicore-second of a request. */
function drawnKnee({ bursts }: CalibratedModel, draw: number, below: number): number {
  const { level, excess } = bursts;
  if (level === null) return Number.NEGATIVE_INFINITY;
  const least = below === Number.POSITIVE_INFINITY ? 0 : chanceBeyond(bursts, below);
  const chance = least + draw * (1 - least);
  // Above one in twenty there is no tail: that minute is a usual one.
  return chance >= SHARE ? Number.NEGATIVE_INFINITY : level + excess * Math.log(SHARE / chance);
}
const SHARE = 0.05;

/** What a controller may look at, and where it says what it wants. One object for a whole life: it is asked millions of times. */
export interface FluidView {
  step: number;
  /** Requests per second, as measured. */
  load: number;
  strain: number;
  /** Asked for, ready, and the millicores of each. */
  pods: number;
  ready: number;
  size: number;
  /** MiB of each. */
  memory: number;
  /** Millicores that all pods use. */
  used: number;
  wantPods: number;
  wantSize: number;
  wantMemory: number;
}

export type FluidController = (view: FluidView) => void;

export interface FluidOutcome {
  /** Steps that counted, those with requests, and those that missed the SLO. */
  readonly steps: number;
  readonly asked: number;
  readonly missed: number;
  /** Dollars, by the prices of the objective. */
  readonly cost: number;
}

export interface FluidOptions {
  /** Steps from here to there count. */
  readonly from?: number;
  readonly to?: number;
  /** Gives up once more steps than this were missed. */
  readonly mostMissed?: number;
  readonly bounds: { readonly pods: Bound; readonly size: Bound };
  /** Dollars an hour of a core and of a GiB. */
  readonly prices: { readonly core: number; readonly gib: number };
}

interface Bound {
  readonly min: number;
  readonly max: number;
}

export function simulate(course: Course, controller: FluidController, options: FluidOptions): FluidOutcome {
  const { model, load, measured, noise, knee, start } = course;
  const { from = 0, to = course.steps, mostMissed = Number.POSITIVE_INFINITY, bounds, prices } = options;
  const { work, base, allowed } = model;
  const logWidth = Math.log(model.width);
  const logRate = model.rate === null ? Number.POSITIVE_INFINITY : Math.log(model.rate);
  const startMemory = Math.max(64, 1.4 * model.memory.most);
  const view: FluidView = {
    step: 0,
    load: 0,
    strain: base,
    pods: start.pods,
    ready: start.pods,
    size: start.size,
    memory: startMemory,
    used: 0,
    wantPods: start.pods,
    wantSize: start.size,
    wantMemory: startMemory,
  };
  let [sizeFell, podsFell] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  // Pods that are on their way, by the step in which they are ready.
  const coming = new Float64Array(START_STEPS + 1);
  let backlog = 0;
  // The last four steps: sizes, what was left over, requests of a pod.
  const sizes = new Float64Array(STEPS).fill(start.size);
  const frees = new Float64Array(STEPS).fill(start.size);
  const rates = new Float64Array(STEPS);
  let [counted, asked, missed, cost] = [0, 0, 0, 0];
  for (let step = 0; step < to; step++) {
    const slot = step % (START_STEPS + 1);
    view.ready = Math.min(view.pods, view.ready + (coming[slot] as number));
    coming[slot] = 0;
    view.step = step;
    view.load = measured[step] as number;
    controller(view);
    // The guard's pace.
    let size = Math.min(Math.max(view.wantSize, bounds.size.min, 0.5 * view.size), bounds.size.max, 2 * view.size + 1);
    if (size < view.size) {
      if (step - sizeFell < FALLS_EVERY) size = view.size;
      else sizeFell = step;
    }
    view.size = size;
    view.memory = view.wantMemory;
    const pods = Math.min(
      Math.max(Math.round(view.wantPods), bounds.pods.min),
      bounds.pods.max,
      view.pods + Math.max(4, view.pods),
    );
    if (pods > view.pods)
      coming[(step + START_STEPS) % (START_STEPS + 1)] =
        (coming[(step + START_STEPS) % (START_STEPS + 1)] as number) + pods - view.pods;
    if (pods < view.pods && step - podsFell >= FALLS_EVERY) {
      podsFell = step;
      view.pods = pods;
      view.ready = Math.min(view.ready, pods);
    } else if (pods > view.pods) view.pods = pods;

    const came = load[step] as number;
    const ready = Math.max(1, view.ready);
    const capacity = (ready * Math.min(size, bounds.size.max)) / work;
    backlog = Math.max(0, backlog + (came - capacity) * STEP_SECONDS);
    backlog = Math.min(backlog, (capacity * PATIENCE * allowed) / 1_000);
    view.used = Math.min(ready * size, came * work + (backlog > 0 ? ready * size : 0));
    const place = step % STEPS;
    sizes[place] = size;
    frees[place] = size - (came * work) / ready;
    rates[place] = came / ready;
    cost += step < from ? 0 : view.pods * ((prices.core * size) / 1_000 + (prices.gib * view.memory) / 1_024);
    let [leastSize, leastFree, mostRate] = [sizes[0] as number, frees[0] as number, rates[0] as number];
    for (let i = 1; i < STEPS; i++) {
      if ((sizes[i] as number) < leastSize) leastSize = sizes[i] as number;
      if ((frees[i] as number) < leastFree) leastFree = frees[i] as number;
      if ((rates[i] as number) > mostRate) mostRate = rates[i] as number;
    }
    if (step >= from) counted += 1;
    if (mostRate <= 0) {
      view.strain = Number.NaN;
      continue;
    }
    const minute = Math.floor(step / STEPS);
    const least = 0.02 * leastSize;
    const logFree = leastFree > least ? Math.log(leastFree) : Math.log(least) - 3 * (0.02 - leastFree / leastSize);
    let strain =
      base +
      (noise[minute] as number) +
      SLOPE.size * bend(logWidth - Math.log(leastSize)) +
      SLOPE.free * bend((knee[minute] as number) - logFree);
    if (logRate < Number.POSITIVE_INFINITY) strain += SLOPE.rate * bend(Math.log(mostRate) - logRate);
    if (backlog > 0) strain = Math.log(Math.exp(strain) + (1_000 * backlog) / capacity / allowed);
    view.strain = strain;
    if (step < from) continue;
    asked += 1;
    if (strain > 0) {
      missed += 1;
      if (missed > mostMissed) return { steps: counted, asked, missed, cost: Number.POSITIVE_INFINITY };
    }
  }
  return { steps: counted, asked, missed, cost: (cost * STEP_SECONDS) / 3_600 };
}
