/**
 * Double-precision matrices for the oracles: rows of plain numbers, written to be read.
 * Nothing here or beside it imports the engine: an oracle that shares code shares mistakes.
 */

export type Matrix = readonly (readonly number[])[];

/** A flat row-major block as rows. */
export function matrix(values: ArrayLike<number>, rows: number, cols: number): Matrix {
  return Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => values[r * cols + c]!));
}

export const flat = (m: Matrix): number[] => m.flatMap((row) => [...row]);

export const map = (m: Matrix, f: (value: number, row: number, col: number) => number): Matrix =>
  m.map((row, r) => row.map((value, c) => f(value, r, c)));

export const transpose = (m: Matrix): Matrix => (m[0] ?? []).map((_, c) => m.map((row) => row[c]!));

export const add = (a: Matrix, b: Matrix): Matrix => map(a, (value, r, c) => value + b[r]![c]!);

export const product = (a: Matrix, b: Matrix): Matrix => {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => row.reduce((sum, value, i) => sum + value * column[i]!, 0)));
};

/** Columns `from` to `to` (exclusive). */
export const columns = (m: Matrix, from: number, to: number): Matrix => m.map((row) => row.slice(from, to));

/**
 * The gradient of a scalar function by central differences. With steps of 1e-5 in double precision the error is about
 * 1e-9 where the function is smooth: far below what float32 can show.
 */
export function numericalGradient(f: (at: Float64Array) => number, at: ArrayLike<number>): Float64Array {
  const point = Float64Array.from(at);
  const step = 1e-5;
  return point.map((value, i) => {
    point[i] = value + step;
    const above = f(point);
    point[i] = value - step;
    const below = f(point);
    point[i] = value;
    return (above - below) / (2 * step);
  });
}
