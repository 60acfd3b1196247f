/**
 * Dense least squares in double precision, for the few hundred features of the off-policy estimates.
 * Matrices are row-major and square of `size`; only what the estimates need is here.
 *
 * These loops are most of what an estimate costs. A sum that waits for its own last addition is bound by that; so rows
 * are taken four at a time, which gives the processor four sums to work on, and reads what they share once. The variables
 * are written out one by one because taking arrays apart costs more than the arithmetic.
 */

/** Adds Σ a[row]·b[row]ᵀ over rows `from` up to `to` of two [rows, size] to a matrix: all of it, or its lower triangle. */
export function addProducts(
  matrix: Float64Array,
  { a, b }: { readonly a: Float64Array; readonly b: Float64Array },
  { from, to, size, part }: ProductRange,
): void {
  let row = from;
  for (; row + 4 <= to; row += 4) {
    const r0 = row * size;
    const r1 = r0 + size;
    const r2 = r1 + size;
    const r3 = r2 + size;
    for (let i = 0; i < size; i++) {
      const x0 = a[r0 + i]!;
      const x1 = a[r1 + i]!;
      const x2 = a[r2 + i]!;
      const x3 = a[r3 + i]!;
      const into = i * size;
      const end = part === "lower" ? i + 1 : size;
      for (let j = 0; j < end; j++)
        matrix[into + j]! += x0 * b[r0 + j]! + x1 * b[r1 + j]! + (x2 * b[r2 + j]! + x3 * b[r3 + j]!);
    }
  }
  for (; row < to; row++) {
    const at = row * size;
    for (let i = 0; i < size; i++) {
      const x = a[at + i]!;
      const into = i * size;
      const end = part === "lower" ? i + 1 : size;
      for (let j = 0; j < end; j++) matrix[into + j]! += x * b[at + j]!;
    }
  }
}

interface ProductRange {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  readonly part: "lower" | "all";
}

/** Adds `times` another matrix, or any two of the same length. */
export function addTimes(into: Float64Array, from: Float64Array, times: number): void {
  let i = 0;
  for (; i + 4 <= into.length; i += 4) {
    into[i]! += times * from[i]!;
    into[i + 1]! += times * from[i + 1]!;
    into[i + 2]! += times * from[i + 2]!;
    into[i + 3]! += times * from[i + 3]!;
  }
  for (; i < into.length; i++) into[i]! += times * from[i]!;
}

/** Replaces the lower triangle of a symmetric positive matrix by its Cholesky factor; false if it is not positive. */
export function factorise(matrix: Float64Array, size: number): boolean {
  for (let i = 0; i < size; i++) {
    const a = i * size;
    for (let j = 0; j <= i; j++) {
      const b = j * size;
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      let k = 0;
      for (; k + 4 <= j; k += 4) {
        s0 += matrix[a + k]! * matrix[b + k]!;
        s1 += matrix[a + k + 1]! * matrix[b + k + 1]!;
        s2 += matrix[a + k + 2]! * matrix[b + k + 2]!;
        s3 += matrix[a + k + 3]! * matrix[b + k + 3]!;
      }
      for (; k < j; k++) s0 += matrix[a + k]! * matrix[b + k]!;
      const rest = matrix[a + j]! - (s0 + s1 + (s2 + s3));
      if (i > j) matrix[a + j] = rest / matrix[b + j]!;
      else if (rest > 0) matrix[a + i] = Math.sqrt(rest);
      else return false;
    }
  }
  return true;
}

/** Solves L·Lᵀ·x = b in place of b, for a factor of `factorise`. */
export function solveFactorised(factor: Float64Array, size: number, b: Float64Array): void {
  for (let i = 0; i < size; i++) {
    let sum = b[i]!;
    for (let k = 0; k < i; k++) sum -= factor[i * size + k]! * b[k]!;
    b[i] = sum / factor[i * size + i]!;
  }
  // By columns of Lᵀ, which are rows of L: the memory is walked in order.
  for (let i = size - 1; i >= 0; i--) {
    const x = b[i]! / factor[i * size + i]!;
    b[i] = x;
    for (let k = 0; k < i; k++) b[k] = b[k]! - factor[i * size + k]! * x;
  }
}

