/**
 * The two directions in which embeddings differ most, for maps.
 * Owns: principal components by power iteration, the same on every machine for the same numbers.
 */

import { seededRng } from "../../base/index.ts";

export interface PlanarMap {
  /** One place per vector. */
  readonly places: readonly (readonly [number, number])[];
  /** Share of the variance that each axis shows. */
  readonly shares: readonly [number, number];
  /** Where another vector lies, on the same two directions. */
  placeOf(vector: ArrayLike<number>): readonly [number, number];
}

/** Enough for the directions to stand still where the two largest variances differ by a percent. */
const TURNS = 500;

export function planarMap(vectors: readonly ArrayLike<number>[]): PlanarMap {
  const width = vectors[0]?.length ?? 0;
  const count = Math.max(1, vectors.length);
  const mean = Array.from({ length: width }, (_, k) => sumOf(vectors, (vector) => vector[k]!) / count);
  const fromMiddle = (vector: ArrayLike<number>) => Float64Array.from(mean, (m, k) => vector[k]! - m);
  const centred = vectors.map(fromMiddle);
  const total = sumOf(centred, (row) => dot(row, row));
  const axes: Float64Array[] = [];
  for (let axis = 0; axis < 2; axis++) axes.push(strongestDirection(centred, axes));
  const onAxes = (row: Float64Array) => [dot(row, axes[0]!), dot(row, axes[1]!)] as const;
  const places = centred.map(onAxes);
  const share = (axis: 0 | 1) => (total > 0 ? sumOf(places, (place) => place[axis] ** 2) / total : 0);
  return { places, shares: [share(0), share(1)], placeOf: (vector) => onAxes(fromMiddle(vector)) };
}

function strongestDirection(rows: readonly Float64Array[], found: readonly Float64Array[]): Float64Array {
  const width = rows[0]?.length ?? 0;
  // Any start that is not at right angles to the answer, which regular ones can be.
  const rng = seededRng(0).fork("planar map");
  let direction = without(
    Float64Array.from({ length: width }, () => rng.normal()),
    found,
  );
  for (let turn = 0; turn < TURNS; turn++) {
    const next = new Float64Array(width);
    for (const row of rows) {
      const weight = dot(row, direction);
      for (let k = 0; k < width; k++) next[k]! += weight * row[k]!;
    }
    const cleaned = without(next, found);
    if (dot(cleaned, cleaned) === 0) break;
    direction = cleaned;
  }
  // Of the two signs the one whose largest entry is positive, so that a map does not flip between runs.
  const largest = direction.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return largest < 0 ? direction.map((value) => -value) : direction;
}

/** At right angles to what was found, and of length 1 where anything is left. */
function without(vector: Float64Array, found: readonly Float64Array[]): Float64Array {
  const rest = vector.slice();
  for (const axis of found) {
    const along = dot(rest, axis);
    for (let k = 0; k < rest.length; k++) rest[k]! -= along * axis[k]!;
  }
  const length = Math.sqrt(dot(rest, rest));
  return length > 1e-12 ? rest.map((value) => value / length) : rest.fill(0);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += of(item);
  return sum;
}
