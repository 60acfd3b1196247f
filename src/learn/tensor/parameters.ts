/**
 * One flat block of parameters, and one of gradients, per network.
 * Flat, so that an optimiser step, a soft update and a snapshot are one call each, whatever the network's shape.
 * Owns: the table of names and shapes, allocation, copies out and in, and the check that they fit.
 * Not here: how values begin (initialisers.ts), how they change (optimiser.ts), bytes on disk (snapshot.ts).
 */

import type { Rng } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { Initialiser } from "./initialisers.ts";
import type { Memory, Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";

/** What a layer asks for, before there is memory. */
export interface ParameterSpec {
  readonly name: string;
  /** [inputs, outputs] of a weight, [1, outputs] of a vector. */
  readonly rows: number;
  readonly cols: number;
  readonly fanIn: number;
  readonly fanOut: number;
  readonly init: Initialiser;
}

/** A named slice of the block. */
export interface Parameter {
  readonly name: string;
  readonly rows: number;
  readonly cols: number;
  readonly value: Ptr;
  /** NULL in a network that is not trainable. */
  readonly grad: Ptr;
}

/** What optimisers, clipping, soft updates and snapshots need to know of any network. */
export interface Parameters {
  readonly params: Ptr;
  readonly grads: Ptr;
  readonly paramCount: number;
  readonly parameters: readonly Parameter[];
}

export class ParameterBlock implements Parameters {
  readonly params: Ptr;
  readonly grads: Ptr;
  readonly paramCount: number;
  readonly parameters: readonly Parameter[];
  readonly #memory: Memory;
  readonly #owned: boolean;

  /** With `share`, the block is another's: same values, same gradients, freed by its owner only. */
  constructor(
    memory: Memory,
    specs: readonly ParameterSpec[],
    { rng, trainable, share }: { rng: Rng; trainable: boolean; share?: Parameters | undefined },
  ) {
    this.#memory = memory;
    this.#owned = share === undefined;
    this.paramCount = specs.reduce((sum, spec) => sum + spec.rows * spec.cols, 0);
    if (share) assertSameShapes(specs, share.parameters);
    this.params = share ? share.params : memory.alloc(this.paramCount);
    this.grads = share ? share.grads : trainable ? memory.alloc(this.paramCount) : NULL;
    const table: Parameter[] = [];
    let at = 0;
    for (const { name, rows, cols, fanIn, fanOut, init } of specs) {
      const value = offset(this.params, at);
      const grad = this.grads === NULL ? NULL : offset(this.grads, at);
      table.push({ name, rows, cols, value, grad });
      // Each parameter has a stream of its own, so that one more layer does not change how the others begin.
      if (!share) init(memory.view(value, rows * cols), { rows, cols, fanIn, fanOut }, rng.fork(name));
      at += rows * cols;
    }
    this.parameters = table;
  }

  find(name: string): Parameter {
    const found = this.parameters.find((p) => p.name === name);
    if (found) return found;
    const known = this.parameters.map((p) => p.name).join(", ");
    throw new CodedError(
      failure("tensor.unknown-parameter", `the network has no parameter '${name}'; it has ${known || "none at all"}`),
    );
  }

  zeroGrads(): void {
    const from = this.grads >> 2;
    if (this.grads !== NULL) this.#memory.f32.fill(0, from, from + this.paramCount);
  }

  snapshot(): Float32Array {
    return this.#memory.view(this.params, this.paramCount).slice();
  }

  load(values: Float32Array): void {
    if (values.length !== this.paramCount) {
      throw new CodedError(
        failure(
          "tensor.snapshot-mismatch",
          `the snapshot holds ${values.length} parameters and the network has ${this.paramCount}; build the network with the layers it was saved with`,
        ),
      );
    }
    if (!values.every(Number.isFinite)) {
      throw new CodedError(
        failure(
          "tensor.snapshot-not-finite",
          "the snapshot holds a value that is not a finite number, so training had diverged when it was taken; load an earlier one",
        ),
      );
    }
    this.#memory.view(this.params, this.paramCount).set(values);
  }

  free(): void {
    if (!this.#owned) return;
    this.#memory.free(this.params);
    if (this.grads !== NULL) this.#memory.free(this.grads);
  }
}

type Shape = { readonly name: string; readonly rows: number; readonly cols: number };

function assertSameShapes(wanted: readonly Shape[], found: readonly Shape[]): void {
  const text = (shapes: readonly Shape[]) => shapes.map((s) => `${s.name} ${s.rows}x${s.cols}`).join(", ");
  if (text(wanted) === text(found)) return;
  throw new CodedError(
    failure(
      "tensor.share-mismatch",
      `parameters can only be shared between networks of one shape: wanted ${text(wanted)}, found ${text(found)}`,
    ),
  );
}
