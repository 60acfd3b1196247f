/**
 * A workload as a few numbers that were fitted to its own records.
 * Owns: what they are, and asking them. Pure: plain data. Not here: fitting (calibrate.ts), a life in it (simulate.ts).
 *
 * The physics are those of the capacity model (capacity/knees.ts): three knees and a base, one point where the planner has a
 * belief over many. Times of waiting and bursts are the planner's, too, so there is one theory of a pod and not two.
 */
import type { Bursts } from "../capacity/bursts.ts";
import type { Points } from "../capacity/points.ts";

/** Plain data: it is saved. */
export interface CalibratedModel {
  /** Millicore-seconds of a request. */
  readonly work: number;
  /** The logarithm of measured over allowed where there is plenty of everything. */
  readonly base: number;
  /** Millicores that a request alone uses at once; millicores left over below which requests wait. */
  readonly width: number;
  readonly free: number;
  /** Requests per second that a pod takes whatever its cores; null where none was seen. */
  readonly rate: number | null;
  /** Times the usual variance (capacity/points.ts). */
  readonly noise: number;
  readonly bursts: Bursts;
  /** Milliseconds at strain 0. */
  readonly allowed: number;
  /** Of a pod, MiB: without requests, and for each that comes per second; `most` is the most that was seen. */
  readonly memory: { readonly base: number; readonly perRequest: number; readonly most: number };
  readonly error: CalibrationError;
}

/** On minutes that the model was not fitted to. */
export interface CalibrationError {
  readonly minutes: number;
  /** Median absolute error of strain, which is that of the logarithm of latency. */
  readonly strain: number;
  /** Missed minutes in a hundred: that there were, and that the model expected. */
  readonly missed: number;
  readonly expected: number;
  /** Share of minutes that it told right to be missed or kept, counting both kinds alike; null where one kind is absent. */
  readonly told: number | null;
}

type Fitted = Pick<CalibratedModel, "base" | "width" | "free" | "rate" | "noise">;

/** The model as the capacity model's one point. */
export const pointOf = ({ base, width, free, rate, noise }: Fitted): Points => ({
  each: Float64Array.of(
    Math.log(width),
    Math.log(free),
    rate === null ? Number.POSITIVE_INFINITY : Math.log(rate),
    base,
    1,
  ),
  noise,
});
