/**
 * Replay: the recent past in flat columns, from which batches are drawn.
 * Owns: the ring of rows, uniform and prioritised draws (arXiv:1511.05952), and the columns as checkpoint blocks.
 * Not here: what a batch is used for (the algorithms), the long past (learn/trajectory).
 *
 * Observation, actor context and critic context are columns of their own, each with its successor, so that a learner
 * with an embedding or a global state samples exactly what it acted on. Room grows with the rows, by doubling: most
 * replays never fill, many live beside one another, and each crosses to another thread for every round of training.
 */

import type { Rng } from "../../base/index.ts";
import { END_CODE } from "../env/index.ts";
import type { NumberBlock } from "./checkpoint.ts";
import type { Transition } from "./learner.ts";
import { SumTree } from "./sum-tree.ts";

export interface ReplayWidths {
  readonly obs: number;
  readonly action: number;
  readonly actorContext: number;
  readonly criticContext: number;
}

export interface PriorityConfig {
  /** How much priorities matter: 0 draws uniformly, 1 in proportion to the error. */
  readonly alpha: number;
  /** How much of the bias that this brings is corrected by importance weights; usually annealed towards 1. */
  readonly beta: number;
  /** Added to every error, so that no row is out of reach. */
  readonly epsilon: number;
}

export type ReplayColumn =
  | "obs"
  | "action"
  | "nextObs"
  | "actorContext"
  | "nextActorContext"
  | "criticContext"
  | "nextCriticContext";

export interface ReplayOptions {
  readonly capacity: number;
  readonly widths: ReplayWidths;
  readonly priority?: PriorityConfig;
}

/** Rows that a replay has room for at first, so that the first steps do not copy everything again and again. */
const FIRST_ROOM = 64;

export class Replay {
  readonly capacity: number;
  readonly #widths: { readonly [C in ReplayColumn]: number };
  readonly #columns: { [C in ReplayColumn]: Float32Array };
  #rewards: Float32Array;
  #ends: Uint8Array;
  readonly #priority: PriorityConfig | undefined;
  readonly #tree: SumTree | undefined;
  #maxPriority = 1;
  #cursor = 0;
  #size = 0;

