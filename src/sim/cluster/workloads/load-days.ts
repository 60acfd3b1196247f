/**
 * Loads of several days, no two of them alike.
 * Owns: making further days of a recorded one, or making days of a generated load differ in level too.
 * Not here: how much days differ (load-calibration.ts), which loads there are (load-recorded.ts, load-generate.ts).
 *
 * A day that repeats exactly can be learned by heart, and tells nothing about controllers that look at yesterday. Each day
 * has a level of its own, hours that are busier or quieter than they were, and spells that come earlier or later: the day's
 * clock runs unevenly. Loads on a schedule keep their minutes, as timers do.
 */
import { type Rng, seededRng } from "../../../base/index.ts";
import { type Load, scaleLoad } from "./load.ts";
import { dayRanges } from "./load-calibration.ts";
import { within } from "./load-shapes.ts";

const DAY = 1_440;
const HOUR = 60;
/** Minutes between the places where a day's clock is moved; moves are cut so that time never runs back. */
const KNOT = 120;
const MOST_SHIFT = 55;
/** The first day is a Wednesday, so that a life of a few days and the day before it are workdays. */
const WEEKEND: ReadonlySet<number> = new Set([3, 4]);

export interface DaysOptions {
  readonly seed: number;
  readonly days: number;
}

/** The load's own days in turn, each changed; the mean over all days is the load's. */
export function varyDays(load: Load, { seed, days }: DaysOptions): Load {
  const rng = seededRng(seed).fork("days").fork(load.id);
  const { perMinute } = load;
  const variation = Math.min(hourlyVariation(perMinute), dayRanges.mostVariation);
  const hours = hoursFrom(rng.fork("hours"), variation);
  const levels = levelsFrom(rng.fork("levels"), variation);
  const clock = isScheduled(perMinute) ? (minute: number) => minute : clockFrom(rng.fork("clock"), days);
  const hourly = Float64Array.from({ length: days * 24 + 1 }, hours);
  const daily = Float64Array.from({ length: days }, (_, day) => levels(day));
  const rates = Float64Array.from({ length: days * DAY }, (_, minute) => {
    const rate = perMinute[mod(clock(minute), perMinute.length)]!;
    return rate * daily[Math.floor(minute / DAY)]! * between(hourly, minute / HOUR);
  });
  const varied: Load = { ...load, id: `${load.id} over ${days} days`, perMinute: rates };
  return scaleLoad(varied, meanOf(perMinute));
}

/** Standard deviation over mean of the hours' means. */
function hourlyVariation(perMinute: Float64Array): number {
  const mean = meanOf(perMinute);
  if (!(mean > 0)) return 0;
  let sum = 0;
  const hours = Math.max(1, Math.floor(perMinute.length / HOUR));
  for (let h = 0; h < hours; h++) sum += (meanOf(perMinute.subarray(h * HOUR, (h + 1) * HOUR)) / mean - 1) ** 2;
  return Math.sqrt(sum / hours);
}

/** Whether what is left of a minute after its hour's mean is the same an hour later. */
function isScheduled(perMinute: Float64Array): boolean {
  const rest = perMinute.map((rate, i) => {
    const from = Math.floor(i / HOUR) * HOUR;
    return rate - meanOf(perMinute.subarray(from, from + HOUR));
  });
  let shared = 0;
  let own = 0;
  for (let i = 0; i + HOUR < rest.length; i++) {
    shared += rest[i]! * rest[i + HOUR]!;
    own += rest[i]! ** 2;
  }
  return own > 0 && shared / own > dayRanges.scheduled;
}

/** A factor at each full hour; its logarithm remembers the hour before. */
function hoursFrom(rng: Rng, variation: number): () => number {
  const sigma = variation * within(rng, dayRanges.shape);
  const memory = within(rng, dayRanges.memory);
  let state = sigma * rng.normal();
  return () => {
    state = memory * state + sigma * Math.sqrt(1 - memory * memory) * rng.normal();
    return Math.exp(state);
  };
}

function levelsFrom(rng: Rng, variation: number): (day: number) => number {
  const sigma = variation * within(rng, dayRanges.level);
  const lower = (1 - within(rng, dayRanges.weekend)) * Math.min(1, variation / dayRanges.weekendVariation);
  return (day) => Math.exp(sigma * rng.normal()) * (WEEKEND.has(day % 7) ? 1 - lower : 1);
}

/** Which minute of the original is played: moved by another number of minutes every two hours, evenly in between. */
function clockFrom(rng: Rng, days: number): (minute: number) => number {
  const sigma = within(rng, dayRanges.shift);
  const shifts = Float64Array.from({ length: (days * DAY) / KNOT + 1 }, () =>
    Math.min(Math.max(sigma * rng.normal(), -MOST_SHIFT), MOST_SHIFT),
  );
  return (minute) => Math.round(minute + between(shifts, minute / KNOT));
}

function between(points: Float64Array, place: number): number {
  const low = Math.floor(place);
  const part = place - low;
  return points[low]! * (1 - part) + (points[low + 1] ?? points[low]!) * part;
}

const mod = (value: number, length: number): number => ((value % length) + length) % length;

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
