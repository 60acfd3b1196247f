/**
 * Dense least squares in double precision, for the few hundred features of the off-policy estimates.
 * Matrices are row-major and square of `size`; only what the estimates need is here.
 */

/** Replaces the lower triangle of a symmetric positive matrix by its Cholesky factor; false if it is not positive. */
export function factorise(matrix: Float64Array, size: number): boolean {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j]!;
      const [a, b] = [i * size, j * size];
      for (let k = 0; k < j; k++) sum -= matrix[a + k]! * matrix[b + k]!;
      if (i > j) matrix[a + j] = sum / matrix[b + j]!;
      else if (sum > 0) matrix[a + i] = Math.sqrt(sum);
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

/** Σ a[i]·b[i] over `size` numbers from the two places on. */
export function dot(a: Float64Array, b: Float64Array, { at = 0, bt = 0, size }: DotRange): number {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += a[at + i]! * b[bt + i]!;
  return sum;
}

interface DotRange {
  readonly at?: number;
  readonly bt?: number;
  readonly size: number;
}
