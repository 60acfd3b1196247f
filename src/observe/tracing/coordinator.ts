/**
 * The tracing coordinator (3.2.1): spans in, analysed traces out.
 * Owns: the order of the steps: assemble, learn how siblings relate, find the critical path, count its signature, notice a
 * change. Not here: each step, where spans come from (a SpanSink's shell), where traces are kept (TraceStore).
 *
 * One owner per store runs this. Time is an argument, so that a recorded stream gives the same result as the live one.
 */
import type { Ms } from "../../base/index.ts";
import type { AnalysedTraces, NameTable, SpanColumns, TraceBlock } from "../telemetry/index.ts";
import { type AdmitOptions, TraceAssembler } from "./assembler.ts";
import type { AssemblerLimits } from "./assembler-limits.ts";
import { CriticalPathFinder, type CriticalPathOptions } from "./critical-path.ts";
import { type PathChange, PathChanges, type PathChangesOptions } from "./path-changes.ts";
import { type ObservedPath, PathSignatures, type PathSignaturesOptions } from "./path-signatures.ts";
import { RelationTracker, type RelationTrackerOptions } from "./relations.ts";

export interface CoordinatorOptions {
  readonly limits?: Partial<AssemblerLimits>;
  readonly path?: Omit<CriticalPathOptions, "relations">;
  readonly relations?: RelationTrackerOptions;
  readonly signatures?: PathSignaturesOptions;
  readonly changes?: PathChangesOptions;
  /** How far clocks of two instances may be apart, for paths and relations; a millisecond unless said. */
  readonly skewUs?: number;
  /** One trace in so many teaches relations, which costs more than all the rest; 16 unless said. */
  readonly learnEvery?: number;
}

export interface CollectedTraces extends AnalysedTraces {
  /** By trace: its request type and path; null where it was one too many to be kept apart. */
  readonly paths: readonly (ObservedPath | null)[];
  readonly changes: readonly PathChange[];
}

export class TracingCoordinator {
  readonly assembler: TraceAssembler;
  readonly relations: RelationTracker;
  readonly signatures: PathSignatures;
  readonly #finder: CriticalPathFinder;
  readonly #changes: PathChanges;
  readonly #learnEvery: number;
  #seen = 0;
  #criticalUs = new Float64Array(0);

  constructor(names: NameTable, options: CoordinatorOptions = {}) {
    this.assembler = new TraceAssembler(names, options.limits);
    const skewUs = options.skewUs ?? 1_000;
    this.relations = new RelationTracker({ skewUs, ...options.relations });
    this.signatures = new PathSignatures(options.signatures);
    this.#finder = new CriticalPathFinder({ skewUs, ...options.path, relations: this.relations });
    this.#changes = new PathChanges(options.changes);
    this.#learnEvery = options.learnEvery ?? 16;
  }

  /** How many spans of the batch are used. */
  admit(batch: SpanColumns, now: Ms, options?: AdmitOptions): number {
    return this.assembler.admit(batch, now, options);
  }

  /**
   * The traces that are complete by now, analysed; null when there are none. The answer is the caller's until it is given
   * back with `release`, or until the next call.
   */
  collect(now: Ms): CollectedTraces | null {
    this.assembler.advance(now);
    return this.#analysed(now);
  }

  /** Everything that waits, complete or not: a shutdown, the end of a recording. */
  flush(now: Ms): CollectedTraces | null {
    this.assembler.flush();
    return this.#analysed(now);
  }

  release({ block }: CollectedTraces): void {
    this.assembler.giveBack(block);
  }

  #analysed(now: Ms): CollectedTraces | null {
    const changes = this.#changes.advance(now);
    const block = this.assembler.take();
    if (block === null) return null;
    if (this.#criticalUs.length < block.spans.length) this.#criticalUs = new Float64Array(block.spans.length);
    const paths: (ObservedPath | null)[] = new Array(block.size);
    for (let trace = 0; trace < block.size; trace++) {
      if (this.#seen++ % this.#learnEvery === 0) this.relations.observe(block, trace);
      this.#finder.find(block, trace);
      this.#markPath(block, trace);
      const path = this.signatures.observe(block, trace, this.#finder);
      paths[trace] = path;
      if (path !== null) changes.push(...this.#changes.observe(path, now));
    }
    return { block, criticalUs: this.#criticalUs, paths, changes };
  }

  #markPath(block: TraceBlock, trace: number): void {
    const [from, to] = [block.offsets[trace]!, block.offsets[trace + 1]!];
    this.#criticalUs.fill(-1, from, to);
    for (let k = 0; k < this.#finder.length; k++) {
      const span = this.#finder.spanAt(k);
      this.#criticalUs[from + span] = this.#finder.exclusiveUs(span);
    }
  }
}
