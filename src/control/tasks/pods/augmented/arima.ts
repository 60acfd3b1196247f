/**
 * ARIMA(p, d, q) over a short window of a series: the forecast of its next value.
 * Owns: the fit (Hannan and Rissanen, "Recursive estimation of mixed autoregressive-moving average order", Biometrika
 * 1982: a long autoregression gives the innovations, least squares on lags and innovations the rest) and the forecast.
 * Not here: which series, how long a window, when to fit anew (load-forecast.ts).
 *
 * Two regressions of a few unknowns, so a fit costs microseconds where likelihood by numerical search costs
 * milliseconds; for one step ahead of a noisy load the two are as good (docs/adr/0010-what-the-autoscaler-sees.md).
 */

export interface ArimaOrder {
  /** Lags. */
  readonly p: number;
  /** 1: of the differences, so that the series' level does not matter. */
  readonly d: 0 | 1;
  /** 1: what the step before was surprised by counts too. */
  readonly q: 0 | 1;
}

/** Plain data: it is saved with an agent. */
export interface ArimaModel {
  readonly d: 0 | 1;
  /** What the series is counted from; 0 where differences are taken, since a drift of minutes ends with them. */
  readonly mean: number;
  /** Nearest lag first. */
  readonly ar: readonly number[];
  readonly ma: number;
}

/** Lags of the regression that finds the innovations. */
const LONG = 8;
/** Rows for each unknown; with fewer a regression follows the noise. */
const ROWS_PER_UNKNOWN = 4;
/** Beyond 1 a moving average never forgets how it was begun. */
const MOST_MA = 0.95;

/** undefined where the series is too short to say anything. */
export function fitArima(series: readonly number[], { p, d, q }: ArimaOrder): ArimaModel | undefined {
  const steps = d === 1 ? differences(series) : series;
  const first = q === 1 ? LONG + 1 : 0;
  const unknown = p + q;
  if (steps.length - Math.max(first, p) < ROWS_PER_UNKNOWN * Math.max(unknown, q * LONG, 1)) return undefined;
  const mean = d === 1 ? 0 : steps.reduce((sum, x) => sum + x, 0) / steps.length;
  const values = steps.map((x) => x - mean);
  const surprises = q === 1 ? longSurprises(values) : [];
  const regressor = (t: number, k: number): number => (k < p ? at(values, t - 1 - k) : at(surprises, t - 1));
  const found = leastSquares(values, { from: Math.max(first, p), unknown, regressor });
  const ma = q === 1 ? at(found, p) : 0;
  return { d, mean, ar: found.slice(0, p), ma: Math.min(Math.max(ma, -MOST_MA), MOST_MA) };
}

/** One step ahead of the series, which may be longer or newer than what the model was fitted on. */
export function forecastNext({ d, mean, ar, ma }: ArimaModel, series: readonly number[]): number {
  const steps = d === 1 ? differences(series) : series;
  const expected = (t: number, surprise: number): number =>
    ar.reduce((sum, a, k) => sum + a * ((steps[t - 1 - k] ?? mean) - mean), mean + ma * surprise);
  let surprise = 0;
  // Before there are as many values as lags nothing was expected, so nothing surprises.
  for (let t = ar.length; t < steps.length; t++) surprise = at(steps, t) - expected(t, surprise);
  const next = expected(steps.length, surprise);
  return d === 1 ? at(series, series.length - 1) + next : next;
}

const at = (values: ArrayLike<number>, index: number): number => values[index] ?? 0;

function differences(series: readonly number[]): number[] {
  return series.slice(1).map((x, i) => x - at(series, i));
}

/** What a long autoregression did not expect; 0 where it has not begun. */
function longSurprises(values: readonly number[]): number[] {
  const regressor = (t: number, k: number): number => at(values, t - 1 - k);
  const ar = leastSquares(values, { from: LONG, unknown: LONG, regressor });
  return values.map((value, t) => (t < LONG ? 0 : value - ar.reduce((sum, a, k) => sum + a * regressor(t, k), 0)));
}

interface Regression {
  /** The first row; one per value from there on. */
  readonly from: number;
  readonly unknown: number;
  regressor(t: number, k: number): number;
}

/** Share of the mean square that is added to each: a series that does not move has coefficients of 0. */
const RIDGE = 1e-9;

function leastSquares(values: readonly number[], { from, unknown, regressor }: Regression): number[] {
  const rows = values.length - from;
  const columns = Array.from({ length: unknown }, (_, k) =>
    Float64Array.from({ length: rows }, (_, row) => regressor(from + row, k)),
  );
  const right = columns.map((column) => dot(column, values.slice(from)));
  const normal = columns.map((column) => columns.map((other) => dot(column, other)));
  const trace = normal.reduce((sum, row, i) => sum + at(row, i), 0);
  const ridge = trace > 0 ? (RIDGE * trace) / unknown : 1;
  return solved(
    normal.map((row, i) => row.map((value, j) => (i === j ? value + ridge : value))),
    right,
  );
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += at(one, i) * at(other, i);
  return sum;
}

/** By elimination. The matrix is symmetric and, with the ridge, positive: no pivot is looked for. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, at(right, i)]);
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = at(row, i) / at(pivot, i);
      for (let j = i; j < pivot.length; j++) row[j] = at(row, j) - factor * at(pivot, j);
    }
  });
  const found = new Array<number>(rows.length).fill(0);
  for (const [i, row] of [...rows.entries()].reverse()) {
    found[i] = (at(row, rows.length) - dot(found, row.slice(0, rows.length))) / at(row, i);
  }
  return found;
}
