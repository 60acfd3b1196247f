/**
 * How the children of a span relate: parallel, sequential, or background (dissertation 3.2.2).
 * Owns: the definitions on one pair, and what many executions say about a pair of operations.
 * Not here: what a critical path makes of it (critical-path.ts).
 *
 * One trace cannot show that one child waits for another: two that run side by side may happen not to overlap. So a
 * pair of operations counts as sequential only when, over enough executions, one always ended before the other began; one
 * violation ends that. Two that overlapped even once are parallel. A child is background when it outlives its parent in a notable share of executions: a client
 * that times out now and then is outlived too, and has waited nevertheless.
 */
import type { TraceBlock } from "../telemetry/index.ts";
import { isMessage } from "./clock-skew.ts";
import { childrenOf } from "./printed-path.ts";

export interface Interval {
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * Of two children of one parent: they overlap, or one ended by the time the other began. The printed condition for
 * parallel is strict on both sides and leaves out two that begin at the same microsecond; they overlap, so they count.
 */
export function relationOf(i: Interval, j: Interval): "parallel" | "sequential" {
  return i.endUs <= j.startUs || j.endUs <= i.startUs ? "sequential" : "parallel";
}

/** What the critical path asks. Rows are rows of the block. */
export interface Relations {
  isBackground(block: TraceBlock, parent: number, child: number): boolean;
  /** Known not to be sequential: that one of them ended first here is chance. */
  areParallel(block: TraceBlock, parent: number, pair: { readonly first: number; readonly second: number }): boolean;
}

export interface RelationTrackerOptions {
  /** Executions before a pair or a child is judged; 30 unless said. */
  readonly enough?: number;
  /** The share of executions that a child outlives its parent in from which it is background; 0.1 unless said. */
  readonly backgroundShare?: number;
  /** Pairs of operations kept; 100,000 unless said. Others are never judged. */
  readonly mostPairs?: number;
  /**
   * How far the clocks of two instances may be apart; 0 unless said. Siblings of two instances that overlap by no more are
   * in sequence as far as anybody can tell; where that is most of the shorter one, nothing can be told. A child in another
   * instance that ends no later than this after its parent has not outlived it.
   */
  readonly skewUs?: number;
}

/** `either-order`: one after the other, but not always the same one first; they never overlapped. */
export type PairVerdict = "first-then-second" | "second-then-first" | "either-order" | "parallel" | "unknown";

interface PairCounts {
  executions: number;
  /** Executions in which the lower-numbered operation ended by the other's start, and the other way round. */
  lowFirst: number;
  highFirst: number;
}

/** A parent with more children is looked at up to here: pairs grow with the square. */
const MOST_SIBLINGS = 32;
/** Operations are numbered below this, so that three numbers fit into one key. */
const MOST_OPERATIONS = 65_536;

export class RelationTracker implements Relations {
  readonly #enough: number;
  readonly #backgroundShare: number;
  readonly #mostPairs: number;
  readonly #skewUs: number;
  readonly #operations = new Map<number, number>();
  readonly #pairs = new Map<number, PairCounts>();
  readonly #children = new Map<number, { executions: number; outlived: number }>();

  constructor({ enough = 30, backgroundShare = 0.1, mostPairs = 100_000, skewUs = 0 }: RelationTrackerOptions = {}) {
    this.#skewUs = skewUs;
    this.#enough = enough;
    this.#backgroundShare = backgroundShare;
    this.#mostPairs = mostPairs;
  }

  observe(block: TraceBlock, trace: number): void {
    const base = block.offsets[trace]!;
    childrenOf(block, trace).forEach((children, parent) => {
      if (children.length === 0) return;
      const siblings = children.slice(0, MOST_SIBLINGS).map((child) => base + child);
      for (const child of siblings) this.#countChild(block, base + parent, child);
      for (let a = 0; a < siblings.length; a++) {
        for (let b = a + 1; b < siblings.length; b++)
          this.#countPair(block, base + parent, [siblings[a]!, siblings[b]!]);
      }
    });
  }

