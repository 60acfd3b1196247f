/**
 * One function on a shared platform as a few fitted numbers, and a simulator of it that a policy can learn in.
 * Owns: the numbers, what a setting makes of them, a world with the same port as the platform's simulators.
 * Not here: fitting (fit.ts), learning (train.ts).
 *
 * Calls are walked through one by one, first come, first served, as a container takes one call at a time. What no controller of this
 * function had a say in happens again as it was recorded, step by step: how many calls came, by how much the others on
 * the platform slowed them down, how much CPU a call took. What was never tried is not known, and is taken to be bad.
 */
import { type Ms, milliseconds, ok, perSecond, type Rng, ratio, type WorkloadId } from "../../../../base/index.ts";
import type { FunctionReading } from "../../../../observe/telemetry/index.ts";
import type { FunctionSetting } from "../action.ts";
import type { FunctionsPort } from "../managed-function.ts";

/** Plain data: it is saved with the advice that rests on it. */
export interface FunctionModel {
  /** ms: what the platform adds to each call; the 99th percentile of an execution where nothing is short. */
  readonly way: number;
  readonly execution: number;
  /** Sigma of the lognormal spread of executions, and by how much calls come unevenly within a step: 0 evenly, 1 all in one half. */
  readonly spread: number;
  readonly unevenness: number;
  /** Executions grow by this power of the shares that are taken away, in the range that was tried. */
  readonly sharesPower: number;
  readonly shares: { readonly least: number; readonly most: number };
  /** MiB: of a container that does nothing, what a call adds at most, the least limit that slows nobody down. */
  readonly memory: { readonly idle: number; readonly call: number; readonly least: number };
  /** ms until a container that was not there lately can work. */
  readonly coldStart: number;
}

/** A step of the world around the function, as it was. */
export interface ModelStep {
  /** Calls per second. */
  readonly offered: number;
  /** What executions took, over what the model says of that setting; core-ms of a call. */
  readonly slowdown: number;
  readonly cpu: number;
}

export interface ModelWorldOptions {
  readonly model: FunctionModel;
  readonly course: readonly ModelStep[];
  /** The step of the course that it begins with; after the last comes the first. */
  readonly from: number;
  readonly initial: FunctionSetting;
  readonly workload: WorkloadId;
  readonly slo: Ms;
  readonly step: Ms;
  readonly rng: Rng;
}

const SHARES_PER_CORE = 1_024;
/** OpenWhisk keeps a container that is not wanted for ten minutes, and takes it back in no time. */
const KEEP_ALIVE = 600_000;
/** Calls that wait longer are given up, and more than so many are refused. */
const RETENTION = 60_000;
const QUEUE = 2_000;
/** Executions at the memory at which calls begin to be killed, over those with plenty; that memory, over a call's usual peak. */
const TIGHT = 3;
const KILLED = 1.15;
/** Executions beyond this many times the usual: cores or caches are short. */
const CROWDED = 1.1;
const Z99 = 2.326;

/**
 * The mean execution at a setting, in a step in which the others slow it down so much. Shares matter where others are in the way: with
 * fewer than were ever tried, what is lost to them grows as shares shrink, and a step without them stays one. In proportion where
 * cores are short, and not at all where memory traffic is; as nobody can tell which, by the root, between the two.
 */
function meanExecution(model: FunctionModel, setting: FunctionSetting, slowdown: number): number {
  const mean = model.execution / Math.exp(Z99 * model.spread - (model.spread * model.spread) / 2);
  const fewer = Math.sqrt(Math.max(1, model.shares.least / setting.shares));
  const slowed = slowdown > CROWDED ? 1 + (slowdown - 1) * fewer : slowdown;
  return mean * settingFactor(model, setting) * slowed;
}

/** By how much a setting lengthens executions: 1 with the most shares and with all memory. */
export function settingFactor(
  { sharesPower, shares, memory }: Pick<FunctionModel, "sharesPower" | "shares" | "memory">,
  setting: Pick<FunctionSetting, "shares" | "memory">,
): number {
  const known = Math.min(shares.most, Math.max(shares.least, setting.shares));
  const byShares = (shares.most / known) ** sharesPower;
  const peak = KILLED * (memory.idle + memory.call);
  const short = Math.min(1, Math.max(0, memory.least - setting.memory) / Math.max(1, memory.least - peak));
  return byShares * (1 + (TIGHT - 1) * short);
}

export class ModelWorld implements FunctionsPort {
  readonly #options: ModelWorldOptions;
  #now = 0;
  #place: number;
  #setting: FunctionSetting;
  /** When each container is free; those that are being started are busy until then. */
  #freeAt: number[];
  /** Containers that were there lately, and until when so many are kept. */
  #warm: { count: number; until: number }[] = [];
  /** When those who wait came. */
  #queue: number[] = [];
  #reading: FunctionReading;

  constructor(options: ModelWorldOptions) {
    this.#options = options;
    this.#place = options.from;
    this.#setting = options.initial;
    this.#freeAt = new Array<number>(options.initial.containers).fill(0);
    this.#reading = this.#read(NOTHING);
  }

