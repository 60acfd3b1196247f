/**
 * The load of the next step, as ARIMA has it: what TL+ knows about time (AWARE, section 5.2).
 * Owns: the window, when the model is fitted anew, the feature's scale. Not here: the model (arima.ts).
 */
import { type ArimaModel, type ArimaOrder, fitArima, forecastNext } from "./arima.ts";

/** Plain data: it is saved with an agent. */
export interface ForecastMemory {
  /** The newest loads, oldest first. */
  readonly loads: readonly number[];
  readonly model: ArimaModel | null;
  /** Readings since the model was fitted. */
  readonly age: number;
}

export const noForecast: ForecastMemory = Object.freeze({ loads: [], model: null, age: 0 });

/** An hour of steps of 15 s: long enough for the coefficients, short enough for the hour of the day. */
const WINDOW = 240;
/** Five minutes: coefficients of an hour hardly change in that time. */
export const REFIT_EVERY = 20;
/** Differences, since loads have no level that they return to; as many lags as steps that a rate is counted over. */
const ORDER: ArimaOrder = { p: 4, d: 1, q: 1 };

export function forecastAfter({ loads, model, age }: ForecastMemory, load: number): ForecastMemory {
  const kept = [...(loads.length < WINDOW ? loads : loads.slice(1)), load];
  const isDue = model === null || age + 1 >= REFIT_EVERY;
  const fitted = isDue ? fitArima(kept, ORDER) : undefined;
  return fitted ? { loads: kept, model: fitted, age: 0 } : { loads: kept, model, age: age + 1 };
}

/** From -1 (nothing comes) over 0 (as now, or nobody knows) to 1; doubling is as far from 0 as halving. */
export function expectedChange({ loads, model }: ForecastMemory): number {
  const now = loads.at(-1) ?? 0;
  const next = model === null ? now : Math.max(0, forecastNext(model, loads));
  return next + now > 0 ? (next - now) / (next + now) : 0;
}
