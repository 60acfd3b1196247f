/**
 * Values as network inputs: continuous parts as they are, each discrete choice as one-hot.
 * (The plain numbers of `Space.write` carry a choice as its index, which a network would read as a quantity.)
 */

import type { DictSpace, TupleSpace } from "./composite-space.ts";
import type { NumericSpace, Space } from "./space.ts";

type KnownSpace = NumericSpace | DictSpace | TupleSpace;

/** How many network inputs one value of the space takes. */
export function flatSize(space: Space<unknown>): number {
  const known = space as KnownSpace;
  switch (known.kind) {
    case "discrete":
      return known.options;
    case "multi-discrete":
      return known.options.reduce((sum, n) => sum + n, 0);
    case "dict":
    case "tuple":
      return partsOf(known).reduce((sum, part) => sum + flatSize(part), 0);
    default:
      return space.size;
  }
}

/** Writes a value as `flatSize(space)` inputs from `at` on. */
export function flatten<T>(space: Space<T>, value: T, { into, at = 0 }: { into: Float32Array; at?: number }): void {
  const numbers = new Float64Array(space.size);
  space.write(value, numbers);
  spread(space, numbers, { from: 0, into, at });
}

interface Target {
  readonly from: number;
  readonly into: Float32Array;
  readonly at: number;
}

function spread(space: Space<unknown>, numbers: Float64Array, { from, into, at }: Target): void {
  const known = space as KnownSpace;
  if (known.kind === "dict" || known.kind === "tuple") {
    let read = from;
    let write = at;
    for (const part of partsOf(known)) {
      spread(part, numbers, { from: read, into, at: write });
      read += part.size;
      write += flatSize(part);
    }
    return;
  }
  if (known.kind === "discrete" || known.kind === "multi-discrete") {
    const options = known.kind === "discrete" ? [known.options] : known.options;
    let write = at;
    for (const [i, n] of options.entries()) {
      into.fill(0, write, write + n);
      into[write + numbers[from + i]!] = 1;
      write += n;
    }
    return;
  }
  for (let i = 0; i < known.size; i++) into[at + i] = numbers[from + i]!;
}

function partsOf(space: DictSpace | TupleSpace): readonly Space<unknown>[] {
  return Object.values(space.parts);
}
