/**
 * One container as a queue in equilibrium, recomputed every step of the fluid rung.
 * Owns: how long a call's own work takes there, how long it waits for a thread, what the container can do at most, and the
 * backlog of what it cannot. Not here: shares of the node (event/machines.ts), workflows (../workflow.ts).
 *
 * Work is done by processor sharing among c = base / perRequest requests at full pace; waiting is M/M/c's by Sakasegawa's
 * approximation, which for processor sharing makes requests longer instead of later. The CPU quota is walked through period
 * by period: in each, requests run until quota and stressor have burnt it, and then stall. Threads are another M/M/c, held
 * for the own time and for all that is called from there. What exceeds the capacity piles up until the queue is full, and
 * is refused beyond; a pile is never larger than the pools that wait for it.
 */
import type { Rng } from "../../../base/index.ts";
import { mechanics } from "../../cluster/mechanics.ts";
import { CPU } from "../calibration.ts";
import type { Container } from "../event/container.ts";

const PERIOD = mechanics.quotaPeriod;
const PERIODS = 10;
/** How long the periods of one step last together. */
export const SPAN = PERIODS * PERIOD;
/** A quota this many standard deviations above what a period asks for is not walked through: it never runs out. */
const SURE = 3.5;
/** The largest of ten normal numbers is so many deviations above their mean, on average. */
const EXPECTED_PEAK = 1.54;
/** Equilibrium formulas are not asked beyond this; a backlog takes over. */
const MOST_LOAD = 0.97;
const LEAST_RUN = 0.02;
/** Below this load nobody is in anybody's way. */
const NOBODY = 0.02;
/** A pile lets through at most so many times what comes: what is called from here would swing otherwise. */
const MELTING = 2;

export interface StationLoad {
  /** Calls per millisecond. */
  rate: number;
  /** Work of a call, ms in isolation: mean, and mean of squares. */
  work: number;
  workSquared: number;
  /** Mean time that a call spends waiting for those it makes, ms. */
  downstream: number;
  /** Calls that can be here at once, with everybody else's pools full. */
  most: number;
  /** Quota periods are walked through once a step, however many parts it is taken in. */
  isNewStep: boolean;
}

export class Station {
  readonly container: Container;
  /** Chance that other requests make the work longer, and by how much of it on average when they do. */
  crowdChance = 0;
  crowdMean = 0;
  base = 1;
  usualWork = 1;
  /** By quota period: the share of it in which requests run. */
  readonly runs = new Float64Array(PERIODS).fill(1);
  isThrottled = false;
  /** Cores used in the busiest period of the step. */
  peak = 0;
  /** By period: CPU work that it begins with, as the time that a usual call takes longer for it, ms. */
  readonly crowds = new Float64Array(PERIODS);
  waitChance = 0;
  waitMean = 0;
  /** Calls that have piled up, the time they take to pass, and the share of new ones that is refused. */
  backlog = 0;
  backlogTime = 0;
  refused = 0;
  /** Mean time of the own work, ms; mean time from arrival to answer without downstream. */
  ownTime = 0;
  passTime = 0;
  /** Calls per millisecond that pass. */
  passed = 0;
  busy = 0;
  /** Core-milliseconds of CPU work that periods have left over. */
  #carried = 0;
  #meanCrowd = 0;
  #run = 1;
  #periods = 0;
  #throttledPeriods = 0;

  constructor(container: Container) {
    this.container = container;
  }

  update(load: StationLoad, rng: Rng, span: number): void {
    const { container } = this;
    const { slowdown, profile, speed, threads } = container;
    const { rate, work } = load;
    const { base } = slowdown;
    const crowd = Math.max(slowdown.perRequest, 1e-9);
    const perWork = profile.cpu / speed;
    const limit = container.limits[CPU]!;
    const stress = container.stress[CPU]!;
    // Milliseconds of work per millisecond: what comes, and what can be done while it runs.
    const offered = rate * work;
    const fullPace = Math.min(threads / base, 1 / crowd);
    const saturated = Math.min(1, limit / (fullPace * perWork + stress));
    this.base = base;
    if (load.isNewStep) this.#run = this.#walkPeriods({ load, rng, perWork, saturated, fullPace });
    const run = this.#run;
    const crowded = Math.min(MOST_LOAD, (offered * crowd) / run);
    const servers = base / crowd;
    this.crowdChance = crowded < NOBODY ? 0 : crowded ** (Math.sqrt(2 * (servers + 1)) - 1);
    this.crowdMean = 1 / (servers * (1 - crowded));
    const running = work * base * (1 + this.crowdChance * this.crowdMean);
    const stall = 1 - run;
    this.ownTime = running * (1 + stall) + (PERIOD / 2) * stall * stall + this.#meanCrowd;
    this.#updateThreads(load, fullPace, span);
    // Requests at work, on average: what the node is shared by.
    const atWork = Math.min(
      threads,
      rate * this.ownTime + (this.backlog * this.ownTime) / (this.ownTime + load.downstream),
    );
    container.demand = Number.isFinite(atWork) ? atWork : threads;
  }

  /** The periods of a step, written over what the container's clock counted: it knows of stressors only on this rung. */
  countPeriods(): void {
    const { clock, stress } = this.container;
    if (this.passed > 0 || stress[CPU]! > 0) {
      this.#periods += PERIODS;
      if (this.isThrottled) for (let p = 0; p < PERIODS; p++) if (this.runs[p]! < 1) this.#throttledPeriods++;
    }
    clock.periods = this.#periods;
    clock.throttledPeriods = this.#throttledPeriods;
  }

