/**
 * Spaces: which observations or actions an environment can give or take.
 * Owns: the space contract and the four numeric spaces (box, discrete, multi-discrete, multi-binary).
 * Not here: spaces made of spaces (composite-space.ts), one-hot widths for networks (flatten.ts), the form that
 * travels between processes (space-json.ts).
 *
 * Every value has two faces: the one people handle (a number, a typed array) and a row of `size` plain numbers that
 * vector environments, learners and stores move around. `write` and `read` go between the two.
 */

import type { Rng } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";

export interface Space<T> {
  readonly kind: string;
  /** How many plain numbers carry one value: 1 for a discrete choice, whatever its number of options. */
  readonly size: number;
  /** Whether the value has this space's type, length and bounds. */
  contains(value: unknown): value is T;
  sample(rng: Rng): T;
  /** Puts a value into `size` numbers from `at` on; a value of another shape is the coded failure `space.mismatch`. */
  write(value: T, into: Numbers, at?: number): void;
  /** The value carried by the `size` numbers from `at` on, as fresh memory. */
  read(from: ArrayLike<number>, at?: number): T;
  /**
   * Whether the numbers from `at` on can be understood as a value. Discrete parts must name an option; continuous
   * parts must be finite but may pass the bounds, because it is for the environment to say what too much force does.
   */
  accepts(from: ArrayLike<number>, at?: number): boolean;
  /** Reads in a sentence: "a Float32Array of 4 numbers". */
  describe(): string;
}

/** Anything indexed that numbers can be written to. */
export type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array;

export interface BoxSpace extends Space<Float32Array> {
  readonly kind: "box";
  readonly low: Float32Array;
  readonly high: Float32Array;
}

export interface DiscreteSpace extends Space<number> {
  readonly kind: "discrete";
  readonly options: number;
}

export interface MultiDiscreteSpace extends Space<Int32Array> {
  readonly kind: "multi-discrete";
  /** The number of options of each choice. */
  readonly options: readonly number[];
}

export interface MultiBinarySpace extends Space<Uint8Array> {
  readonly kind: "multi-binary";
}

/** The spaces whose values are plain numbers: what vector environments and wrappers work on. */
export type NumericSpace = BoxSpace | DiscreteSpace | MultiDiscreteSpace | MultiBinarySpace;
/** A value of a numeric space. */
export type NumericValue = Float32Array | number | Int32Array | Uint8Array;

type Bound = number | ArrayLike<number>;

/** Vectors of real numbers. Bounds may be infinite; a single number stands for every component. */
export function box(bounds: { low: Bound; high: Bound; size?: number }): BoxSpace {
  const size = bounds.size ?? lengthOf(bounds.low) ?? lengthOf(bounds.high) ?? 1;
  requireWhole("box", "components", size);
  const low = spread(bounds.low, size);
  const high = spread(bounds.high, size);
  for (let i = 0; i < size; i++) {
    // Also catches NaN, which compares as false with everything.
    if (!(low[i]! <= high[i]!)) {
      throw new CodedError(
        failure(
          "space.invalid",
          `a box needs low ≤ high in every component, got ${low[i]} and ${high[i]} in component ${i}; swap or correct them`,
        ),
      );
    }
  }
  const space: BoxSpace = {
    kind: "box",
    size,
    low,
    high,
    contains: (value): value is Float32Array => {
      if (!(value instanceof Float32Array) || value.length !== size) return false;
      for (let i = 0; i < size; i++) if (!(value[i]! >= low[i]! && value[i]! <= high[i]!)) return false;
      return true;
    },
    sample: (rng) => {
      const value = new Float32Array(size);
      for (let i = 0; i < size; i++) value[i] = sampleInterval(rng, low[i]!, high[i]!);
      return value;
    },
    write: (value, into, at = 0) => {
      if (!(value instanceof Float32Array) || value.length !== size) throw mismatch(space, value);
      for (let i = 0; i < size; i++) into[at + i] = value[i]!;
    },
    read: (from, at = 0) => {
      const value = new Float32Array(size);
      for (let i = 0; i < size; i++) value[i] = from[at + i]!;
      return value;
    },
    accepts: (from, at = 0) => {
      for (let i = 0; i < size; i++) if (!Number.isFinite(from[at + i]!)) return false;
      return true;
    },
    describe: () => `a Float32Array of ${plural(size, "number")} within [${range(low)}] to [${range(high)}]`,
  };
  return space;
}

/** One choice among `options`, as a whole number from 0. */
export function discrete(options: number): DiscreteSpace {
  requireWhole("discrete space", "options", options);
  const space: DiscreteSpace = {
    kind: "discrete",
    size: 1,
    options,
    contains: (value): value is number => isChoice(value, options),
    sample: (rng) => rng.int(options),
    write: (value, into, at = 0) => {
      if (!isChoice(value, options)) throw mismatch(space, value);
      into[at] = value;
    },
    read: (from, at = 0) => from[at]!,
    accepts: (from, at = 0) => isChoice(from[at], options),
    describe: () => `a whole number from 0 to ${options - 1}`,
  };
  return space;
}

