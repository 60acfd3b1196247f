/**
 * Who plans: the capacity model's planner, a load-indexed prior, or nobody and so the rules. By what each would have cost.
 * Owns: the comparison in the calibrated model, hysteresis, and the reason. Pure; it takes seconds, so it is done beside the
 * loop. Not here: the model (calibrate.ts), the prior (search.ts), acting on it (modelled.ts).
 *
 * Whoever plans now stays, unless another would be clearly cheaper; without a valid model it is the planner.
 */
import type { Allocation } from "../../../../act/index.ts";
import type { Ratio, Result } from "../../../../base/index.ts";
import { err, failure, ok, ratio } from "../../../../base/index.ts";
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { latencyAllowed, sloJudges } from "../../../../observe/telemetry/index.ts";
import type { Fallback } from "../../../index.ts";
import { capacityPlanner } from "../capacity/planner.ts";
import type { PodBounds } from "../limits.ts";
import { dollars } from "../rates.ts";
import { calibrate } from "./calibrate.ts";
import { fallbackController, plannerController, recordedController } from "./controllers.ts";
import type { Course, FluidController, FluidOptions, FluidOutcome } from "./fluid.ts";
import { courseOf, simulate } from "./fluid.ts";
import type { CalibratedModel } from "./model.ts";
import type { Prior } from "./prior.ts";
import type { Minute, Records } from "./records.ts";
import { minutesOf } from "./records.ts";
import type { Found } from "./search.ts";
import { judgePrior, partsOf, searchPrior } from "./search.ts";

export const seats = ["plan", "prior", "rules"] as const;
export type Seat = (typeof seats)[number];

/** Why somebody plans. */
export type SeatReason =
  /** There is no model that can be believed, so nothing else was compared. */
  | "no-model"
  /** Nobody is cheaper by more than the hysteresis. */
  | "stays"
  | "cheaper";

/** What it would have cost in the newest part of the records. */
export interface Estimate {
  /** Dollars an hour. */
  readonly cost: number;
  /** Steps in a hundred. */
  readonly missed: number;
}

/** Plain data: it is saved. */
export interface Advice {
  /** The newest minute of the records that it rests on. */
  readonly at: number;
  readonly seat: Seat;
  readonly why: SeatReason;
  /** null where none keeps the budget, or there is no model. */
  readonly prior: Prior | null;
  readonly model: CalibratedModel | null;
  /** Of what was recorded: what really was missed, and what the model says of the same settings. */
  readonly replayed: { readonly missed: number; readonly said: number } | null;
  readonly estimates: Readonly<Partial<Record<Seat, Estimate>>>;
  /** The code of the failure that left no model. */
  readonly refused: string | null;
}

export interface AdviceOptions {
  readonly slo: Slo;
  readonly bounds: PodBounds;
  /** The share of steps that may miss the SLO. */
  readonly budget: Ratio;
  readonly leastPods?: number;
  /** Absent: rules are not compared here. */
  readonly rules?: Fallback<unknown, WorkloadReading, Allocation>;
}

export interface AdviceWork {
  readonly records: Records;
  /** What was advised before: whoever planned by it, and the prior. */
  readonly before: Advice | null;
}

/** Another has to be cheaper by this share. */
const HYSTERESIS = 0.05;
/** A missed step beyond the budget is worth so many steps of the bill: four times as much as one within it (objective.ts). */
const MISS = 25;
/** Misses that the model sees in the recorded life itself: so many times too many or too few, and it is not believed. */
const REPLAYED = { times: 3, few: 1 } as const;
/** A prior's pods are at least so much of the smallest that the model was shown. */
const TRUSTED = 1.5;
/** And so many times the pods that there were at most, for the loads that there were. */
const MORE_PODS = 2;
/** Half of what may be missed at all: the other half is for what no model foresees. */
const SHARE_OF_BUDGET = 0.5;
const LEAST_PODS = 2;
/** Shares of what may be missed that a prior is searched for: what holds on one part may hold less well on the other. */
const LIMITS = [1, 0.25] as const;

const withoutModel = (at: number, refused: string): Advice => ({
  at,
  seat: "plan",
  why: "no-model",
  prior: null,
  model: null,
  replayed: null,
  estimates: {},
  refused,
});

