/**
 * One layer at work: its buffers, its forward and its backward pass.
 * Owns: which kernel each kind of layer calls, and in which buffer each gradient lies.
 * Not here: the order of layers (network.ts), the specs (layers.ts).
 */

import { assertNever } from "../../base/index.ts";
import type { Kernels } from "./kernels.ts";
import { ACT } from "./kernels.ts";
import type { ResolvedLayer } from "./layers.ts";
import type { Ptr } from "./memory.ts";
import { NULL, offset } from "./memory.ts";
import type { Parameter } from "./parameters.ts";

export interface Stage {
  /** [batch, outputs]. */
  readonly y: Ptr;
  /** Blocks to free with the network, besides y. */
  readonly owned: readonly Ptr[];
  forward(x: Ptr, rows: number): Ptr;
  backward(pass: BackwardPass): void;
}

/** The arguments of a backward step, in one object that the network fills anew for each stage. */
export interface BackwardPass {
  rows: number;
  /** Whether to add to the parameters' gradients. */
  params: boolean;
  /** The stage's input, as the forward pass saw it. */
  x: Ptr;
  /** Gradient of the stage's output. A hidden stage finds it in the scratch, where dx will be: dx and dy may be one. */
  dy: Ptr;
  /** Where the gradient of the input goes; NULL when nobody needs it. */
  dx: Ptr;
  /** [batch, outputs] to work in: the stage's own y when hidden (no longer needed then), else a block beside it. */
  room: Ptr;
}

interface StageRoom {
  readonly y: Ptr;
  readonly parameters: readonly Parameter[];
  readonly batch: number;
}

export function buildStage(kernels: Kernels, layer: ResolvedLayer, room: StageRoom): Stage {
  const { spec } = layer;
  switch (spec.kind) {
    case "dense":
      return new DenseStage(kernels, layer, { ...room, act: ACT[spec.activation] });
    case "activation":
      return new ActivationStage(kernels, layer, { ...room, act: ACT[spec.activation] });
    case "softmax":
      return new SoftmaxStage(kernels, layer, room);
    case "layerNorm":
      return new LayerNormStage(kernels, layer, { ...room, epsilon: spec.epsilon });
    default:
      return assertNever(spec);
  }
}

class DenseStage implements Stage {
  readonly y: Ptr;
  readonly owned: readonly Ptr[] = [];
  readonly #kernels: Kernels;
  // Not the parameters themselves: with a thousand agents each object on the way is one more wait for memory.
  readonly #weight: Ptr;
  readonly #bias: Ptr;
  readonly #dWeight: Ptr;
  readonly #dBias: Ptr;
  readonly #inputs: number;
  readonly #outputs: number;
  readonly #act: number;

  constructor(kernels: Kernels, layer: ResolvedLayer, { y, parameters, act }: StageRoom & { act: number }) {
    const [weight, bias] = parameters as [Parameter, Parameter];
    this.#kernels = kernels;
    this.#weight = weight.value;
    this.#bias = bias.value;
    this.#dWeight = weight.grad;
    this.#dBias = bias.grad;
    this.#inputs = layer.inputs;
    this.#outputs = layer.outputs;
    this.#act = act;
    this.y = y;
  }

  forward(x: Ptr, rows: number): Ptr {
    this.#kernels.linearForward(x, this.#weight, this.#bias, this.y, rows, this.#inputs, this.#outputs, this.#act);
    return this.y;
  }

  backward({ rows, params, x, dy, dx, room }: BackwardPass): void {
    const kernels = this.#kernels;
    let dz = dy;
    if (this.#act !== ACT.none || dx === dy) {
      kernels.activationBackward(this.y, dy, room, rows * this.#outputs, this.#act);
      dz = room;
    }
    if (params) {
      kernels.linearBackwardParams(x, dz, this.#dWeight, this.#dBias, rows, this.#inputs, this.#outputs);
    }
    if (dx !== NULL) kernels.linearBackwardInput(dz, this.#weight, dx, rows, this.#inputs, this.#outputs);
  }
}

class ActivationStage implements Stage {
  readonly y: Ptr;
  readonly owned: readonly Ptr[] = [];
  readonly #kernels: Kernels;
  readonly #width: number;
  readonly #act: number;

  constructor(kernels: Kernels, layer: ResolvedLayer, { y, act }: StageRoom & { act: number }) {
    this.#kernels = kernels;
    this.#width = layer.outputs;
    this.#act = act;
    this.y = y;
  }

  forward(x: Ptr, rows: number): Ptr {
    this.#kernels.activationForward(x, this.y, rows * this.#width, this.#act);
    return this.y;
  }

  backward({ rows, dy, dx }: BackwardPass): void {
    if (dx !== NULL) this.#kernels.activationBackward(this.y, dy, dx, rows * this.#width, this.#act);
  }
}

class SoftmaxStage implements Stage {
  readonly y: Ptr;
  readonly owned: readonly Ptr[] = [];
  readonly #kernels: Kernels;
  readonly #width: number;

  constructor(kernels: Kernels, layer: ResolvedLayer, { y }: StageRoom) {
    this.#kernels = kernels;
    this.#width = layer.outputs;
    this.y = y;
  }

  forward(x: Ptr, rows: number): Ptr {
    this.#kernels.softmaxForward(x, this.y, rows, this.#width);
    return this.y;
  }

  backward({ rows, dy, dx }: BackwardPass): void {
    if (dx !== NULL) this.#kernels.softmaxBackward(this.y, dy, dx, rows, this.#width);
  }
}

class LayerNormStage implements Stage {
  readonly y: Ptr;
  readonly owned: readonly Ptr[];
  readonly #kernels: Kernels;
  readonly #gamma: Parameter;
  readonly #beta: Parameter;
  readonly #width: number;
  readonly #epsilon: number;
  /** [batch, 2]: mean and 1/std of each row. */
  readonly #saved: Ptr;
  /** [2, width]: where the parameters' gradients go when nobody wants them; the kernel always computes them. */
  readonly #unwanted: Ptr;

  constructor(kernels: Kernels, layer: ResolvedLayer, room: StageRoom & { epsilon: number }) {
    this.#kernels = kernels;
    this.#gamma = room.parameters[0] as Parameter;
    this.#beta = room.parameters[1] as Parameter;
    this.#width = layer.outputs;
    this.#epsilon = room.epsilon;
    this.#saved = kernels.memory.alloc(room.batch * 2);
    this.#unwanted = kernels.memory.alloc(2 * this.#width);
    this.owned = [this.#saved, this.#unwanted];
    this.y = room.y;
  }

  forward(x: Ptr, rows: number): Ptr {
    this.#kernels.layerNormForward(
      x,
      this.#gamma.value,
      this.#beta.value,
      this.y,
      this.#saved,
      rows,
      this.#width,
      this.#epsilon,
    );
    return this.y;
  }

  backward({ rows, params, x, dy, dx, room }: BackwardPass): void {
    if (!params && dx === NULL) return;
    const dgamma = params ? this.#gamma.grad : this.#unwanted;
    const dbeta = params ? this.#beta.grad : offset(this.#unwanted, this.#width);
    const into = dx === NULL ? room : dx;
    this.#kernels.layerNormBackward(x, this.#gamma.value, this.#saved, dy, into, dgamma, dbeta, rows, this.#width);
  }
}
