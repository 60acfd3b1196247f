/**
 * From trajectories to an embedding, and from the embedding's gradient back to every parameter.
 *
 *   rows of one trajectory ─► GRU, both ways ─► last states: its summary ─┐
 *   rows of the next one   ─► GRU, both ways ─► its summary ──────────────┴─► mean ─► dense, ReLU ─► dense ─► embedding
 *
 * Owns: the two networks, how trajectories of different lengths share a pass, and the way back through all of it.
 * Not here: selection and caching (bundle.ts, fingerprint.ts), optimiser and checkpoints (meta-learner.ts).
 *
 * Time is the recurrence: a step of the GRU is a step of the trajectory. Every trajectory begins from a zero state, so
 * nothing of one environment is left when the next one is read. Rows of a pass do not mix before the mean and each is
 * computed in the same order whoever stands beside it, so a summary has the same bits alone and in company: that is what
 * lets it be cached.
 */

import type { Result, Rng } from "../../base/index.ts";
import { CodedError, err, failure, ok } from "../../base/index.ts";
import type { Normaliser } from "../rl/index.ts";
import type { Kernels, Network, Ptr, RecurrentNetwork } from "../tensor/index.ts";
import {
  buildNetwork,
  buildRecurrent,
  dense,
  meanOverGroups,
  meanOverGroupsBackward,
  NULL,
  offset,
  PARAMS_AND_INPUT,
} from "../tensor/index.ts";
import type { FeatureLayout } from "./features.ts";
import { layoutText, layoutWidth } from "./features.ts";
import type { Trajectory } from "./trajectory.ts";

/** What the parameters' shapes follow from. */
export interface EncoderShape {
  readonly layout: FeatureLayout;
  /** Units of the GRU, in each direction. */
  readonly hidden: number;
  /** Layers of the GRU. */
  readonly layers: number;
  /** Widths of the dense layers before the last one. */
  readonly dense: readonly number[];
  /** Width of the embedding: the last dense layer, which has no activation. */
  readonly embedding: number;
}

export interface EncoderOptions {
  readonly shape: EncoderShape;
  /** The longest trajectory. */
  readonly steps: number;
  /** Trajectories per pass; more of them go through one after the other, except in training. */
  readonly rows: number;
  readonly trainable: boolean;
  /** Puts the columns on one scale before the GRU reads them. */
  readonly scale: Normaliser;
  readonly rng: Rng;
}

export class Encoder {
  readonly recurrent: RecurrentNetwork;
  readonly dense: Network;
  readonly #kernels: Kernels;
  readonly #options: EncoderOptions;
  readonly #width: number;
  /** [rows, summary]: summaries of a pass, and on the way back their gradients. */
  readonly #summaries: Ptr;
  /** [steps, rows, summary]: gradients of the GRU's outputs. */
  readonly #dOutputs: Ptr;
  /** [rows, embedding]. */
  readonly #dEmbeddings: Ptr;
  /** [some, summary]: cached summaries on their way to the mean; grows with the largest bundle. */
  #cached = { ptr: NULL, rows: 0 };
  /** Trajectories per environment of the pass that `backward` may go back through. */
  #pending: readonly number[] | undefined;

  constructor(kernels: Kernels, options: EncoderOptions) {
    const { shape, steps, rows, trainable, rng } = options;
    this.#kernels = kernels;
    this.#options = options;
    this.#width = layoutWidth(shape.layout);
    this.recurrent = buildRecurrent(kernels, {
      cell: "gru",
      bidirectional: true,
      inputs: this.#width,
      hidden: shape.hidden,
      layers: shape.layers,
      steps,
      batch: rows,
      trainable,
      rng: rng.fork("recurrent"),
    });
    const widths = [this.recurrent.outputs, ...shape.dense];
    this.dense = buildNetwork(kernels, {
      layers: [
        ...shape.dense.map((width, i) => dense(widths[i]!, width, "relu")),
        dense(widths.at(-1)!, shape.embedding),
      ],
      // Each environment of a pass has at least one trajectory, so there are never more of them than rows.
      batch: rows,
      trainable,
      rng: rng.fork("dense"),
    });
    const { memory } = kernels;
    this.#summaries = memory.alloc(rows * this.summaryWidth);
    this.#dOutputs = trainable ? memory.alloc(steps * rows * this.summaryWidth) : NULL;
    this.#dEmbeddings = trainable ? memory.alloc(rows * shape.embedding) : NULL;
  }