  get now(): Ms {
    return milliseconds(this.#now);
  }

  setting(): FunctionSetting {
    return this.#setting;
  }

  read(): FunctionReading {
    return { ...this.#reading, setting: this.#setting };
  }

  apply(_workload: WorkloadId, set: Partial<FunctionSetting>) {
    const next = { ...this.#setting, ...set };
    this.#setting = next;
    const free = this.#freeAt;
    if (free.length > next.containers) {
      this.#warm.push({ count: free.length, until: this.#now + KEEP_ALIVE });
      // Those that are free the soonest go: the others finish what they do.
      free.sort((a, b) => a - b);
      free.splice(0, free.length - next.containers);
    }
    this.#warm = this.#warm.filter(({ until }) => until > this.#now);
    const warm = Math.max(0, ...this.#warm.map(({ count }) => count));
    while (free.length < next.containers)
      free.push(this.#now + (free.length < warm ? 0 : this.#options.model.coldStart));
    return ok(undefined);
  }

  /** By whole steps. */
  advance(until: Ms): void {
    while (this.#now < until) this.#step();
  }

  #step(): void {
    const { model, course, step, rng } = this.#options;
    const around = course[this.#place % course.length] as ModelStep;
    this.#place += 1;
    const [from, to] = [this.#now, this.#now + step];
    const free = this.#freeAt;
    const setting = this.#setting;
    let busy = 0;
    for (const at of free) busy += Math.min(step, Math.max(0, at - from));
    const arrived = this.#arrive(around.offered, { from, to });
    const isKilled = setting.memory < KILLED * (model.memory.idle + model.memory.call);
    const mean = meanExecution(model, setting, around.slowdown);
    const latencies: number[] = [];
    const executions: number[] = [];
    const waits: number[] = [];
    let failed = 0;
    let next = 0;
    for (; next < this.#queue.length; next++) {
      const came = this.#queue[next] as number;
      if (from - came > RETENTION) {
        failed += 1;
        continue;
      }
      let soonest = -1;
      for (let i = 0; i < free.length; i++)
        if (soonest < 0 || (free[i] as number) < (free[soonest] as number)) soonest = i;
      const start = soonest < 0 ? to : Math.max(came, free[soonest] as number);
      if (start >= to) break;
      const execution = mean * Math.exp(model.spread * rng.normal() - (model.spread * model.spread) / 2);
      free[soonest] = start + execution;
      busy += Math.min(to, start + execution) - start;
      if (isKilled) failed += 1;
      else {
        executions.push(execution);
        waits.push(start - came);
        latencies.push(start - came + model.way + execution);
      }
    }
    this.#queue.splice(0, next);
    if (this.#queue.length > QUEUE) failed += this.#queue.splice(QUEUE).length;
    this.#now = to;
    const seconds = step / 1_000;
    const ready = free.length;
    const share = Math.min(1, busy / Math.max(1, ready * step));
    const cores = mean > 0 ? (share * ready * around.cpu) / mean : 0;
    const used = Math.min(setting.memory, model.memory.idle + model.memory.call * share);
    this.#reading = this.#read({
      latency: p99(latencies),
      execution: p99(executions),
      waiting: p99(waits),
      offered: arrived / seconds,
      completed: latencies.length / seconds,
      failed: failed / seconds,
      kills: isKilled ? failed : 0,
      cpu: ready === 0 ? null : (Math.min(cores, ready) * SHARES_PER_CORE) / (ready * setting.shares),
      memory: ready === 0 ? null : used / setting.memory,
    });
  }

  /** More in one half of the step than in the other, as a reading's step lies across two of the callers'. */
  #arrive(offered: number, { from, to }: { readonly from: number; readonly to: number }): number {
    const { model, rng } = this.#options;
    const tilt = model.unevenness * (rng.next() < 0.5 ? -1 : 1);
    const half = (to - from) / 2;
    let count = 0;
    for (const [part, rate] of [offered * (1 + tilt), offered * (1 - tilt)].entries()) {
      const end = from + (part + 1) * half;
      for (let at = from + part * half; rate > 0; count++) {
        at -= (1_000 * Math.log(1 - rng.next())) / rate;
        if (at >= end) break;
        this.#queue.push(at);
      }
    }
    return count;
  }

  #read(measured: Measured): FunctionReading {
    const { workload, slo } = this.#options;
    const time = (value: number | null) => (value === null ? null : milliseconds(value));
    return {
      workload,
      at: milliseconds(this.#now),
      setting: this.#setting,
      slo,
      ready: this.#freeAt.length,
      starting: 0,
      use: {
        cpu: measured.cpu === null ? null : ratio(measured.cpu),
        memory: measured.memory === null ? null : ratio(measured.memory),
      },
      latency: time(measured.latency),
      execution: time(measured.execution),
      waiting: time(measured.waiting),
      coldStart: time(measured.latency === null ? null : 0),
      offered: measured.offered === null ? null : perSecond(measured.offered),
      completed: perSecond(measured.completed),
      failed: perSecond(measured.failed),
      kills: measured.kills,
    };
  }
}

interface Measured {
  readonly latency: number | null;
  readonly execution: number | null;
  readonly waiting: number | null;
  readonly offered: number | null;
  readonly completed: number;
  readonly failed: number;
  readonly kills: number;
  readonly cpu: number | null;
  readonly memory: number | null;
}

const NOTHING: Measured = {
  latency: null,
  execution: null,
  waiting: null,
  offered: null,
  completed: 0,
  failed: 0,
  kills: 0,
  cpu: null,
  memory: null,
};

/** Nearest rank. */
function p99(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.ceil(0.99 * sorted.length) - 1)] as number;
}
