/**
 * What the kernel suites share: operands in and out of a kernel set's memory, and the comparison with exact values.
 * The oracle's formulas stand in the suites themselves, in double precision and over plain arrays, so that nothing is
 * shared with any kernel set.
 */

import { expect } from "vitest";
import { type Rng, seededRng } from "../../../src/base/index.ts";
import { type Kernels, NULL, type Ptr } from "../../../src/learn/tensor/index.ts";

export interface Subject {
  readonly name: Kernels["name"];
  readonly make: () => Kernels;
}

/** Half a unit in the last place, relative: the error of one float32 rounding. */
export const ROUNDING = 2 ** -24;
/** What may be lost where results are too small for a normal float32. */
const TINY = 2 ** -120;

export const EDGE_SIZES = [1, 3, 5, 7, 8, 9, 16, 17, 33, 64, 65] as const;

/** Operands of one test, in the memory of one kernel set. */
export class Bench {
  readonly kernels: Kernels;
  readonly #rng: Rng;

  constructor({ make }: Subject, seed = 1) {
    this.kernels = make();
    this.#rng = seededRng(seed);
  }

  /** float32 values between −1 and 1, the same for every kernel set. */
  values(count: number, scale = 1): Float32Array {
    return Float32Array.from({ length: count }, () => (this.#rng.next() * 2 - 1) * scale);
  }

  put(values: ArrayLike<number>): Ptr {
    const ptr = this.kernels.memory.alloc(values.length);
    this.kernels.memory.f32.set(values, ptr >> 2);
    return ptr;
  }

  /** Room that holds garbage, so that a kernel which adds instead of overwriting is found out. */
  room(count: number): Ptr {
    return this.put(new Float32Array(count).fill(777));
  }

  take(ptr: Ptr, count: number): Float32Array {
    if (ptr === NULL) return new Float32Array(0);
    return this.kernels.memory.view(ptr, count).slice();
  }
}

export interface Expected {
  readonly value: number;
  /** Size of the terms that were added up: rounding errors are in proportion to it, not to the sum. */
  readonly size: number;
}

/** Every element within `roundings` float32 roundings of its terms' size. */
export function expectClose(actual: Float32Array, expected: readonly Expected[], roundings: number): void {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const { value, size } = expected[i] as Expected;
    const error = Math.abs((actual[i] as number) - value);
    const allowed = roundings * ROUNDING * size + TINY;
    if (!(error <= allowed)) {
      expect.fail(`element ${i} is ${actual[i]}, exactly ${value}: off by ${error}, allowed ${allowed}`);
    }
  }
}

export const plain = (values: ArrayLike<number>, size = 1): Expected[] =>
  Array.from({ length: values.length }, (_, i) => ({
    value: values[i] as number,
    size: Math.max(size, Math.abs(values[i] as number)),
  }));

/** start + Σ a(k)·b(k), with the terms' size. */
export function dot(start: number, count: number, term: (k: number) => readonly [number, number]): Expected {
  let value = start;
  let size = Math.abs(start);
  for (let k = 0; k < count; k++) {
    const [a, b] = term(k);
    value += a * b;
    size += Math.abs(a * b);
  }
  return { value, size };
}

export const at = (values: ArrayLike<number>, index: number): number => {
  const value = values[index];
  if (value === undefined) throw new RangeError(`index ${index} of ${values.length}`);
  return value;
};

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