/** Several independent choices at once. */
export function multiDiscrete(options: readonly number[]): MultiDiscreteSpace {
  const size = options.length;
  requireWhole("multi-discrete space", "choices", size);
  for (const n of options) requireWhole("multi-discrete space", "options in every choice", n);
  const fits = (from: ArrayLike<number>, at: number): boolean => {
    for (let i = 0; i < size; i++) if (!isChoice(from[at + i], options[i]!)) return false;
    return true;
  };
  const space: MultiDiscreteSpace = {
    kind: "multi-discrete",
    size,
    options: [...options],
    contains: (value): value is Int32Array => value instanceof Int32Array && value.length === size && fits(value, 0),
    sample: (rng) => Int32Array.from(options, (n) => rng.int(n)),
    write: (value, into, at = 0) => {
      if (!space.contains(value)) throw mismatch(space, value);
      for (let i = 0; i < size; i++) into[at + i] = value[i]!;
    },
    read: (from, at = 0) => {
      const value = new Int32Array(size);
      for (let i = 0; i < size; i++) value[i] = from[at + i]!;
      return value;
    },
    accepts: (from, at = 0) => fits(from, at),
    describe: () => `an Int32Array of ${plural(size, "choice")} with ${options.join(", ")} options`,
  };
  return space;
}

/** A row of switches, each 0 or 1. */
export function multiBinary(size: number): MultiBinarySpace {
  requireWhole("multi-binary space", "switches", size);
  const fits = (from: ArrayLike<number>, at: number): boolean => {
    for (let i = 0; i < size; i++) if (!isChoice(from[at + i], 2)) return false;
    return true;
  };
  const space: MultiBinarySpace = {
    kind: "multi-binary",
    size,
    contains: (value): value is Uint8Array => value instanceof Uint8Array && value.length === size && fits(value, 0),
    sample: (rng) => Uint8Array.from({ length: size }, () => rng.int(2)),
    write: (value, into, at = 0) => {
      if (!space.contains(value)) throw mismatch(space, value);
      for (let i = 0; i < size; i++) into[at + i] = value[i]!;
    },
    read: (from, at = 0) => {
      const value = new Uint8Array(size);
      for (let i = 0; i < size; i++) value[i] = from[at + i]!;
      return value;
    },
    accepts: (from, at = 0) => fits(from, at),
    describe: () => `a Uint8Array of ${plural(size, "switch", "switches")}, each 0 or 1`,
  };
  return space;
}

export function isNumericSpace(space: { readonly kind: string }): space is NumericSpace {
  return ["box", "discrete", "multi-discrete", "multi-binary"].includes(space.kind);
}

/** The failure of a value that is not of the space, naming both. */
export function mismatch(space: { describe(): string }, value: unknown): CodedError {
  return new CodedError(
    failure("space.mismatch", `expected ${space.describe()}, found ${show(value)}; pass a value of the declared space`),
  );
}

/** A short name for any value, safe to put in an error: type, length and a few numbers. */
export function show(value: unknown): string {
  if (typeof value === "number" || value === null || value === undefined || typeof value === "boolean")
    return String(value);
  if (ArrayBuffer.isView(value) || Array.isArray(value)) {
    const items = value as unknown as ArrayLike<unknown>;
    const head = Array.from({ length: Math.min(items.length ?? 0, 4) }, (_, i) => String(items[i]));
    const more = items.length > 4 ? ", …" : "";
    return `${value.constructor.name}(${items.length ?? 0}) [${head.join(", ")}${more}]`;
  }
  if (typeof value === "object") return `an object with keys ${Object.keys(value).slice(0, 6).join(", ") || "(none)"}`;
  return `a ${typeof value}`;
}

function isChoice(value: unknown, options: number): value is number {
  return typeof value === "number" && value >= 0 && value < options && Math.floor(value) === value;
}

// Gymnasium's rule: uniform where bounded, shifted exponential where half bounded, normal where unbounded.
function sampleInterval(rng: Rng, low: number, high: number): number {
  const bounded = Number.isFinite(low);
  if (bounded && Number.isFinite(high)) return Math.min(high, Math.max(low, low + (high - low) * rng.next()));
  if (bounded) return low - Math.log(1 - rng.next());
  if (Number.isFinite(high)) return high + Math.log(1 - rng.next());
  return rng.normal();
}

function requireWhole(space: string, what: string, n: number): void {
  if (Number.isInteger(n) && n >= 1) return;
  throw new CodedError(failure("space.invalid", `a ${space} needs a whole number of ${what}, at least 1, got ${n}`));
}

function lengthOf(bound: Bound): number | undefined {
  return typeof bound === "number" ? undefined : bound.length;
}

function spread(bound: Bound, size: number): Float32Array {
  if (typeof bound === "number") return new Float32Array(size).fill(bound);
  if (bound.length === size) return Float32Array.from(bound);
  throw new CodedError(
    failure("space.invalid", `a box of ${size} components got a bound of ${bound.length}; give both the same length`),
  );
}

function plural(n: number, one: string, many = `${one}s`): string {
  return n === 1 ? `1 ${one}` : `${n} ${many}`;
}

function range(bound: Float32Array): string {
  const shown = Array.from(bound.subarray(0, 6), (x) => String(Number(x.toPrecision(4))));
  return bound.length > 6 ? `${shown.join(", ")}, …` : shown.join(", ");
}
