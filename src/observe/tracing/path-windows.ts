/**
 * Critical paths over time: which path the requests of each type took, and whose time it was, in windows of a few seconds.
 * Owns: the windows, bounded, and what they say about the last of them against those before.
 * Not here: finding paths and their signatures (critical-path.ts, path-signatures.ts), which instance is to blame for what
 * (control/localize).
 */
import type { Ms } from "../../base/index.ts";
import { seconds } from "../../base/index.ts";
import type { CollectedTraces } from "./coordinator.ts";
import type { ObservedPath } from "./path-signatures.ts";

export interface PathWindowsOptions {
  /** Of one window; 5 s unless said. */
  readonly window?: Ms;
  /** Windows that are kept; 120 unless said, ten minutes of the usual ones. */
  readonly most?: number;
  /** Different paths kept apart in one window, and instances; 500 unless said. */
  readonly mostEntries?: number;
}

export interface PathOfWindow {
  readonly signature: string;
  readonly count: number;
  readonly meanUs: number;
}

export interface RequestsOfWindow {
  readonly requestType: string;
  readonly requests: number;
  readonly meanUs: number;
  /** Most frequent first. */
  readonly paths: readonly PathOfWindow[];
  /** Requests whose path was not kept apart. */
  readonly others: number;
}

export interface PathWindow {
  readonly from: Ms;
  readonly to: Ms;
  /** Most frequent first. */
  readonly types: readonly RequestsOfWindow[];
}

/** What an instance alone held up, per request of all types. */
export interface CriticalTime {
  readonly instance: string;
  readonly service: string;
  /** Microseconds per request that was looked at, on its critical path or not. */
  readonly perRequestUs: number;
  /** Requests that had it on their critical path, of all. */
  readonly share: number;
  /** The request type that it held up most. */
  readonly requestType: string;
}

const OTHER: ObservedPath = { requestType: "(other)", signature: "(other)" };

interface KeptPath {
  count: number;
  sumUs: number;
}

interface KeptType {
  requests: number;
  sumUs: number;
  others: number;
  readonly paths: Map<string, KeptPath>;
}

interface KeptInstance {
  readonly service: number;
  us: number;
  requests: number;
  readonly byType: Map<string, number>;
}

interface Kept {
  readonly from: number;
  requests: number;
  entries: number;
  readonly types: Map<string, KeptType>;
  readonly instances: Map<number, KeptInstance>;
}

export class PathWindows {
  readonly #window: number;
  readonly #most: number;
  readonly #mostEntries: number;
  /** Oldest first. */
  #kept: Kept[] = [];
  #names: CollectedTraces["block"]["names"] | undefined;
  #newest = 0;

  constructor({ window = seconds(5), most = 120, mostEntries = 500 }: PathWindowsOptions = {}) {
    this.#window = window;
    this.#most = most;
    this.#mostEntries = mostEntries;
  }

