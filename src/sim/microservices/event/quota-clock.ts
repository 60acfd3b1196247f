/**
 * How far the requests of one container get, under a CPU quota per period.
 * Owns: virtual time (all requests at work advance equally), the quota, the throttled time between.
 * Not here: how fast they advance (../slowdown.ts), which they are (the running set of the cluster world).
 *
 * As in the cluster world's CpuClock, both directions have closed forms over any number of periods, so no event is needed
 * for the end of a period or of a throttling. Here pace and burn are given: a request that waits for memory advances
 * slowly and burns little CPU, and a stressor in the container burns the quota of both.
 */
import { mechanics } from "../../cluster/mechanics.ts";

const PERIOD = mechanics.quotaPeriod;
/** A burn of exactly the limit uses a period up and is not throttled, whatever rounding says. */
const ROUNDING = 1e-7;

export interface QuotaClockOptions {
  readonly at: number;
  /** When the first period ends, after `at`. */
  readonly phase: number;
  /** In cores. */
  readonly limit: number;
}

export class QuotaClock {
  /** Milliseconds of work that each request has done. */
  virtual = 0;
  /** Core-milliseconds burnt, by requests and stressors. */
  used = 0;
  /** Milliseconds in which it was not throttled although something wanted to run. */
  ran = 0;
  /** Periods that are over in which something ran, and those of them in which the quota ran out, as in cgroups' cpu.stat. */
  periods = 0;
  throttledPeriods = 0;
  /** Of a period, core-milliseconds: the most since it was last taken. */
  #peak = 0;
  /** Of the period under way. */
  #isActive = false;
  #isThrottled = false;
  #pace = 0;
  #burn = 0;
  #at: number;
  #periodEnd: number;
  #quota: number;
  #left: number;

  constructor({ at, phase, limit }: QuotaClockOptions) {
    this.#at = at;
    this.#periodEnd = at + phase;
    this.#quota = limit * PERIOD;
    this.#left = this.#quota;
  }

  /** Must be called before pace, burn or limit change. */
  advance(now: number): void {
    const at = this.#at;
    this.#at = now;
    const burn = this.#burn;
    const most = burn > 0 ? this.#left / burn : Number.POSITIVE_INFINITY;
    let ran: number;
    if (burn > 0 && now > at) this.#isActive = true;
    if (now < this.#periodEnd) {
      ran = now - at;
      if (ran > most) {
        if (ran - most > ROUNDING) this.#isThrottled = true;
        ran = most;
      }
      this.#left -= ran * burn;
      if (this.#left < 0) this.#left = 0;
    } else {
      ran = this.#periodEnd - at;
      if (ran > most) {
        if (ran - most > ROUNDING) this.#isThrottled = true;
        ran = most;
      }
      const perPeriod = burn > 0 ? this.#quota / burn : PERIOD;
      const rest = now - this.#periodEnd;
      const whole = Math.floor(rest / PERIOD);
      const inPeriod = this.#quota - this.#left + ran * burn;
      if (inPeriod > this.#peak) this.#peak = inPeriod;
      if (whole > 0) this.#peak = Math.max(this.#peak, Math.min(this.#quota, burn * PERIOD));
      if (whole > 0) ran += whole * (perPeriod < PERIOD ? perPeriod : PERIOD);
      let last = rest - whole * PERIOD;
      this.#count(burn > 0 ? whole : 0, PERIOD - perPeriod > ROUNDING);
      this.#isActive = burn > 0 && last > 0;
      this.#isThrottled = last - perPeriod > ROUNDING;
      if (last > perPeriod) last = perPeriod;
      ran += last;
      this.#left = this.#quota - last * burn;
      this.#periodEnd += (whole + 1) * PERIOD;
    }
    this.used += ran * burn;
    if (this.#pace > 0) this.ran += ran;
    this.virtual += ran * this.#pace;
  }

  /** Cores that were used on average in the busiest period that ended since the last call. */
  takePeak(): number {
    const peak = this.#peak / PERIOD;
    this.#peak = 0;
    return peak;
  }

  /** The period that was under way, and whole ones after it. */
  #count(whole: number, areThrottled: boolean): void {
    this.periods += whole;
    if (areThrottled) this.throttledPeriods += whole;
    if (!this.#isActive) return;
    this.periods++;
    if (this.#isThrottled) this.throttledPeriods++;
  }

  /** Work per millisecond of each request while not throttled, and cores burnt meanwhile. */
  set(pace: number, burn: number): void {
    this.#pace = pace;
    this.#burn = burn;
  }

  /** When virtual time reaches the target, if nothing changes before. */
  timeOf(target: number): number {
    const burn = this.#burn;
    let run = (target - this.virtual) / this.#pace;
    if (run <= 0) return this.#at;
    let most = burn > 0 ? this.#left / burn : Number.POSITIVE_INFINITY;
    const left = this.#periodEnd - this.#at;
    if (most > left) most = left;
    if (run <= most) return this.#at + run;
    run -= most;
    let perPeriod = burn > 0 ? this.#quota / burn : PERIOD;
    if (perPeriod > PERIOD) perPeriod = PERIOD;
    const whole = Math.ceil(run / perPeriod) - 1;
    return this.#periodEnd + whole * PERIOD + (run - whole * perPeriod);
  }

  /** A new limit is granted in full at once, as the kernel does it when the quota is written. */
  setLimit(limit: number): void {
    this.#quota = limit * PERIOD;
    this.#left = this.#quota;
  }
}