  get summaryWidth(): number {
    return this.recurrent.outputs;
  }

  /** Whether this encoder can read the trajectory. */
  check(trajectory: Trajectory): Result<void> {
    const { layout } = this.#options.shape;
    if (trajectory.values.length !== trajectory.steps * this.#width || trajectory.steps < 1) {
      return err(
        failure(
          "meta.ragged",
          `a trajectory of ${trajectory.steps} rows has ${trajectory.values.length} numbers and the encoder reads rows of ${this.#width} (${layoutText(layout)}); make trajectories with the encoder's layout`,
        ),
      );
    }
    if (trajectory.steps > this.#options.steps) {
      return err(
        failure(
          "meta.too-long",
          `a trajectory has ${trajectory.steps} rows and the encoder was built for ${this.#options.steps}; cut it where an episode ends, or build the encoder for longer ones`,
        ),
      );
    }
    return ok(undefined);
  }

  // ── Serving ──────────────────────────────────────────────────────────────────────────────────────────

  /** Each trajectory's summary, in the order given. Those of like length go through together. */
  summarise(trajectories: readonly Trajectory[]): readonly Float32Array[] {
    this.#pending = undefined;
    this.#assertReadable(trajectories);
    const { rows } = this.#options;
    const byLength = trajectories.map((_, i) => i).sort((a, b) => trajectories[b]!.steps - trajectories[a]!.steps);
    const summaries = new Array<Float32Array>(trajectories.length);
    for (let from = 0; from < byLength.length; from += rows) {
      const together = byLength.slice(from, from + rows);
      this.#readThrough(together.map((i) => trajectories[i]!));
      for (const [row, i] of together.entries()) summaries[i] = this.#copyOut(this.#summaries, row, this.summaryWidth);
    }
    return summaries;
  }

  /** The embedding of an environment from its trajectories' summaries, at least one. */
  embed(summaries: readonly Float32Array[]): Float32Array {
    this.#pending = undefined;
    const { memory } = this.#kernels;
    const cols = this.summaryWidth;
    const from = this.#roomForCached(summaries.length);
    for (const [row, summary] of summaries.entries()) memory.view(offset(from, row * cols), cols).set(summary);
    meanOverGroups(memory, { from, into: this.dense.input, groups: 1, size: summaries.length, cols });
    return this.#copyOut(this.dense.forward(1), 0, this.dense.outputs);
  }

  // ── Training ─────────────────────────────────────────────────────────────────────────────────────────

