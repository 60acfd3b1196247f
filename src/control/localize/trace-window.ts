/**
 * The requests of one type over the last seconds, and what is normal for them.
 * Owns: which traces count now, the sums that features are made of, and the slow average that `above normal` is against.
 * Not here: what features are made of them (features.ts).
 *
 * A trace becomes part of the normal when it leaves the window, and only while requests of its type are calm: an anomaly
 * that lasts must not become normal by lasting. A window is calm again when all but a hundredth of the slow ones have left.
 */
import type { TraceTimes } from "./trace-times.ts";

export interface WindowOptions {
  readonly windowUs: number;
  /** More of one type in a window are forgotten, the oldest first. */
  readonly mostTraces: number;
  /** Traces that the normal looks back on. */
  readonly memory: number;
}

/** Mean time per request: own and way. */
interface NormalPart {
  ownUs: number;
  wayUs: number;
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
  readonly meanWayUs: number;
  /** Null where nothing is known of the past. */
  readonly normal: Readonly<NormalPart> | null;
}

export interface RequestTimes {
  readonly request: string;
  readonly operation: string;
  readonly totalUs: Float64Array;
  /** Mean of the whole time in calm times; null where nothing is known. */
  readonly normalTotalUs: number | null;
  readonly instances: readonly InstanceTimes[];
}

/** Without an SLO, calm is what does not take that many times as long as it used to. */
const CALM_WITHOUT_SLO = 1.3;
/** So many traces make a normal. */
const ENOUGH = 30;

export class TraceWindow {
  readonly request: string;
  readonly operation: string;
  readonly #options: WindowOptions;
  #traces: TraceTimes[] = [];
  #seen = 0;
  #totalUs = 0;
  readonly #normal = new Map<string, NormalPart>();

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
  }

  /** Lets go of what has left the window; of calm times it is remembered. */
  advance(nowUs: number, sloUs: number | null): void {
    const { windowUs, mostTraces } = this.#options;
    const oldest = nowUs - windowUs;
    const leaving = this.#traces.filter(({ endUs }) => endUs <= oldest);
    let staying = leaving.length === 0 ? this.#traces : this.#traces.filter(({ endUs }) => endUs > oldest);
    if (staying.length > mostTraces) staying = staying.slice(staying.length - mostTraces);
    if (leaving.length > 0 && isCalm(staying, sloUs, this.hasNormal ? this.#totalUs : null))
      for (const times of leaving) this.#remember(times);
    this.#traces = staying;
  }

  /** Takes all that the window holds as normal and empties it. */
  settle(): void {
    for (const times of this.#traces) this.#remember(times);
    this.#traces = [];
  }

  /** Their 99th percentile, null of none. */
  tailUs(): number | null {
    return this.#traces.length === 0 ? null : quantileOf(totalsOf(this.#traces), 0.99);
  }

  meanUs(): number | null {
    return this.#traces.length === 0 ? null : meanOf(totalsOf(this.#traces));
  }

  times(): RequestTimes {
    const found = new Map<
      string,
      { service: string; isBackground: boolean; own: Float64Array; n: number; way: number }
    >();
    const traces = this.#traces;
    for (const [k, { parts }] of traces.entries()) {
      for (const { instance, service, ownUs, wayUs, isBackground } of parts) {
        let entry = found.get(instance);
        if (entry === undefined) {
          entry = { service, isBackground: true, own: new Float64Array(traces.length), n: 0, way: 0 };
          found.set(instance, entry);
        }
        entry.isBackground &&= isBackground;
        entry.own[k]! += ownUs;
        entry.n += 1;
        entry.way += wayUs;
      }
    }
    const never: NormalPart = { ownUs: 0, wayUs: 0 };
    return {
      request: this.request,
      operation: this.operation,
      totalUs: totalsOf(traces),
      normalTotalUs: this.hasNormal ? this.#totalUs : null,
      instances: [...found].map(([instance, { service, isBackground, own, n, way }]) => ({
        instance,
        service,
        isBackground,
        ownUs: own,
        count: n,
        meanWayUs: way / traces.length,
        // An instance that is new in known requests took nothing before.
        normal: this.hasNormal ? (this.#normal.get(instance) ?? never) : null,
      })),
    };
  }

  #remember({ totalUs, parts }: TraceTimes): void {
    this.#seen += 1;
    const weight = Math.max(1 / this.#seen, 1 / this.#options.memory);
    this.#totalUs += weight * (totalUs - this.#totalUs);
    for (const normal of this.#normal.values()) {
      normal.ownUs -= weight * normal.ownUs;
      normal.wayUs -= weight * normal.wayUs;
    }
    for (const { instance, ownUs, wayUs } of parts) {
      let normal = this.#normal.get(instance);
      if (normal === undefined) {
        normal = { ownUs: 0, wayUs: 0 };
        this.#normal.set(instance, normal);
      }
      normal.ownUs += weight * ownUs;
      normal.wayUs += weight * wayUs;
    }
  }
}

function isCalm(traces: readonly TraceTimes[], sloUs: number | null, normalUs: number | null): boolean {
  if (traces.length === 0) return true;
  const totals = totalsOf(traces);
  if (sloUs !== null) return quantileOf(totals, 0.99) <= sloUs;
  return normalUs === null || meanOf(totals) <= CALM_WITHOUT_SLO * normalUs;
}

const totalsOf = (traces: readonly TraceTimes[]): Float64Array => Float64Array.from(traces, ({ totalUs }) => totalUs);

export const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By linear interpolation between order statistics. */
export function quantileOf(values: Float64Array, share: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low]! + (at - low) * (sorted[high]! - sorted[low]!);
}