  /** A trace belongs to the window in which its request began. Those of before all windows, or of the future, are left out. */
  observe({ block, criticalUs, paths }: CollectedTraces, now: Ms): void {
    this.#names = block.names;
    this.#newest = Math.max(this.#newest, now);
    for (let trace = 0; trace < block.size; trace++) {
      const path = paths[trace] ?? OTHER;
      const base = block.offsets[trace]!;
      const window = this.#windowAt(block.spans.startUs[base]! / 1_000);
      if (window === undefined) continue;
      const durationUs = block.durationUs(trace);
      window.requests += 1;
      this.#countPath(window, path, durationUs);
      const end = block.offsets[trace + 1]!;
      for (let row = base; row < end; row++) {
        if (criticalUs[row]! < 0) continue;
        const instance = block.spans.instance[row]!;
        let kept = window.instances.get(instance);
        if (kept === undefined) {
          if (window.instances.size >= this.#mostEntries) continue;
          kept = { service: block.spans.service[row]!, us: 0, requests: 0, byType: new Map() };
          window.instances.set(instance, kept);
        }
        kept.us += criticalUs[row]!;
        kept.requests += 1;
        kept.byType.set(path.requestType, (kept.byType.get(path.requestType) ?? 0) + criticalUs[row]!);
      }
    }
  }

  /** Oldest first; the last may still grow. */
  windows(requestType?: string): PathWindow[] {
    return this.#kept.map(({ from, types }) => ({
      from: from as Ms,
      to: (from + this.#window) as Ms,
      types: [...types]
        .filter(([name]) => requestType === undefined || name === requestType)
        .map(([name, type]) => requestsOf(name, type))
        .sort((a, b) => b.requests - a.requests || (a.requestType < b.requestType ? -1 : 1)),
    }));
  }

  /** Over the windows that began in the given time; by instance, whoever held up most first. */
  criticalTimes(from: Ms, to: Ms): CriticalTime[] {
    const names = this.#names;
    const chosen = this.#kept.filter((window) => window.from >= from && window.from < to);
    const requests = chosen.reduce((sum, window) => sum + window.requests, 0);
    if (names === undefined || requests === 0) return [];
    const sums = new Map<number, KeptInstance>();
    for (const { instances } of chosen) {
      for (const [instance, { service, us, requests: own, byType }] of instances) {
        const sum = sums.get(instance) ?? { service, us: 0, requests: 0, byType: new Map() };
        sums.set(instance, sum);
        sum.us += us;
        sum.requests += own;
        for (const [type, typeUs] of byType) sum.byType.set(type, (sum.byType.get(type) ?? 0) + typeUs);
      }
    }
    return [...sums]
      .map(([instance, { service, us, requests: own, byType }]) => ({
        instance: names.text(instance),
        service: names.text(service),
        perRequestUs: us / requests,
        share: Math.min(1, own / requests),
        requestType: [...byType].reduce((most, one) => (one[1] > most[1] ? one : most), ["", -1])[0],
      }))
      .sort((a, b) => b.perRequestUs - a.perRequestUs || (a.instance < b.instance ? -1 : 1));
  }

  #countPath(window: Kept, path: ObservedPath, durationUs: number): void {
    let type = window.types.get(path.requestType);
    if (type === undefined) {
      if (window.entries >= this.#mostEntries) return;
      window.entries += 1;
      type = { requests: 0, sumUs: 0, others: 0, paths: new Map() };
      window.types.set(path.requestType, type);
    }
    type.requests += 1;
    type.sumUs += durationUs;
    let kept = type.paths.get(path.signature);
    if (kept === undefined) {
      if (window.entries >= this.#mostEntries) {
        type.others += 1;
        return;
      }
      window.entries += 1;
      kept = { count: 0, sumUs: 0 };
      type.paths.set(path.signature, kept);
    }
    kept.count += 1;
    kept.sumUs += durationUs;
  }

  #windowAt(ms: number): Kept | undefined {
    const from = this.#window * Math.floor(ms / this.#window);
    const latest = this.#window * Math.floor(this.#newest / this.#window);
    if (from > latest || from <= latest - this.#most * this.#window) return undefined;
    let at = this.#kept.length;
    while (at > 0 && this.#kept[at - 1]!.from > from) at -= 1;
    const before = this.#kept[at - 1];
    if (before?.from === from) return before;
    const fresh: Kept = { from, requests: 0, entries: 0, types: new Map(), instances: new Map() };
    this.#kept.splice(at, 0, fresh);
    this.#kept = this.#kept.filter((window) => window.from > latest - this.#most * this.#window);
    return fresh;
  }
}

function requestsOf(requestType: string, { requests, sumUs, others, paths }: KeptType): RequestsOfWindow {
  return {
    requestType,
    requests,
    others,
    meanUs: sumUs / requests,
    paths: [...paths]
      .map(([signature, { count, sumUs: us }]) => ({ signature, count, meanUs: us / count }))
      .sort((a, b) => b.count - a.count || (a.signature < b.signature ? -1 : 1)),
  };
}