  /** One embedding per environment, each from its own trajectories, in one pass that `backward` can go back through. */
  forward(environments: readonly (readonly Trajectory[])[]): readonly Float32Array[] {
    this.#pending = undefined;
    const sizes = environments.map((bundle) => bundle.length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const { rows, trainable } = this.#options;
    if (!trainable) throw passError("the encoder is frozen and has no training pass; build it with trainable: true");
    if (sizes.length === 0 || sizes.includes(0)) {
      throw passError("an environment without trajectories has nothing to learn from; leave it out of the pass");
    }
    if (total > rows) {
      throw passError(
        `${total} trajectories were given and a pass has room for ${rows}; give fewer environments at a time, gradients add up until the step`,
      );
    }
    const all = environments.flat();
    this.#assertReadable(all);
    this.#readThrough(all);
    const { memory } = this.#kernels;
    const cols = this.summaryWidth;
    forEachGroup(sizes, ({ group, size, first }) => {
      const [from, into] = [offset(this.#summaries, first * cols), offset(this.dense.input, group * cols)];
      meanOverGroups(memory, { from, into, groups: 1, size, cols });
    });
    const embeddings = this.dense.forward(sizes.length);
    this.#pending = sizes;
    return sizes.map((_, group) => this.#copyOut(embeddings, group, this.dense.outputs));
  }

  /** For the gradient of each embedding of the last `forward`: adds to the gradients of all parameters. */
  backward(gradients: readonly ArrayLike<number>[]): void {
    const sizes = this.#pending;
    if (!sizes) {
      throw passError(
        "the pass to go back through is gone or never was; call backward once after each forward, before anything else is encoded",
      );
    }
    const { memory } = this.#kernels;
    const width = this.dense.outputs;
    if (gradients.length !== sizes.length || gradients.some((gradient) => gradient.length !== width)) {
      const found = gradients.map((gradient) => gradient.length).join(", ") || "none";
      throw passError(
        `gradients of widths ${found} were given for ${sizes.length} embeddings of ${width}; give one per embedding`,
      );
    }
    this.#pending = undefined;
    for (const [group, gradient] of gradients.entries()) {
      memory.view(offset(this.#dEmbeddings, group * width), width).set(gradient);
    }
    const cols = this.summaryWidth;
    const dMeans = this.dense.backward(sizes.length, this.#dEmbeddings, PARAMS_AND_INPUT);
    forEachGroup(sizes, ({ group, size, first }) => {
      const [from, into] = [offset(this.#summaries, first * cols), offset(dMeans, group * cols)];
      meanOverGroupsBackward(memory, { from, into, groups: 1, size, cols });
    });
    this.recurrent.lastStatesBackward(this.#summaries, this.#dOutputs);
    this.recurrent.backward(this.#dOutputs);
  }

  dispose(): void {
    const { memory } = this.#kernels;
    this.recurrent.dispose();
    this.dense.dispose();
    for (const ptr of [this.#summaries, this.#dOutputs, this.#dEmbeddings, this.#cached.ptr]) {
      if (ptr !== NULL) memory.free(ptr);
    }
  }

  /** Reads all trajectories in one pass and leaves their summaries in `#summaries`. */
  #readThrough(trajectories: readonly Trajectory[]): void {
    const { recurrent } = this;
    const f32 = this.#kernels.memory.f32;
    const width = this.#width;
    const rows = trajectories.length;
    const steps = trajectories.reduce((most, trajectory) => Math.max(most, trajectory.steps), 0);
    const isRagged = trajectories.some((trajectory) => trajectory.steps < steps);
    const input = recurrent.input >> 2;
    const mask = recurrent.mask >> 2;
    for (const [row, trajectory] of trajectories.entries()) {
      for (let t = 0; t < steps; t++) {
        const at = input + (t * rows + row) * width;
        const isThere = t < trajectory.steps;
        if (isThere) f32.set(trajectory.values.subarray(t * width, (t + 1) * width), at);
        // Masked steps do not count, but what stands in them is multiplied all the same and has to be a number.
        else f32.fill(0, at, at + width);
        f32[mask + t * rows + row] = isThere ? 1 : 0;
      }
      this.#options.scale.apply(f32, { at: input + row * width, rows: trajectory.steps, stride: rows * width });
    }
    recurrent.forward(steps, rows, isRagged ? { mask: recurrent.mask } : {});
    recurrent.lastStates(this.#summaries);
  }

  #assertReadable(trajectories: readonly Trajectory[]): void {
    for (const trajectory of trajectories) {
      const checked = this.check(trajectory);
      if (!checked.ok) throw new CodedError(checked.failure);
    }
  }

  #copyOut(block: Ptr, row: number, width: number): Float32Array {
    return this.#kernels.memory.view(offset(block, row * width), width).slice();
  }

  #roomForCached(rows: number): Ptr {
    if (rows < 1) throw passError("an embedding needs at least one summary; an environment without any is neutral");
    if (rows > this.#cached.rows) {
      const { memory } = this.#kernels;
      if (this.#cached.ptr !== NULL) memory.free(this.#cached.ptr);
      this.#cached = { ptr: memory.alloc(rows * this.summaryWidth), rows };
    }
    return this.#cached.ptr;
  }
}

interface Group {
  readonly group: number;
  readonly size: number;
  /** Rows before this group's. */
  readonly first: number;
}

function forEachGroup(sizes: readonly number[], visit: (group: Group) => void): void {
  let first = 0;
  for (const [group, size] of sizes.entries()) {
    visit({ group, size, first });
    first += size;
  }
}

/** A call that the caller could have known to be wrong: thrown, not returned. */
export function passError(message: string): CodedError {
  return new CodedError(failure("meta.pass", message));
}
