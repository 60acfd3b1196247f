/**
 * What critical paths look like per request type: which sequences of operations, how often, how long, where the time goes.
 * Owns: the signature of a path and its aggregate. Not here: whether it has changed (path-changes.ts).
 */
import type { TraceBlock } from "../telemetry/index.ts";

/** A path as its finder holds it; places are places in the trace. */
export interface FoundPath {
  readonly length: number;
  spanAt(k: number): number;
  /** How long the span alone held up the request. */
  exclusiveUs(span: number): number;
}

/** One step of a signature. Loops are folded: `db/get` ten times in a row is one step. */
export interface PathStep {
  readonly service: string;
  readonly operation: string;
}

export interface PathAggregate {
  /** `frontend/GET /cart > cart/get > redis/HGET`. */
  readonly signature: string;
  readonly steps: readonly PathStep[];
  /** Requests whose critical path this was. */
  readonly count: number;
  readonly meanUs: number;
  readonly longestUs: number;
  /** Mean time per request that each step alone held it up. */
  readonly exclusiveUs: readonly number[];
}

export interface RequestType {
  /** The root's service and operation. */
  readonly name: string;
  readonly requests: number;
  /** Most frequent first. */
  readonly paths: readonly PathAggregate[];
  /** Requests whose path was not kept apart, because there were too many different ones. */
  readonly others: number;
}

interface Kept {
  readonly steps: readonly PathStep[];
  count: number;
  sumUs: number;
  longestUs: number;
  readonly exclusiveUs: Float64Array;
}

interface KeptType {
  readonly name: string;
  requests: number;
  others: number;
  readonly paths: Map<string, Kept>;
}

export interface PathSignaturesOptions {
  /** Request types kept; 1,000 unless said. */
  readonly mostTypes?: number;
  /** Different paths kept per request type; 200 unless said. */
  readonly mostPaths?: number;
  /** Different paths kept in all; 20,000 unless said, which is some tens of megabytes at worst. */
  readonly mostPathsInAll?: number;
}

/** What one observation turned out to be; null where it was not kept apart. */
export interface ObservedPath {
  readonly requestType: string;
  readonly signature: string;
}

export class PathSignatures {
  readonly #mostTypes: number;
  readonly #mostPaths: number;
  readonly #mostPathsInAll: number;
  #paths = 0;
  readonly #types = new Map<string, KeptType>();
  #refused = 0;

  constructor({ mostTypes = 1_000, mostPaths = 200, mostPathsInAll = 20_000 }: PathSignaturesOptions = {}) {
    this.#mostTypes = mostTypes;
    this.#mostPaths = mostPaths;
    this.#mostPathsInAll = mostPathsInAll;
  }

  /** Requests whose type was one too many. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes the path of this trace. */
  observe(block: TraceBlock, trace: number, path: FoundPath): ObservedPath | null {
    const base = block.offsets[trace]!;
    const name = nameOf(block, base);
    let type = this.#types.get(name);
    if (type === undefined) {
      if (this.#types.size >= this.#mostTypes) {
        this.#refused += 1;
        return null;
      }
      type = { name, requests: 0, others: 0, paths: new Map() };
      this.#types.set(name, type);
    }
    type.requests += 1;
    const { rows, signature } = foldedSteps(block, base, path);
    let kept = type.paths.get(signature);
    if (kept === undefined) {
      if (type.paths.size >= this.#mostPaths || this.#paths >= this.#mostPathsInAll) {
        type.others += 1;
        return null;
      }
      kept = {
        steps: stepsOf(block, rows),
        count: 0,
        sumUs: 0,
        longestUs: 0,
        exclusiveUs: new Float64Array(rows.length),
      };
      type.paths.set(signature, kept);
      this.#paths += 1;
    }
    const duration = block.durationUs(trace);
    kept.count += 1;
    kept.sumUs += duration;
    kept.longestUs = Math.max(kept.longestUs, duration);
    addExclusive(block, base, { path, into: kept.exclusiveUs });
    return { requestType: name, signature };
  }

  /** Most frequent first. */
  requestTypes(): RequestType[] {
    return [...this.#types.values()]
      .map(({ name, requests, others, paths }) => ({
        name,
        requests,
        others,
        paths: [...paths].map(aggregateOf).sort((a, b) => b.count - a.count || (a.signature < b.signature ? -1 : 1)),
      }))
      .sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1));
  }

  clear(): void {
    this.#types.clear();
    this.#paths = 0;
    this.#refused = 0;
  }
}

function aggregateOf([signature, { steps, count, sumUs, longestUs, exclusiveUs }]: [string, Kept]): PathAggregate {
  return {
    signature,
    steps,
    count,
    meanUs: sumUs / count,
    longestUs,
    exclusiveUs: Array.from(exclusiveUs, (sum) => sum / count),
  };
}

const nameOf = ({ spans, names }: TraceBlock, row: number): string =>
  `${names.text(spans.service[row]!)}/${names.text(spans.operation[row]!)}`;

const stepsOf = ({ spans, names }: TraceBlock, rows: readonly number[]): PathStep[] =>
  rows.map((row) => ({ service: names.text(spans.service[row]!), operation: names.text(spans.operation[row]!) }));

function isSameStep({ spans }: TraceBlock, a: number, b: number): boolean {
  return spans.service[a] === spans.service[b] && spans.operation[a] === spans.operation[b];
}

function foldedSteps(block: TraceBlock, base: number, path: FoundPath) {
  const rows: number[] = [];
  let signature = "";
  for (let k = 0; k < path.length; k++) {
    const row = base + path.spanAt(k);
    const before = rows.at(-1);
    if (before !== undefined && isSameStep(block, before, row)) continue;
    rows.push(row);
    signature = signature === "" ? nameOf(block, row) : `${signature} > ${nameOf(block, row)}`;
  }
  return { rows, signature };
}

function addExclusive(block: TraceBlock, base: number, { path, into }: { path: FoundPath; into: Float64Array }): void {
  let step = -1;
  for (let k = 0; k < path.length; k++) {
    const span = path.spanAt(k);
    if (k === 0 || !isSameStep(block, base + path.spanAt(k - 1), base + span)) step += 1;
    into[step]! += path.exclusiveUs(span);
  }
}
