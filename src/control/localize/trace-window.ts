/**
 * The requests of one type over the last seconds, and what is normal for them.
 * Owns: which traces count now, the sums that features are made of, and the slow average that `above normal` is against.
 * Not here: what features are made of them (features.ts).
 *
 * A trace becomes part of the normal when it leaves the window, and only while requests of its type are calm: an anomaly
 * that lasts must not become normal by lasting. A window is calm again when all but a hundredth of the slow ones have left.
 */
import type { Habits } from "./habits.ts";
import type { TraceTimes, Way } from "./trace-times.ts";

export interface WindowOptions {
  readonly windowUs: number;
  /** More of one type in a window are forgotten, the oldest first. */
  readonly mostTraces: number;
  /** Traces that the normal looks back on. */
  readonly memory: number;
  /** Told of what comes and goes, whatever its type. */
  readonly habits?: Habits;
}

/** One instance in the requests of one type. */
export interface InstanceTimes {
  readonly instance: string;
  readonly service: string;
  readonly isBackground: boolean;
  /** By trace of the window; 0 where it took no part. */
  readonly ownUs: Float64Array;
  /** In how many it took part. */
  readonly count: number;
  /** Mean own time per request in calm times; null where nothing is known of them. */
  readonly normalUs: number | null;
}

/** The way between two instances in the requests of one type. */
export interface WayTimes {
  readonly caller: string;
  readonly callee: string;
  readonly isApart: boolean;
  /** In the window. */
  readonly calls: number;
  /** Mean time of one call's way, now and in calm times; null where nothing is known of them. */
  readonly perCallUs: number;
  readonly normalUs: number | null;
}

export interface RequestTimes {
  readonly request: string;
  readonly operation: string;
  readonly totalUs: Float64Array;
  /** Mean of the whole time in calm times; null where nothing is known. */
  readonly normalTotalUs: number | null;
  readonly instances: readonly InstanceTimes[];
  readonly ways: readonly WayTimes[];
}

/** Without an SLO, calm is what does not take that many times as long as it used to. */
const CALM_WITHOUT_SLO = 1.3;
/** So many traces make a normal. */
const ENOUGH = 30;
/** And so many calls that of a way. */
const ENOUGH_CALLS = 5;

export class TraceWindow {
  readonly request: string;
  readonly operation: string;
  readonly #options: WindowOptions;
  #traces: TraceTimes[] = [];
  #seen = 0;
  #totalUs = 0;
  readonly #normal = new Map<string, number>();
  readonly #normalWays = new Map<string, { calls: number; perCallUs: number }>();

  constructor(first: TraceTimes, options: WindowOptions) {
    this.request = first.request;
    this.operation = first.operation;
    this.#options = options;
  }

  get size(): number {
    return this.#traces.length;
  }

  get hasNormal(): boolean {
    return this.#seen >= ENOUGH;
  }

  add(times: TraceTimes): void {
    this.#traces.push(times);
    if (times.marks !== null) this.#options.habits?.enter(times.marks);
  }

  /** Lets go of what has left the window; of calm times it is remembered. */
  advance(nowUs: number, sloUs: number | null): void {
    const { windowUs, mostTraces } = this.#options;
    const oldest = nowUs - windowUs;
    const leaving = this.#traces.filter(({ endUs }) => endUs <= oldest);
    let staying = leaving.length === 0 ? this.#traces : this.#traces.filter(({ endUs }) => endUs > oldest);
    if (staying.length > mostTraces) {
      for (const times of staying.slice(0, staying.length - mostTraces)) this.#leave(times, false);
      staying = staying.slice(staying.length - mostTraces);
    }
    if (leaving.length > 0) {
      const isToRemember = isCalm(staying, sloUs, this.hasNormal ? this.#totalUs : null);
      for (const times of leaving) {
        if (isToRemember) this.#remember(times);
        this.#leave(times, isToRemember);
      }
    }
    this.#traces = staying;
  }

  /** Takes all that the window holds as normal and empties it. */
  settle(): void {
    for (const times of this.#traces) {
      this.#remember(times);
      this.#leave(times, true);
    }
    this.#traces = [];
  }

  #leave({ marks }: TraceTimes, isCalm: boolean): void {
    if (marks !== null) this.#options.habits?.leave(marks, { isCalm });
  }

