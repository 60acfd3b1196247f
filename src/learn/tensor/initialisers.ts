/**
 * How weights begin.
 * Owns: the initialisers of the algorithms we reproduce, each drawing only from the stream it is given.
 * Not here: which layer uses which (the layer's spec says so).
 */

import type { Rng } from "../../base/index.ts";

/** A weight matrix is [inputs, outputs] row-major; a vector is [1, outputs] with `fanIn` of the layer it belongs to. */
export interface InitialShape {
  readonly rows: number;
  readonly cols: number;
  /** How many inputs feed one output of the layer. */
  readonly fanIn: number;
  /** How many outputs one input of the layer feeds. */
  readonly fanOut: number;
}

export type Initialiser = (values: Float32Array, shape: InitialShape, rng: Rng) => void;

export const zeros = (): Initialiser => constant(0);

export const constant =
  (value: number): Initialiser =>
  (values) => {
    values.fill(value);
  };

/** Uniform in ±limit. DDPG's last layers use 3e-3 (arXiv:1509.02971, section 7), so that first outputs are near zero. */
export const uniform =
  (limit: number): Initialiser =>
  (values, _shape, rng) => {
    fillUniform(values, limit, rng);
  };

/** PyTorch's default of Linear, weights and bias alike: uniform in ±1/√fanIn. */
export const torchDefault = (): Initialiser => (values, shape, rng) => {
  fillUniform(values, 1 / Math.sqrt(shape.fanIn), rng);
};

/** Glorot and Bengio (2010): uniform in ±gain·√(6/(fanIn+fanOut)). */
export const xavierUniform =
  (gain = 1): Initialiser =>
  (values, shape, rng) => {
    fillUniform(values, gain * Math.sqrt(6 / (shape.fanIn + shape.fanOut)), rng);
  };

/** He et al. (arXiv:1502.01852): uniform in ±gain·√(3/fanIn); the default gain √2 is that of ReLU. */
export const kaimingUniform =
  (gain = Math.SQRT2): Initialiser =>
  (values, shape, rng) => {
    fillUniform(values, gain * Math.sqrt(3 / shape.fanIn), rng);
  };

/**
 * Saxe et al. (arXiv:1312.6120): the shorter side's vectors are orthogonal and of length `gain`.
 * PPO uses √2 for hidden layers, 0.01 for the policy's last and 1 for the value's last.
 */
export const orthogonal =
  (gain = 1): Initialiser =>
  (values, { rows, cols }, rng) => {
    const many = Math.max(rows, cols);
    const few = Math.min(rows, cols);
    const vectors = orthonormal({ count: few, length: many, rng });
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        const entry = rows >= cols ? vectors[col * many + row] : vectors[row * many + col];
        values[row * cols + col] = gain * (entry ?? 0);
      }
    }
  };

function fillUniform(values: Float32Array, limit: number, rng: Rng): void {
  for (let i = 0; i < values.length; i++) values[i] = (2 * rng.next() - 1) * limit;
}

/** `count` vectors by Gram–Schmidt, each orthogonalised twice: once loses digits when a draw is nearly dependent. */
function orthonormal({ count, length, rng }: { count: number; length: number; rng: Rng }): Float64Array {
  const vectors = new Float64Array(count * length);
  for (let v = 0; v < count; v++) {
    const own = vectors.subarray(v * length, (v + 1) * length);
    for (let i = 0; i < length; i++) own[i] = rng.normal();
    for (let pass = 0; pass < 2; pass++) {
      for (let u = 0; u < v; u++) {
        const other = vectors.subarray(u * length, (u + 1) * length);
        subtractProjection(own, other);
      }
    }
    let squares = 0;
    for (let i = 0; i < length; i++) squares += own[i]! * own[i]!;
    const scale = 1 / Math.sqrt(squares);
    for (let i = 0; i < length; i++) own[i]! *= scale;
  }
  return vectors;
}

function subtractProjection(own: Float64Array, unit: Float64Array): void {
  let dot = 0;
  for (let i = 0; i < own.length; i++) dot += own[i]! * unit[i]!;
  for (let i = 0; i < own.length; i++) own[i]! -= dot * unit[i]!;
}