  /** What is known of two child operations of a parent operation; rows of the block name them. */
  verdict(block: TraceBlock, parent: number, { first, second }: { first: number; second: number }): PairVerdict {
    const [a, b] = [this.#operationOf(block, first), this.#operationOf(block, second)];
    const counts = this.#pairs.get(pairKey(this.#operationOf(block, parent), Math.min(a, b), Math.max(a, b)));
    if (counts === undefined || counts.executions < this.#enough || a === b) return "unknown";
    const { executions, lowFirst, highFirst } = counts;
    if (lowFirst === executions) return a < b ? "first-then-second" : "second-then-first";
    if (highFirst === executions) return a < b ? "second-then-first" : "first-then-second";
    return lowFirst + highFirst < executions ? "parallel" : "either-order";
  }

  areParallel(block: TraceBlock, parent: number, pair: { readonly first: number; readonly second: number }): boolean {
    return this.verdict(block, parent, pair) === "parallel";
  }

  isBackground(block: TraceBlock, parent: number, child: number): boolean {
    const counts = this.#children.get(childKey(this.#operationOf(block, parent), this.#operationOf(block, child)));
    if (counts === undefined || counts.executions < this.#enough) return false;
    return counts.outlived >= this.#backgroundShare * counts.executions;
  }

  #countChild(block: TraceBlock, parent: number, child: number): void {
    const key = childKey(this.#operationOf(block, parent), this.#operationOf(block, child));
    let counts = this.#children.get(key);
    if (counts === undefined) {
      if (this.#children.size >= this.#mostPairs) return;
      counts = { executions: 0, outlived: 0 };
      this.#children.set(key, counts);
    }
    const { endUs, kind, instance } = block.spans;
    const slack = instance[child] === instance[parent] ? 0 : this.#skewUs;
    counts.executions += 1;
    if (endUs[child]! > endUs[parent]! + slack || isMessage(kind[parent]!, kind[child]!)) counts.outlived += 1;
  }

  #countPair(block: TraceBlock, parent: number, [x, y]: readonly [number, number]): void {
    const [a, b] = [this.#operationOf(block, x), this.#operationOf(block, y)];
    if (a === b) return;
    const [low, high] = a < b ? [x, y] : [y, x];
    const { startUs, endUs, instance } = block.spans;
    const slack = instance[low] === instance[high] ? 0 : this.#skewUs;
    const overlap = Math.min(endUs[low]!, endUs[high]!) - Math.max(startUs[low]!, startUs[high]!);
    const shorter = Math.min(endUs[low]! - startUs[low]!, endUs[high]! - startUs[high]!);
    if (overlap > 0 && overlap <= slack && overlap > shorter / 2) return;
    const key = pairKey(this.#operationOf(block, parent), Math.min(a, b), Math.max(a, b));
    let counts = this.#pairs.get(key);
    if (counts === undefined) {
      if (this.#pairs.size >= this.#mostPairs) return;
      counts = { executions: 0, lowFirst: 0, highFirst: 0 };
      this.#pairs.set(key, counts);
    }
    counts.executions += 1;
    if (overlap > slack) return;
    if (startUs[low]! < startUs[high]!) counts.lowFirst += 1;
    else counts.highFirst += 1;
  }

  /** A small number for a service's operation; the last one stands for all beyond the bound. */
  #operationOf(block: TraceBlock, row: number): number {
    const key = block.spans.service[row]! * 2 ** 26 + block.spans.operation[row]!;
    const known = this.#operations.get(key);
    if (known !== undefined) return known;
    const fresh = Math.min(this.#operations.size, MOST_OPERATIONS - 1);
    if (fresh < MOST_OPERATIONS - 1) this.#operations.set(key, fresh);
    return fresh;
  }
}

const childKey = (parent: number, child: number): number => parent * MOST_OPERATIONS + child;
const pairKey = (parent: number, low: number, high: number): number => childKey(childKey(parent, low), high);
