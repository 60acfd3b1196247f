/**
 * How fast activations run side by side on one invoker.
 * Owns: the one computation that both rungs use: cores by shares, cache, memory bandwidth, network and storage.
 * Not here: who is at work (event/, fluid/).
 *
 * Cores are divided max–min by cpu.shares; nobody uses more than one, and while there is enough for all shares do nothing.
 * Those on a core fill the cache; with less of it than their working sets, misses grow by the miss-ratio curve and with
 * them the traffic of all. Where traffic exceeds the bandwidth it is divided max–min among cores, and who gets less than it
 * wants computes slower by that ratio on a core that stays busy: utilisation is flat while latency grows. Input and output
 * share theirs among transfers. Each of these conserves what it divides.
 */
import { missFactor } from "../cache-misses.ts";
import { maxMinShares, type Sharing } from "../sharing.ts";
import { SHARES_PER_CORE, START_CORES } from "./calibration.ts";
import type { FunctionProfile } from "./functions.ts";
import type { InvokerSpec } from "./invokers.ts";

/** The activations of one function that are at work on one invoker. */
export interface Cohort {
  readonly profile: FunctionProfile;
  /** cpu.shares of each container. */
  shares: number;
  computing: number;
  transferring: number;
  /** Written: progress of one of them per ms, against alone on the reference processor; cores of all of them together. */
  computeSpeed: number;
  ioSpeed: number;
  cores: number;
}

/** Speeds of those who are not there yet are what one more would get: shares scale with numbers, so a trace is enough. */
const TRACE = 1e-6;

export class Contention {
  readonly #spec: InvokerSpec;
  #demands = new Float64Array(8);
  #weights = new Float64Array(8);
  #given = new Float64Array(8);
  readonly #rest: Sharing = { slack: 0, level: 0 };

  constructor(spec: InvokerSpec) {
    this.#spec = spec;
  }

  /** Containers that are being started take cores too. */
  solve(cohorts: readonly Cohort[], starting: number): void {
    const { speed, bandwidth, cache, io } = this.#spec;
    const count = cohorts.length;
    if (count + 1 > this.#demands.length) this.#grow(count + 1);
    this.#divideCores(cohorts, starting);
    let wanted = 0;
    for (let i = 0; i < count; i++) wanted += cohorts[i]!.cores * cohorts[i]!.profile.compute.workingSet;
    const misses = missFactor(cache, wanted);
    const demands = this.#demands;
    let traffic = 0;
    let transfer = 0;
    for (let i = 0; i < count; i++) {
      const { cores, profile, transferring } = cohorts[i]!;
      demands[i] = cores * profile.compute.bandwidth * misses * speed;
      this.#weights[i] = cores;
      traffic += demands[i]!;
      transfer += transferring * profile.io.rate;
    }
    if (traffic > bandwidth) {
      this.#share(bandwidth, count);
      for (let i = 0; i < count; i++) if (demands[i]! > 0) cohorts[i]!.computeSpeed *= this.#given[i]! / demands[i]!;
    }
    if (transfer <= io) return;
    for (let i = 0; i < count; i++) {
      const { transferring, profile } = cohorts[i]!;
      const number = Math.max(TRACE, transferring);
      demands[i] = number * profile.io.rate;
      this.#weights[i] = number;
    }
    this.#share(io, count);
    for (let i = 0; i < count; i++) if (demands[i]! > 0) cohorts[i]!.ioSpeed = this.#given[i]! / demands[i]!;
  }

  #divideCores(cohorts: readonly Cohort[], starting: number): void {
    const { cores, speed } = this.#spec;
    const count = cohorts.length;
    const demands = this.#demands;
    let busy = START_CORES * starting;
    for (let i = 0; i < count; i++) busy += cohorts[i]!.computing;
    if (busy <= cores) {
      for (let i = 0; i < count; i++) {
        const cohort = cohorts[i]!;
        cohort.cores = Math.max(TRACE, cohort.computing);
        cohort.computeSpeed = speed;
        cohort.ioSpeed = 1;
      }
      return;
    }
    for (let i = 0; i < count; i++) {
      const { computing, shares } = cohorts[i]!;
      demands[i] = Math.max(TRACE, computing);
      this.#weights[i] = demands[i]! * shares;
    }
    demands[count] = START_CORES * starting;
    this.#weights[count] = SHARES_PER_CORE * starting;
    this.#share(cores, count + 1);
    for (let i = 0; i < count; i++) {
      const cohort = cohorts[i]!;
      cohort.cores = this.#given[i]!;
      cohort.computeSpeed = (speed * this.#given[i]!) / demands[i]!;
      cohort.ioSpeed = 1;
    }
  }

  #share(capacity: number, count: number): void {
    maxMinShares({ capacity, count, demands: this.#demands, weights: this.#weights }, this.#given, this.#rest);
  }

  #grow(count: number): void {
    this.#demands = new Float64Array(2 * count);
    this.#weights = new Float64Array(2 * count);
    this.#given = new Float64Array(2 * count);
  }
}
