/**
 * Which resource an instance lacks, from what telemetry says of it, of its own past and of its neighbours on the node.
 * Owns: the present and the normal of every instance's use, and the evidence drawn from them.
 * Not here: whether the instance is to blame (svm.ts), what to do about it.
 *
 * Use is against the limit, so what fills a limit shows by itself. Cache is the exception: it is full of something at all
 * times, so what shows its lack is misses among accesses. What rises for all on a node, as load does, is no one's own.
 */
import type { Ms, Resource } from "../../base/index.ts";
import { resources } from "../../base/index.ts";
import type { InstanceReading } from "../../observe/telemetry/index.ts";

export interface Evidence {
  readonly resource: Resource;
  /** How far the use of that resource is above its normal and above that of its neighbours, as a part of the limit. */
  readonly pressure: number;
  /** Its use now, null where telemetry says nothing of it. */
  readonly use: number | null;
}

interface Amounts {
  readonly values: Float64Array;
  count: number;
}

interface Known {
  node: string;
  at: number;
  limits: InstanceReading["limits"];
  accesses: { hits: number; misses: number } | null;
  readonly now: Amounts;
  readonly normal: Amounts;
}

/** Readings that the present looks back on, and the normal. */
const PRESENT = 4;
const PAST = 120;
/** Above its limit by more than this says no more. */
const MOST_USE = 2;
/** Below this nothing is pressed in particular, and what is nearest to its limit is named. */
const LEAST_PRESSURE = 0.1;
const LLC = resources.indexOf("llc");
const NETWORK = resources.indexOf("network");

export class ResourceEvidence {
  readonly #known = new Map<string, Known>();

  /** Instances that are no longer read are forgotten. */
  read(readings: readonly InstanceReading[], { isCalm }: { readonly isCalm: boolean }): void {
    const present = new Set<string>();
    for (const reading of readings) {
      present.add(reading.instance);
      this.#readOne(reading, isCalm);
    }
    for (const name of this.#known.keys()) if (!present.has(name)) this.#known.delete(name);
  }

  clear(): void {
    this.#known.clear();
  }

  /** All that are read. */
  instances(): Iterable<string> {
    return this.#known.keys();
  }

  /** What it most likely lacks; `isWay`: what the request lost is on the way to it, which no counter shows. */
  of(instance: string, { isWay }: { readonly isWay: boolean }): Evidence {
    const known = this.#known.get(instance);
    if (known === undefined || known.now.count === 0)
      return { resource: isWay ? "network" : "cpu", pressure: 0, use: null };
    const rises = this.#risesOf(known);
    let best = 0;
    for (let r = 1; r < rises.length; r++) if (rises[r]! > rises[best]!) best = r;
    if (rises[best]! < LEAST_PRESSURE) best = isWay ? NETWORK : nearestLimit(known);
    return {
      resource: resources[best] as Resource,
      pressure: rises[best]!,
      use: known.now.values[best]!,
    };
  }

  #risesOf(known: Known): Float64Array {
    const own = riseOf(known);
    const neighbours = [...this.#known.values()].filter(
      (other) => other !== known && other.node === known.node && other.now.count > 0,
    );
    if (neighbours.length < 2) return own;
    const theirs = neighbours.map(riseOf);
    return own.map((rise, r) => rise - Math.max(0, medianOf(theirs.map((each) => each[r]!))));
  }

  #readOne(reading: InstanceReading, isCalm: boolean): void {
    const { instance, node, at, use, counters, limits } = reading;
    let known = this.#known.get(instance);
    if (known === undefined) {
      known = {
        node,
        at: Number.NEGATIVE_INFINITY as Ms,
        limits,
        accesses: null,
        now: noAmounts(),
        normal: noAmounts(),
      };
      this.#known.set(instance, known);
    }
    if (use === null || counters === null || at <= known.at) return;
    const hits = counters.llcHitLocalDram + counters.llcHitRemoteDram;
    const misses = counters.llcMissLocalDram + counters.llcMissRemoteDram;
    const before = known.accesses;
    const accesses = before === null ? 0 : hits - before.hits + misses - before.misses;
    const missRatio = before !== null && accesses > 0 ? (misses - before.misses) / accesses : 0;
    if (limits !== known.limits && resources.some((r) => limits[r] !== known.limits[r])) {
      // Against another limit the same use is another number: the past is told in the new one.
      for (const [r, name] of resources.entries())
        if (r !== LLC) known.normal.values[r]! *= known.limits[name] / limits[name];
      known.limits = limits;
    }
    known.node = node;
    known.at = at;
    known.accesses = { hits, misses };
    if (before === null) return;
    const values = Float64Array.from(resources, (name, r) => Math.min(MOST_USE, r === LLC ? missRatio : use[name]));
    mix(known.now, values, PRESENT);
    if (isCalm) mix(known.normal, values, PAST);
  }
}

const noAmounts = (): Amounts => ({ values: new Float64Array(resources.length), count: 0 });

/** A mean over the last few, at first over those there are. */
function mix(into: Amounts, values: Float64Array, span: number): void {
  into.count += 1;
  const weight = Math.max(1 / into.count, 1 / span);
  for (let r = 0; r < values.length; r++) into.values[r]! += weight * (values[r]! - into.values[r]!);
}

const riseOf = ({ now, normal }: Known): Float64Array =>
  normal.count === 0 ? new Float64Array(resources.length) : now.values.map((use, r) => use - normal.values[r]!);

function nearestLimit({ now }: Known): number {
  let best = 0;
  for (let r = 1; r < now.values.length; r++) if (r !== LLC && now.values[r]! > now.values[best]!) best = r;
  return best;
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