/** Solves L·Lᵀ·X = B in place of B, all columns of a whole matrix at once. */
export function solveColumns(factor: Float64Array, size: number, b: Float64Array): void {
  for (let i = 0; i < size; i++) {
    const row = i * size;
    takeRows(b, row, { size, from: 0, count: i, factor, at: row, stride: 1 });
    const by = factor[row + i]!;
    for (let j = 0; j < size; j++) b[row + j]! /= by;
  }
  for (let i = size - 1; i >= 0; i--) {
    const row = i * size;
    const below = row + size;
    takeRows(b, row, { size, from: below, count: size - 1 - i, factor, at: below + i, stride: size });
    const by = factor[row + i]!;
    for (let j = 0; j < size; j++) b[row + j]! /= by;
  }
}

interface TakenRows {
  readonly size: number;
  /** Where the first row begins, and how many there are. */
  readonly from: number;
  readonly count: number;
  /** What each of them is taken times, from `at` on and `stride` apart. */
  readonly factor: Float64Array;
  readonly at: number;
  readonly stride: number;
}

/** Takes rows of a matrix, each some number of times, from the row that begins at `into`. */
function takeRows(b: Float64Array, into: number, { size, from, count, factor, at, stride }: TakenRows): void {
  let x = at;
  let row = from;
  let left = count;
  for (; left >= 4; left -= 4) {
    const x0 = factor[x]!;
    const x1 = factor[x + stride]!;
    const x2 = factor[x + 2 * stride]!;
    const x3 = factor[x + 3 * stride]!;
    const r1 = row + size;
    const r2 = r1 + size;
    const r3 = r2 + size;
    for (let j = 0; j < size; j++)
      b[into + j]! -= x0 * b[row + j]! + x1 * b[r1 + j]! + (x2 * b[r2 + j]! + x3 * b[r3 + j]!);
    x += 4 * stride;
    row = r3 + size;
  }
  for (; left > 0; left--) {
    const x0 = factor[x]!;
    for (let j = 0; j < size; j++) b[into + j]! -= x0 * b[row + j]!;
    x += stride;
    row += size;
  }
}

/** b[bt + i] += Σ matrix[i]·b[at], a step of `size` numbers to the next within one array. */
export function addProductWith(
  matrix: Float64Array,
  b: Float64Array,
  { at, bt, size }: { readonly at: number; readonly bt: number; readonly size: number },
): void {
  let i = 0;
  for (; i + 4 <= size; i += 4) {
    const r0 = i * size;
    const r1 = r0 + size;
    const r2 = r1 + size;
    const r3 = r2 + size;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let j = 0; j < size; j++) {
      const x = b[at + j]!;
      s0 += matrix[r0 + j]! * x;
      s1 += matrix[r1 + j]! * x;
      s2 += matrix[r2 + j]! * x;
      s3 += matrix[r3 + j]! * x;
    }
    b[bt + i]! += s0;
    b[bt + i + 1]! += s1;
    b[bt + i + 2]! += s2;
    b[bt + i + 3]! += s3;
  }
  for (; i < size; i++) b[bt + i]! += dot(matrix, b, { at: i * size, bt: at, size });
}

/** Σ a[i]·b[i] over `size` numbers from the two places on. */
export function dot(a: Float64Array, b: Float64Array, { at = 0, bt = 0, size }: DotRange): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i + 4 <= size; i += 4) {
    s0 += a[at + i]! * b[bt + i]!;
    s1 += a[at + i + 1]! * b[bt + i + 1]!;
    s2 += a[at + i + 2]! * b[bt + i + 2]!;
    s3 += a[at + i + 3]! * b[bt + i + 3]!;
  }
  for (; i < size; i++) s0 += a[at + i]! * b[bt + i]!;
  return s0 + s1 + (s2 + s3);
}

interface DotRange {
  readonly at?: number;
  readonly bt?: number;
  readonly size: number;
}
