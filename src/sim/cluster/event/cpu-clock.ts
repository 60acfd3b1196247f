/**
 * A pod's CPU under a quota, advanced in one step over any number of quota periods.
 * Owns: processor sharing among the threads that want to run, the quota per period, the throttled time between.
 * Not here: which requests run (engine/running-set.ts), what they do next (event-world.ts).
 *
 * Virtual time is the trick. Threads share cores equally, as the kernel's fair scheduler does it inside a control group,
 * so at any moment all of them advance at the same pace: one while there are cores for all, less when there are not,
 * zero while throttled. Virtual time advances at that pace; a request that needs `v` more of it is done when it has
 * advanced by `v`, whoever comes and goes. Both directions, how far it gets by a moment and when it will have got
 * somewhere, have closed forms, so no event is needed for the end of a period or of a throttling.
 */
import { mechanics } from "../mechanics.ts";

const PERIOD = mechanics.quotaPeriod;

export interface CpuClockOptions {
  readonly at: number;
  /** When the first period ends, after `at`. */
  readonly phase: number;
  /** The limit, in cores. */
  readonly limit: number;
  /** Cores that its threads can run on at once. */
  readonly cores: number;
}

export class CpuClock {
  /** Milliseconds at full pace. */
  virtual = 0;
  /** Core-milliseconds. */
  used = 0;
  /** Threads that want to run. */
  demand = 0;
  #at: number;
  #periodEnd: number;
  /** Core-milliseconds per period, and what is left of them in this one. */
  #quota: number;
  #left: number;
  #cores: number;

  constructor({ at, phase, limit, cores }: CpuClockOptions) {
    this.#at = at;
    this.#periodEnd = at + phase;
    this.#quota = limit * PERIOD;
    this.#left = this.#quota;
    this.#cores = cores;
  }

  /** Must be called before `demand` or a limit changes. */
  advance(now: number): void {
    const demand = this.demand;
    const at = this.#at;
    this.#at = now;
    if (demand <= 0) {
      if (now >= this.#periodEnd) {
        this.#periodEnd += (Math.floor((now - this.#periodEnd) / PERIOD) + 1) * PERIOD;
        this.#left = this.#quota;
      }
      return;
    }
    const burn = demand < this.#cores ? demand : this.#cores;
    const most = this.#left / burn;
    let ran: number;
    if (now < this.#periodEnd) {
      ran = now - at;
      if (ran > most) ran = most;
      this.#left -= ran * burn;
      if (this.#left < 0) this.#left = 0;
    } else {
      ran = this.#periodEnd - at;
      if (ran > most) ran = most;
      const perPeriod = this.#quota / burn;
      const rest = now - this.#periodEnd;
      const whole = Math.floor(rest / PERIOD);
      if (whole > 0) ran += whole * (perPeriod < PERIOD ? perPeriod : PERIOD);
      let last = rest - whole * PERIOD;
      if (last > perPeriod) last = perPeriod;
      ran += last;
      this.#left = this.#quota - last * burn;
      this.#periodEnd += (whole + 1) * PERIOD;
    }
    this.used += ran * burn;
    this.virtual += (ran * burn) / demand;
  }

  /** When virtual time reaches the target, if nothing changes before. Only while something wants to run. */
  timeOf(target: number): number {
    const demand = this.demand;
    const burn = demand < this.#cores ? demand : this.#cores;
    let run = ((target - this.virtual) * demand) / burn;
    if (run <= 0) return this.#at;
    let most = this.#left / burn;
    const left = this.#periodEnd - this.#at;
    if (most > left) most = left;
    if (run <= most) return this.#at + run;
    run -= most;
    let perPeriod = this.#quota / burn;
    if (perPeriod > PERIOD) perPeriod = PERIOD;
    const whole = Math.ceil(run / perPeriod) - 1;
    return this.#periodEnd + whole * PERIOD + (run - whole * perPeriod);
  }

  /** A new limit is granted in full at once, as the kernel does it when the quota is written. */
  setLimit(limit: number): void {
    this.#quota = limit * PERIOD;
    this.#left = this.#quota;
  }

  setCores(cores: number): void {
    this.#cores = cores;
  }

  /** Nothing runs any more; what was used stays counted. */
  clear(): void {
    this.demand = 0;
  }
}
