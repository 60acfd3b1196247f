/**
 * What a network is made of, as plain data.
 * Owns: the specs of the layers, their defaults, and the check that they fit together.
 * Not here: the buffers and the arithmetic (network.ts).
 */

import { CodedError, failure } from "../../base/index.ts";
import type { Initialiser } from "./initialisers.ts";
import { constant, torchDefault } from "./initialisers.ts";
import type { ParameterSpec } from "./parameters.ts";

export type Activation = "none" | "relu" | "tanh" | "sigmoid";

export interface DenseOptions {
  readonly activation?: Activation;
  /** Default: PyTorch's, uniform in ±1/√inputs. */
  readonly weight?: Initialiser;
  /** Default: PyTorch's, uniform in ±1/√inputs. */
  readonly bias?: Initialiser;
}

export type LayerSpec =
  | {
      readonly kind: "dense";
      readonly inputs: number;
      readonly outputs: number;
      readonly activation: Activation;
      readonly weight: Initialiser;
      readonly bias: Initialiser;
    }
  | { readonly kind: "activation"; readonly activation: Activation }
  | { readonly kind: "softmax" }
  | { readonly kind: "layerNorm"; readonly epsilon: number };

/** y = activation(x·W + b), computed in one pass. */
export function dense(inputs: number, outputs: number, options: Activation | DenseOptions = "none"): LayerSpec {
  const {
    activation = "none",
    weight = torchDefault(),
    bias = torchDefault(),
  } = typeof options === "string" ? { activation: options } : options;
  return { kind: "dense", inputs, outputs, activation, weight, bias };
}

/** An activation on its own, after a layer that has none (for example after a layer norm). */
export const activation = (name: Activation): LayerSpec => ({ kind: "activation", activation: name });

/** Each row becomes a distribution. A policy's logits do not need it: the categorical head does it for them. */
export const softmax = (): LayerSpec => ({ kind: "softmax" });

/** Each row gets mean 0 and variance 1, then a learned scale and shift (arXiv:1607.06450). */
export const layerNorm = ({ epsilon = 1e-5 }: { epsilon?: number } = {}): LayerSpec => ({ kind: "layerNorm", epsilon });

/** A layer whose width is known, with what it needs from the parameter block. */
export interface ResolvedLayer {
  readonly spec: LayerSpec;
  readonly inputs: number;
  readonly outputs: number;
  readonly parameters: readonly ParameterSpec[];
}

/** Widths of layers that do not name theirs follow from the layer before, or from `inputs` for the first. */
export function resolveLayers(layers: readonly LayerSpec[], inputs: number | undefined): readonly ResolvedLayer[] {
  const first = layers[0];
  let width = inputs ?? (first?.kind === "dense" ? first.inputs : undefined);
  if (width === undefined) {
    throw shapeError(
      first === undefined
        ? "a network needs at least one layer; add a dense layer"
        : `the first layer is ${first.kind}, which has no width of its own; give the network 'inputs'`,
    );
  }
  assertWidth("inputs", width);
  const resolved: ResolvedLayer[] = [];
  for (const [index, spec] of layers.entries()) {
    if (spec.kind === "dense" && spec.inputs !== width) {
      throw shapeError(
        `layer ${index} takes ${spec.inputs} inputs and the layer before gives ${width}; make the two equal`,
      );
    }
    if (spec.kind === "dense") assertWidth(`outputs of layer ${index}`, spec.outputs);
    const outputs: number = spec.kind === "dense" ? spec.outputs : width;
    resolved.push({ spec, inputs: width, outputs, parameters: parametersOf(spec, { index, width }) });
    width = outputs;
  }
  return resolved;
}

function parametersOf(spec: LayerSpec, { index, width }: { index: number; width: number }): readonly ParameterSpec[] {
  if (spec.kind === "dense") {
    const fan = { fanIn: spec.inputs, fanOut: spec.outputs };
    return [
      { name: `${index}.weight`, rows: spec.inputs, cols: spec.outputs, ...fan, init: spec.weight },
      { name: `${index}.bias`, rows: 1, cols: spec.outputs, ...fan, init: spec.bias },
    ];
  }
  if (spec.kind === "layerNorm") {
    const shape = { rows: 1, cols: width, fanIn: width, fanOut: width };
    return [
      { name: `${index}.gamma`, ...shape, init: constant(1) },
      { name: `${index}.beta`, ...shape, init: constant(0) },
    ];
  }
  return [];
}

function assertWidth(what: string, width: number): void {
  if (!Number.isInteger(width) || width < 1) throw shapeError(`${what} must be a whole number from 1 on, got ${width}`);
}

export function shapeError(message: string): CodedError {
  return new CodedError(failure("tensor.shape", message));
}
