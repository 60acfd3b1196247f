/**
 * What the capacity model adds to an observation: its plan, what it expects of it, and what the guard would leave now.
 * Owns: the values of its features (modelled-features.ts), and the centre that residual actions are around. Not here: the model (capacity/).
 */
import type { Allocation, Reach } from "../../../act/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
import { ok, ratio } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { CalibrationMemory } from "./calibration/seat.ts";
import { calibrationAfter, seatedPlan } from "./calibration/seat.ts";
import type { LoadHistory } from "./capacity/minutes.ts";
import type { CapacityPlanner } from "./capacity/planner.ts";
import { capacityPlanner } from "./capacity/planner.ts";
import type { PodBounds } from "./limits.ts";
import type { Modelled } from "./modelled-features.ts";
import { modelledFeatureNames } from "./modelled-features.ts";
import type { Observation } from "./observation.ts";
import type { Centre } from "./residual.ts";

/** Half of what may be missed at all: the other half is for what no model foresees. */
const SHARE_OF_BUDGET = 0.5;

export const plannerOf = (
  { slo, bounds, attainment, prior }: Pick<AutoscaleTask, "slo" | "bounds" | "attainment" | "prior">,
  history?: LoadHistory,
) =>
  capacityPlanner({
    slo,
    bounds,
    allowed: ratio(SHARE_OF_BUDGET * (1 - attainment)),
    ...(history ? { history } : {}),
    ...(prior ? { prior } : {}),
  });

interface Context {
  readonly now: Ms;
  readonly reach?: Reach | undefined;
  /** Absent: the planner plans. */
  readonly portfolio?: Portfolio | undefined;
}

interface Portfolio {
  readonly calibration: CalibrationMemory | undefined;
  readonly bounds: PodBounds;
  /** The share of steps that may miss the SLO. */
  readonly budget: number;
}

/** The observation with what the model says of it. Its last features are in the order of their names. */
export function withModel(
  planner: CapacityPlanner,
  { seen, reading }: { readonly seen: Observation; readonly reading: WorkloadReading },
  { now, reach, portfolio }: Context,
): Result<Observation, never> {
  const before = seen.memory.capacity ?? planner.fresh;
  const planned = planner.step(before, reading, now);
  const { memory } = planned;
  const calibration =
    portfolio && calibrationAfter(portfolio.calibration, { before, after: memory, reading, budget: portfolio.budget });
  const { plan, by } = seatedPlan(planned, { ...portfolio, calibration, planner, reading, now });
  const { values } = seen;
  const have = reading.spec;
  if (plan !== null) {
    const first = values.length - modelledFeatureNames.length;
    const { setting, strain, risk, load } = plan;
    const measured = seen.measures.load;
    values[first] = clip(Math.log((setting.replicas * setting.cpu) / Math.max(1, have.replicas * have.cpu)) / LOG_FOUR);
    values[first + 1] = clip(strain);
    // A tenth is much: beyond it all risks are alike.
    values[first + 2] = clip(2 * Math.min(1, 10 * risk) - 1);
    values[first + 3] = load + measured > 0 ? (load - measured) / (load + measured) : 0;
    values[first + 4] = clip(memory.caution.level / 3);
  }
  const modelled: Modelled = { plan, by, have, memory, reach };
  const { at, measures, held, demand, harmed } = seen;
  const { last, loadBefore, demand: demandKept } = seen.memory;
  // Written out: this is passed in every step, and copies by spread cost several times as much.
  const kept = calibration
    ? { last, loadBefore, demand: demandKept, capacity: memory, calibration }
    : { last, loadBefore, demand: demandKept, capacity: memory };
  return ok({ at, values, measures, held, demand, harmed, memory: kept, modelled });
}

const LOG_FOUR = Math.log(4);
const clip = (value: number): number => Math.min(Math.max(value, -1), 1);

/**
 * A policy may go no lower than where the model expects so many misses, times what may be missed. Beyond it nothing could be
 * learned that a model does not know: the SLO would be missed.
 */
const MOST_RISK = 10;
const HALVINGS = 4;

/** What residual actions are around; undefined while there is no plan. */
export function centreOf(
  planner: CapacityPlanner,
  { bounds, attainment }: Pick<AutoscaleTask, "bounds" | "attainment">,
  { modelled }: Pick<Observation, "modelled">,
): Centre | undefined {
  if (!modelled?.plan) return undefined;
  const { plan, have, memory, reach } = modelled;
  const limit = Math.max(plan.risk, MOST_RISK * SHARE_OF_BUDGET * (1 - attainment));
  const riskOf = (cpu: number, replicas: number): number =>
    planner.outlook(memory, { replicas, cpu: cpu as Allocation["cpu"], load: plan.load }).risk;
  return {
    plan: plan.setting,
    have,
    bounds,
    reach,
    leastSize({ replicas, from, to }) {
      if (riskOf(from, replicas) <= limit) return from;
      let [low, high] = [from, to];
      for (let i = 0; i < HALVINGS; i++) {
        const middle = Math.sqrt(low * high);
        if (riskOf(middle, replicas) <= limit) high = middle;
        else low = middle;
      }
      return high;
    },
  };
}