export function advise({ records, before }: AdviceWork, options: AdviceOptions): Advice {
  const { slo, bounds, budget } = options;
  const minutes = minutesOf(records);
  const at = minutes.at(-1)?.at ?? 0;
  const found = modelOf(records, options);
  if (!found.ok) return withoutModel(at, found.failure.code);
  const model = found.value;
  const course = courseOf(model, minutes);
  const parts = partsOf(course);
  const pods = { min: Math.max(options.leastPods ?? LEAST_PODS, bounds.replicas.min), max: bounds.replicas.max };
  const world: FluidOptions = { bounds: { pods, size: bounds.cpu }, prices: dollars, from: parts.cut, to: parts.to };
  const replayed = replayedOf(course, minutes, world);
  const believed = believable(replayed);
  if (!believed.ok) return { ...withoutModel(at, believed.failure.code), replayed };
  const allowed = SHARE_OF_BUDGET * budget;
  const search = {
    ...world,
    bounds: { pods: { min: pods.min, max: Math.min(pods.max, MORE_PODS * mostPodsOf(minutes)) }, size: bounds.cpu },
    allowed,
    leastSize: leastSizeOf(minutes) / TRUSTED,
  };
  const searched = LIMITS.flatMap((share) => searchPrior(course, { ...search, allowed: share * allowed }) ?? []).reduce(
    (best: Found | undefined, one) =>
      best === undefined || lossOf(estimateOf(one.judged), budget) < lossOf(estimateOf(best.judged), budget)
        ? one
        : best,
    undefined,
  );
  const kept = before?.prior ?? null;
  // The prior that is in use stays, as everybody does: another one has to be clearly cheaper.
  const keptOutcome = kept === null ? undefined : judgePrior(course, kept, search);
  const isKept =
    keptOutcome !== undefined &&
    (searched === undefined ||
      lossOf(estimateOf(keptOutcome), budget) <= (1 + HYSTERESIS) * lossOf(estimateOf(searched.judged), budget));
  const prior = isKept ? kept : (searched?.prior ?? null);
  const priorOutcome = isKept ? keptOutcome : searched?.judged;
  const outcomeOf = (controller: FluidController): Estimate => estimateOf(simulate(course, controller, world));
  const planner = capacityPlanner({ slo, bounds, allowed: ratio(allowed) });
  const estimates: Partial<Record<Seat, Estimate>> = {
    plan: outcomeOf(plannerController(planner, course)),
    ...(priorOutcome ? { prior: estimateOf(priorOutcome) } : {}),
    ...(options.rules ? { rules: outcomeOf(fallbackController(options.rules, course)) } : {}),
  };
  const seat = seatFor(before?.seat ?? "plan", estimates, budget);
  const why = seat === (before?.seat ?? "plan") ? "stays" : "cheaper";
  return { at, seat, why, prior, model, replayed, estimates, refused: null };
}

function modelOf(records: Records, { slo, bounds }: AdviceOptions): Result<CalibratedModel> {
  if (sloJudges(slo) === "speed") return calibrate(records, { cpu: bounds.cpu, allowed: latencyAllowed(slo) });
  return err(
    failure(
      "calibration.slo",
      "a model is calibrated by latency, and the SLO judges answers, which give no warning before they fail to come: the planner plans",
    ),
  );
}

const estimateOf = ({ cost, missed, steps }: FluidOutcome): Estimate => ({
  cost: (cost * 240) / Math.max(1, steps),
  missed: (100 * missed) / Math.max(1, steps),
});

/** Cost at the budget: what is missed beyond it is dear. */
export const lossOf = ({ cost, missed }: Estimate, budget: number): number =>
  cost * (1 + MISS * Math.max(0, missed / 100 - budget));

/** Whoever has the seat keeps it, unless another one is cheaper by more than the hysteresis. */
export function seatFor(now: Seat, estimates: Readonly<Partial<Record<Seat, Estimate>>>, budget: number): Seat {
  const own = estimates[now];
  let [seat, least] = [now, own === undefined ? Number.POSITIVE_INFINITY : lossOf(own, budget) / (1 + HYSTERESIS)];
  for (const other of seats) {
    const estimate = estimates[other];
    if (other === now || estimate === undefined) continue;
    const loss = lossOf(estimate, budget);
    if (loss < least) [seat, least] = [other, loss];
  }
  return seat === now && own === undefined ? "plan" : seat;
}

function replayedOf(course: Course, minutes: readonly Minute[], world: FluidOptions): NonNullable<Advice["replayed"]> {
  const { missed, steps } = simulate(course, recordedController(minutes, course), { ...world, from: 0 });
  const really = minutes.reduce((sum, minute) => sum + minute.missed, 0);
  return { missed: (100 * really) / Math.max(1, minutes.length), said: (100 * missed) / Math.max(1, steps) };
}

function believable({ missed, said }: NonNullable<Advice["replayed"]>): Result<void> {
  const [less, more] = missed < said ? [missed, said] : [said, missed];
  if (more - less <= REPLAYED.few || more <= REPLAYED.times * less) return ok(undefined);
  return err(
    failure(
      "calibration.replay",
      `the model says that ${said.toFixed(1)} steps in a hundred were missed where ${missed.toFixed(1)} were: the planner plans`,
      { retry: true },
    ),
  );
}

const mostPodsOf = (minutes: readonly Minute[]): number =>
  minutes.reduce((most, { pods }) => Math.max(most, pods), LEAST_PODS);

const leastSizeOf = (minutes: readonly Minute[]): number =>
  minutes.reduce(
    (least, { strain, size }) => (strain === null ? least : Math.min(least, size)),
    Number.POSITIVE_INFINITY,
  );