  /** Whether more of them take longer than a 99th percentile forgives. */
  isLate(sloUs: number): boolean {
    return isLate(totalsOf(this.#traces), sloUs);
  }

  meanUs(): number | null {
    return this.#traces.length === 0 ? null : meanOf(totalsOf(this.#traces));
  }

  times(): RequestTimes {
    const found = new Map<string, { service: string; isBackground: boolean; own: Float64Array; n: number }>();
    const traces = this.#traces;
    for (const [k, { parts }] of traces.entries()) {
      for (const { instance, service, ownUs, isBackground } of parts) {
        let entry = found.get(instance);
        if (entry === undefined) {
          entry = { service, isBackground: true, own: new Float64Array(traces.length), n: 0 };
          found.set(instance, entry);
        }
        entry.isBackground &&= isBackground;
        entry.own[k]! += ownUs;
        entry.n += 1;
      }
    }
    return {
      request: this.request,
      operation: this.operation,
      totalUs: totalsOf(traces),
      normalTotalUs: this.hasNormal ? this.#totalUs : null,
      instances: [...found].map(([instance, { service, isBackground, own, n }]) => ({
        instance,
        service,
        isBackground,
        ownUs: own,
        count: n,
        // An instance that is new in known requests took nothing before.
        normalUs: this.hasNormal ? (this.#normal.get(instance) ?? 0) : null,
      })),
      ways: this.#ways(),
    };
  }

  #ways(): readonly WayTimes[] {
    const found = new Map<string, Way>();
    for (const { ways } of this.#traces) {
      for (const { caller, callee, isApart, calls, wayUs } of ways) {
        const key = `${caller}\n${callee}`;
        const sum = found.get(key);
        if (sum === undefined) found.set(key, { caller, callee, isApart, calls, wayUs });
        else {
          sum.calls += calls;
          sum.wayUs += wayUs;
        }
      }
    }
    return [...found].map(([key, { caller, callee, isApart, calls, wayUs }]) => {
      const normal = this.#normalWays.get(key);
      const normalUs = normal !== undefined && normal.calls >= ENOUGH_CALLS ? normal.perCallUs : null;
      return { caller, callee, isApart, calls, perCallUs: wayUs / calls, normalUs };
    });
  }

  #remember({ totalUs, parts, ways }: TraceTimes): void {
    this.#seen += 1;
    const weight = Math.max(1 / this.#seen, 1 / this.#options.memory);
    this.#totalUs += weight * (totalUs - this.#totalUs);
    for (const [instance, us] of this.#normal) this.#normal.set(instance, us - weight * us);
    for (const { instance, ownUs } of parts)
      this.#normal.set(instance, (this.#normal.get(instance) ?? 0) + weight * ownUs);
    for (const { caller, callee, calls, wayUs } of ways) {
      const key = `${caller}\n${callee}`;
      let normal = this.#normalWays.get(key);
      if (normal === undefined) {
        normal = { calls: 0, perCallUs: 0 };
        this.#normalWays.set(key, normal);
      }
      normal.calls += calls;
      const share = Math.max(calls / normal.calls, Math.min(1, calls / this.#options.memory));
      normal.perCallUs += share * (wayUs / calls - normal.perCallUs);
    }
  }
}

function isCalm(traces: readonly TraceTimes[], sloUs: number | null, normalUs: number | null): boolean {
  if (traces.length === 0) return true;
  const totals = totalsOf(traces);
  if (sloUs !== null) return !isLate(totals, sloUs);
  return normalUs === null || meanOf(totals) <= CALM_WITHOUT_SLO * normalUs;
}

/** A 99th percentile forgives one in a hundred; two standard deviations more, so that few requests are not late by chance. */
const FORGIVEN = 0.01;

function isLate(totals: Float64Array, sloUs: number): boolean {
  let late = 0;
  for (const total of totals) if (total > sloUs) late += 1;
  const slack = 2 * Math.sqrt((FORGIVEN * (1 - FORGIVEN)) / totals.length);
  return late / totals.length > FORGIVEN + slack;
}

const totalsOf = (traces: readonly TraceTimes[]): Float64Array => Float64Array.from(traces, ({ totalUs }) => totalUs);

export const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By linear interpolation between order statistics. */
export function quantileOfSorted(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low]! + (at - low) * (sorted[high]! - sorted[low]!);
}
