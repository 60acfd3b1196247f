/**
 * A model of a workload from its own records, with its error on records that it did not see.
 * Owns: the fit, and refusing it. Pure: the same records give the same model. Not here: what the numbers mean (model.ts), what is
 * recorded (records.ts). One calibrator for whoever needs a model: the prior's search, and replays of recorded days.
 */
import type { Result } from "../../../../base/index.ts";
import { err, failure, ok } from "../../../../base/index.ts";
import type { Points } from "../capacity/points.ts";
import { riskAt, strainAt } from "../capacity/points.ts";
import { MOST_STRAIN } from "../capacity/strain.ts";
import type { Fit, Told } from "./fit.ts";
import { fitModel, median } from "./fit.ts";
import type { CalibratedModel, CalibrationError } from "./model.ts";
import { pointOf } from "./model.ts";
import type { Minute, Records } from "./records.ts";
import { minutesOf } from "./records.ts";

export interface CalibrationOptions {
  /** Of a pod, millicores. */
  readonly cpu: { readonly min: number; readonly max: number };
  /** Milliseconds at strain 0. */
  readonly allowed: number;
}

/** Minutes with a strain: four hours of them. */
const LEAST_MINUTES = 240;
/** The newest quarter judges what the others say. */
const HELD_OUT = 0.25;
/** Refused beyond a median error of 15 % in latency, or if misses were expected three times too often or too seldom. */
const MOST_ERROR = 0.15;
const MISSES = { times: 3, few: 2.5 } as const;
/** A release within the records: its work per request differs by so much from what was before. */
const RELEASE = 1.25;

export function calibrate(records: Records, options: CalibrationOptions): Result<CalibratedModel> {
  const minutes = sinceRelease(minutesOf(records));
  const told = tellingOf(minutes);
  if (told.length < LEAST_MINUTES)
    return err(
      failure(
        "calibration.too-few",
        `${told.length} minutes of the workload say what its requests need, and a model takes ${LEAST_MINUTES}: wait until it has run for longer`,
        { retry: true },
      ),
    );
  const cut = Math.floor((1 - HELD_OUT) * told.length);
  const error = errorOf(fitModel(told.slice(0, cut), options.cpu), told.slice(cut));
  const problem = problemOf(error);
  if (problem !== undefined)
    return err(
      failure(
        "calibration.inaccurate",
        `a model of the workload was wrong about the newest quarter of its records: ${problem}`,
        {
          retry: true,
        },
      ),
    );
  const memory = memoryOf(records);
  return ok({ ...fitModel(told, options.cpu), allowed: options.allowed, memory, error });
}

function problemOf({ strain, missed, expected }: CalibrationError): string | undefined {
  if (!(strain <= MOST_ERROR)) return `its latencies were off by ${Math.round(100 * strain)} % in the median`;
  const [less, more] = missed < expected ? [missed, expected] : [expected, missed];
  if (more > MISSES.few && more > MISSES.times * less)
    return `it expected ${expected.toFixed(1)} missed minutes in a hundred and there were ${missed.toFixed(1)}`;
  return undefined;
}

/** Hours whose work per request is another's say nothing of what the newest need. */
function sinceRelease(minutes: readonly Minute[]): readonly Minute[] {
  const busy = minutes.filter(({ load }) => load > 0);
  const now = median(busy.slice(-60).map(({ work }) => work));
  if (!(now > 0)) return minutes;
  let from = minutes.length;
  let others = 0;
  while (from > 0) {
    const { work, load } = minutes[from - 1] as Minute;
    const isOther = load > 0 && (work > RELEASE * now || work * RELEASE < now);
    others = isOther ? others + 1 : 0;
    // Half an hour of another work is no accident.
    if (others >= 30) return minutes.slice(from + 29);
    from -= 1;
  }
  return minutes;
}

const tellingOf = (minutes: readonly Minute[]): readonly Told[] =>
  minutes.flatMap(({ strain, size, free, peak, pods, load, work }) =>
    strain === null || load <= 0 ? [] : [{ strain, work, conditions: { size, free, rate: peak / pods, load } }],
  );

function errorOf(model: Fit, told: readonly Told[]): CalibrationError {
  const point: Points = { ...pointOf(model), bursts: { seen: model.bursts, work: model.work } };
  const offs: number[] = [];
  let [missed, expected] = [0, 0];
  const right = { missed: 0, kept: 0 };
  for (const { strain, conditions } of told) {
    const said = Math.min(strainAt(point, conditions), MOST_STRAIN);
    offs.push(Math.abs(strain - said));
    expected += Math.min(1, riskAt(point, conditions));
    if (strain > 0) missed += 1;
    if (strain > 0 && said > 0) right.missed += 1;
    if (strain <= 0 && said <= 0) right.kept += 1;
  }
  const kept = told.length - missed;
  return {
    minutes: told.length,
    strain: median(offs),
    missed: (100 * missed) / told.length,
    expected: (100 * expected) / told.length,
    told: missed === 0 || kept === 0 ? null : 0.5 * (right.missed / missed + right.kept / kept),
  };
}

/** The line through the hours' working sets over their requests per pod; flat where they do not rise with them. */
function memoryOf({ hours }: Records): CalibratedModel["memory"] {
  const points = hours.flatMap(({ peak, pods, memory }) => {
    if (memory.used <= 0 || peak.length === 0) return [];
    const rate = Math.max(...peak.map((one, i) => one / 100 / (pods[i] as number)));
    return [{ rate, used: memory.used }];
  });
  const most = Math.max(0, ...points.map(({ used }) => used));
  if (points.length < 2) return { base: most, perRequest: 0, most };
  const mean = (of: (one: (typeof points)[number]) => number): number =>
    points.reduce((sum, one) => sum + of(one), 0) / points.length;
  const [rate, used] = [mean((one) => one.rate), mean((one) => one.used)];
  const squares = mean((one) => (one.rate - rate) ** 2);
  const slope = squares > 0 ? Math.max(0, mean((one) => (one.rate - rate) * (one.used - used)) / squares) : 0;
  return { base: Math.max(0, used - slope * rate), perRequest: slope, most };
}