  /** What a quota cannot do piles up at work, so that threads are held for longer: it needs no bound of its own here. */
  #updateThreads({ rate, work, downstream, most: room }: StationLoad, fullPace: number, span: number): void {
    const { container } = this;
    const { threads } = container;
    const held = this.ownTime + downstream;
    const capacity = Math.min(fullPace / Math.max(work, 1e-9), threads / Math.max(held, 1e-9));
    const load = Math.min(MOST_LOAD, (rate * held) / threads);
    this.waitChance = load < NOBODY || (load < 0.3 && threads > 4) ? 0 : load ** (Math.sqrt(2 * (threads + 1)) - 1);
    this.waitMean = held / (threads * (1 - load));
    const full = threads + container.queueLimit;
    const cap = Math.min(room, full);
    const waiting = this.backlog;
    const piled = waiting + (rate - capacity) * span;
    this.backlog = Math.max(0, Math.min(cap, piled));
    // Beyond the callers' pools nobody is refused: they wait further up.
    this.refused = piled > full && room > full && rate > 0 ? Math.min(1, Math.max(0, 1 - capacity / rate)) : 0;
    this.backlogTime = this.backlog > 0 ? this.backlog / capacity : 0;
    // A pile that melts lets more through than comes.
    this.passed = Math.min(capacity, rate + waiting / span, MELTING * rate);
    this.passTime = this.ownTime + this.waitChance * this.waitMean + this.backlogTime;
    this.busy = Math.min(threads, rate * held + this.backlog);
  }

  /** The share of time in which requests run, and each period's own. */
  #walkPeriods({ load, rng, perWork, saturated, fullPace }: WalkOptions): number {
    const { container, runs } = this;
    const limit = container.limits[CPU]!;
    const stress = container.stress[CPU]!;
    const quota = limit * PERIOD;
    const mean = load.rate * load.work * perWork * PERIOD;
    // Work that is longer than a period burns in several of them, which smooths what a period asks for.
    const smoothing = Math.min(1, PERIOD / Math.max(load.work * this.base, 1e-9));
    const deviation = perWork * Math.sqrt(load.rate * PERIOD * load.workSquared * smoothing);
    this.usualWork = load.work;
    this.isThrottled = stress > 0 || quota < mean + SURE * deviation || this.#carried > 0;
    if (!this.isThrottled || mean === 0) {
      this.isThrottled = stress > limit;
      this.peak = Math.min(limit, stress + (mean + EXPECTED_PEAK * deviation) / PERIOD);
      if (this.isThrottled) runs.fill(Math.max(LEAST_RUN, limit / stress));
      this.crowds.fill(0);
      this.#meanCrowd = 0;
      return this.isThrottled ? runs[0]! : 1;
    }
    const sigma = Math.sqrt(Math.log(1 + (deviation / mean) ** 2));
    const burst = fullPace * perWork * PERIOD;
    // No more than all threads' work can be under way at once; the rest waits for a thread.
    const cap = container.threads * load.work * perWork;
    let sum = 0;
    let crowd = 0;
    let most = 0;
    let carried = Math.min(cap, this.#carried);
    for (let p = 0; p < PERIODS; p++) {
      const comes = mean * Math.exp(sigma * rng.normal() - (sigma * sigma) / 2);
      const wanted = Math.min(carried + comes, burst);
      let run = 1;
      if (wanted + stress * PERIOD > quota) {
        run = stress > 0 ? Math.max(saturated, (quota - wanted) / (stress * PERIOD)) : quota / wanted;
        if (run > 1) run = 1;
        if (run < LEAST_RUN) run = LEAST_RUN;
      }
      most = Math.max(most, Math.min(quota, wanted + stress * PERIOD));
      const granted = Math.max(quota - stress * run * PERIOD, LEAST_RUN * quota);
      // Processor sharing: a usual call meets all that is there, at the rate at which that is done.
      const longer = (carried / granted) * PERIOD;
      this.crowds[p] = longer;
      crowd += longer;
      carried = Math.min(cap, Math.max(0, carried + comes - Math.min(granted, burst * run)));
      runs[p] = run;
      sum += run;
    }
    this.#carried = carried < 1e-6 ? 0 : carried;
    this.#meanCrowd = crowd / PERIODS;
    this.peak = most / PERIOD;
    return sum / PERIODS;
  }
}

interface WalkOptions {
  readonly load: StationLoad;
  readonly rng: Rng;
  readonly perWork: number;
  readonly saturated: number;
  readonly fullPace: number;
}

/** How much longer so much work takes at a moment of the periods because of what was left over before. */
export const crowdedTime = ({ crowds, usualWork }: Station, moment: number, work: number): number =>
  (crowds[Math.min(PERIODS - 1, Math.floor(moment / PERIOD))]! * work) / usualWork;

/** From a moment of the periods on, how long it takes to run for so long; they begin again after the last. */
export function stalledTime(runs: Float64Array, moment: number, running: number): number {
  let left = running;
  let period = Math.min(PERIODS - 1, Math.floor(moment / PERIOD));
  let phase = moment - period * PERIOD;
  let time = 0;
  for (;;) {
    const here = runs[period]! * PERIOD - phase;
    if (here > 0) {
      if (left <= here) return time + left;
      left -= here;
    }
    time += PERIOD - phase;
    phase = 0;
    period = period + 1 < PERIODS ? period + 1 : 0;
  }
}