  constructor({ capacity, widths, priority }: ReplayOptions) {
    const { obs, action, actorContext, criticContext } = widths;
    this.capacity = capacity;
    this.#widths = {
      obs,
      action,
      nextObs: obs,
      actorContext,
      nextActorContext: actorContext,
      criticContext,
      nextCriticContext: criticContext,
    };
    const none = new Float32Array(0);
    this.#columns = {
      obs: none,
      action: none,
      nextObs: none,
      actorContext: none,
      nextActorContext: none,
      criticContext: none,
      nextCriticContext: none,
    };
    this.#rewards = none;
    this.#ends = new Uint8Array(0);
    this.#priority = priority;
    this.#tree = priority ? new SumTree(capacity) : undefined;
  }

  get size(): number {
    return this.#size;
  }

  get rewards(): Float32Array {
    return this.#rewards;
  }

  get ends(): Uint8Array {
    return this.#ends;
  }

  /** Room for this many rows; those that are there stay. */
  #makeRoom(rows: number): void {
    for (const [name, width] of this.#entries()) this.#columns[name] = enlarged(this.#columns[name], rows * width);
    this.#rewards = enlarged(this.#rewards, rows);
    const ends = new Uint8Array(rows);
    ends.set(this.#ends);
    this.#ends = ends;
  }

  /** Whether a batch would be more than the same few rows again. A policy that came without its replay has none at first. */
  hasEnoughFor(batch: number): boolean {
    return this.#size >= Math.min(batch, this.capacity);
  }

  /** Keeps a copy of the transition, in place of the oldest one when full. The caller has checked it (`checkTransition`). */
  add(transition: Transition, action: ArrayLike<number> = transition.action): void {
    const row = this.#cursor;
    const room = this.#rewards.length;
    if (row >= room) this.#makeRoom(Math.min(this.capacity, Math.max(FIRST_ROOM, 2 * room)));
    this.#write("obs", row, transition.obs);
    this.#write("action", row, action);
    this.#write("nextObs", row, transition.nextObs);
    this.#write("actorContext", row, transition.actorContext);
    this.#write("nextActorContext", row, transition.nextActorContext ?? transition.actorContext);
    this.#write("criticContext", row, transition.criticContext);
    this.#write("nextCriticContext", row, transition.nextCriticContext ?? transition.criticContext);
    this.#rewards[row] = transition.reward;
    this.#ends[row] = END_CODE[transition.end];
    // A new row has not been judged yet: it gets the highest priority seen, so that it is drawn soon.
    this.#tree?.set(row, this.#maxPriority);
    this.#cursor = (row + 1) % this.capacity;
    if (this.#size < this.capacity) this.#size += 1;
  }

  #write(name: ReplayColumn, row: number, values: ArrayLike<number> | undefined): void {
    const width = this.#widths[name];
    if (width === 0 || values === undefined) return;
    const column = this.#columns[name];
    const at = row * width;
    for (let i = 0; i < width; i++) column[at + i] = values[i]!;
  }

  /** Forgets everything; on-policy learners do so after every update. */
  clear(): void {
    this.#cursor = 0;
    this.#size = 0;
    for (let row = 0; this.#tree && row < this.capacity; row++) this.#tree.set(row, 0);
  }

  /** Draws `rows.length` rows. `weights` receives each row's importance weight: 1 when draws are uniform. */
  sample(rng: Rng, { rows, weights }: { rows: Int32Array; weights: Float32Array }): void {
    const count = rows.length;
    const tree = this.#tree;
    if (!tree || !this.#priority) {
      for (let i = 0; i < count; i++) rows[i] = rng.int(this.#size);
      weights.fill(1);
      return;
    }
    // One draw from each of `count` equal slices of the mass: the same proportions with less variance.
    const slice = tree.total / count;
    let largest = 0;
    for (let i = 0; i < count; i++) {
      const row = tree.find((i + rng.next()) * slice);
      rows[i] = row;
      const weight = ((this.#size * tree.weight(row)) / tree.total) ** -this.#priority.beta;
      weights[i] = weight;
      if (weight > largest) largest = weight;
    }
    // Weights only ever scale steps down, so that one rare row cannot blow up an update.
    for (let i = 0; i < count; i++) weights[i] = weights[i]! / largest;
  }

  /** Tells prioritised replay how wrong the prediction was for the rows just drawn. */
  setErrors(rows: Int32Array, errors: ArrayLike<number>): void {
    if (!this.#tree || !this.#priority) return;
    const { alpha, epsilon } = this.#priority;
    for (let i = 0; i < rows.length; i++) {
      const priority = (Math.abs(errors[i]!) + epsilon) ** alpha;
      this.#tree.set(rows[i]!, priority);
      if (priority > this.#maxPriority) this.#maxPriority = priority;
    }
  }

  /** Copies one column of the drawn rows into a matrix: row i goes to `into[at + i·stride …]`. */
  gather(name: ReplayColumn, rows: Int32Array, to: { into: Float32Array; at: number; stride: number }): void {
    const width = this.#widths[name];
    if (width === 0) return;
    const column = this.#columns[name];
    const { into, at, stride } = to;
    for (let i = 0; i < rows.length; i++) {
      const from = rows[i]! * width;
      const target = at + i * stride;
      for (let k = 0; k < width; k++) into[target + k] = column[from + k]!;
    }
  }

  /** The used rows as checkpoint blocks. */
  blocks(): { [name: string]: NumberBlock } {
    const out: { [name: string]: NumberBlock } = {};
    for (const [name, width] of this.#entries()) {
      if (width > 0) out[name] = this.#columns[name].slice(0, this.#size * width);
    }
    out.rewards = this.#rewards.slice(0, this.#size);
    out.ends = this.#ends.slice(0, this.#size);
    out.place = Float64Array.of(this.#cursor, this.#size, this.#maxPriority);
    const tree = this.#tree;
    if (tree) out.priorities = Float64Array.from({ length: this.#size }, (_, row) => tree.weight(row));
    return out;
  }

  /** These rows as the blocks of a replay of their own, which has room for just them; how they cross to another thread. */
  extract(rows: Int32Array): { [name: string]: NumberBlock } {
    const count = rows.length;
    const out: { [name: string]: NumberBlock } = {};
    for (const [name, width] of this.#entries()) {
      if (width === 0) continue;
      const into = new Float32Array(count * width);
      this.gather(name, rows, { into, at: 0, stride: width });
      out[name] = into;
    }
    out.rewards = Float32Array.from(rows, (row) => this.#rewards[row]!);
    out.ends = Uint8Array.from(rows, (row) => this.#ends[row]!);
    out.place = Float64Array.of(0, count, 1);
    return out;
  }

  /** Whether the blocks are those of a replay of this shape. */
  fits(blocks: { readonly [name: string]: NumberBlock }): boolean {
    const [cursor = Number.NaN, size = Number.NaN] = blocks.place ?? [];
    // A ring that had come round in another capacity would go on in the wrong place, over rows that were never written.
    const isInPlace = size === this.capacity ? cursor >= 0 && cursor < size : cursor === size;
    const isFull = (name: string, width: number) => blocks[name]?.length === size * width;
    return (
      size >= 0 &&
      size <= this.capacity &&
      isInPlace &&
      isFull("rewards", 1) &&
      isFull("ends", 1) &&
      (!this.#tree || isFull("priorities", 1)) &&
      this.#entries().every(([name, width]) => width === 0 || isFull(name, width))
    );
  }

  /** Takes over blocks that fit. */
  restore(blocks: { readonly [name: string]: NumberBlock }): void {
    if (!this.fits(blocks)) throw new RangeError("these blocks are of a replay of another shape; ask fits() first");
    const [cursor = 0, size = 0, maxPriority = 1] = blocks.place ?? [];
    if (size > this.#rewards.length) this.#makeRoom(size);
    for (const [name] of this.#entries()) this.#columns[name].set(blocks[name] ?? []);
    this.#rewards.set(blocks.rewards ?? []);
    this.#ends.set(blocks.ends ?? []);
    this.#cursor = cursor;
    this.#size = size;
    this.#maxPriority = maxPriority;
    const priorities = blocks.priorities;
    for (let row = 0; this.#tree && row < this.capacity; row++) this.#tree.set(row, priorities?.[row] ?? 0);
  }

  #entries(): [ReplayColumn, number][] {
    return Object.entries(this.#widths) as [ReplayColumn, number][];
  }
}

function enlarged(column: Float32Array, length: number): Float32Array {
  const larger = new Float32Array(length);
  larger.set(column);
  return larger;
}
