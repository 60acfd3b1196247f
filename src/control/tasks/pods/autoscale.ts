/**
 * Pod autoscaling, AWARE's task: replicas, CPU and memory limits together, against an SLO. START READING HERE.
 * Owns: what defines the task for one workload, its defaults and its check.
 * Not here: what is seen (autoscale-observation.ts), done (autoscale-action.ts), rewarded (autoscale-reward.ts), and the
 * environment made of the three (autoscale-env.ts). Simulators, studies and the live loop use these same functions, so
 * training and serving cannot drift apart.
 */
import { dimensions } from "../../../act/index.ts";
import type { Ms, PerSecond, Ratio, Result } from "../../../base/index.ts";
import { err, failure, ok, perSecond, ratio, seconds } from "../../../base/index.ts";
import type { Slo } from "../../../observe/telemetry/index.ts";
import { parseSlo } from "../../../observe/telemetry/index.ts";
import type { PriorModel } from "./capacity/prior.ts";
import type { PodBounds } from "./limits.ts";
import type { Aim } from "./rates.ts";
import { aimProblems } from "./rates.ts";

/**
 * `paper`: Table 1 of AWARE and nothing else. `extended`: also what that snapshot hides, such as the number of replicas
 * that the action sets (docs/adr/0010-what-the-autoscaler-sees.md). `augmented`: also the ARIMA forecast of the load and a
 * table of what allocations have brought, as in the paper's TL+. `modelled`: also what the capacity model plans and expects.
 */
export type FeatureSet = "paper" | "extended" | "augmented" | "modelled";

/** What an action's numbers mean: see action.ts, and residual.ts for `residual`. `limits` is the paper's. */
export type ActionKind = "limits" | "demand" | "residual";

export interface AutoscaleTask extends Aim {
  readonly slo: Slo;
  readonly bounds: PodBounds;
  /** Weight of SLO preservation in the reward; the rest is utilisation's. */
  readonly alpha: number;
  /** How much nearer than the SLO the latency is that the reward asks for, as a share of it; 0 is none, as in the paper. */
  readonly headroom: number;
  /** Weight of the price of a change of allocation; 0 is none, as in the paper. See autoscale-reward.ts for the scale. */
  readonly switchCost: number;
  /** The utilisation that counts in full: 1 is the paper's reward, less leaves head-room unpunished. */
  readonly utilisation: { readonly cpu: Ratio; readonly memory: Ratio };
  readonly features: FeatureSet;
  readonly actions: ActionKind;
  /** The share of control steps that keep the SLO: what is left of the rest is the error budget. */
  readonly attainment: Ratio;
  /** Whether a prior that was searched in a calibrated model may plan in the planner's place (calibration/). */
  readonly portfolio: boolean;
  /** Measurements that are missing are taken from before, up to this age. Older, and the observation fails. */
  readonly maxAge: Ms;
  /** Between two decisions. */
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  /** The load that is drawn in the middle of the load feature. */
  readonly usualLoad: PerSecond;
  /** What the capacity model believes at first, from other workloads (capacity/prior.ts); absent: nothing. */
  readonly prior?: PriorModel;
}

export type AutoscaleOptions = Pick<AutoscaleTask, "slo" | "bounds"> & Partial<Omit<AutoscaleTask, "slo" | "bounds">>;

/** Half: with it, switching back and forth in every step never pays. Why it is just that: autoscale-reward.ts. */
export const sharpSwitchCost = 0.5;

/** A twentieth: what a minute's percentile jumps about by on a workload that keeps its SLO. */
export const usualHeadroom = 0.05;

const defaults: Omit<AutoscaleTask, "slo" | "bounds"> = {
  alpha: 0.5,
  headroom: usualHeadroom,
  switchCost: sharpSwitchCost,
  utilisation: { cpu: ratio(1), memory: ratio(1) },
  features: "extended",
  actions: "demand",
  objective: "paper",
  attainment: ratio(0.99),
  portfolio: false,
  // As old as the guard lets data be that an action rests on.
  maxAge: seconds(90),
  controlStep: seconds(15),
  episodeSteps: 100,
  usualLoad: perSecond(20),
};

/** What the product's agents have: they steer around the capacity model's plan, and are paid for what they save. */
export const productMode = Object.freeze<Pick<AutoscaleTask, "features" | "actions" | "objective">>({
  features: "modelled",
  actions: "residual",
  objective: "cost",
});

/** What the paper's agent has: its snapshot, its actions and its reward. */
export const paperMode = Object.freeze<
  Pick<AutoscaleTask, "headroom" | "switchCost" | "features" | "actions" | "objective" | "utilisation">
>({
  headroom: 0,
  switchCost: 0,
  features: "paper",
  actions: "limits",
  objective: "paper",
  utilisation: { cpu: ratio(1), memory: ratio(1) },
});

export function autoscaleTask(options: AutoscaleOptions): Result<AutoscaleTask> {
  const task: AutoscaleTask = { ...defaults, ...options };
  const slo = parseSlo(task.slo);
  if (!slo.ok) return slo;
  const problem = problemOf(task);
  return problem === undefined
    ? ok(Object.freeze(task))
    : err(failure("autoscale.task", `the autoscaling task makes no sense: ${problem}`));
}

/** The most that one episode can earn: with the paper's reward two a step, otherwise all of the fallback's bill. */
export const mostPerEpisode = ({
  episodeSteps,
  objective = "paper",
}: Pick<AutoscaleTask, "episodeSteps"> & Partial<Pick<AutoscaleTask, "objective">>): number =>
  (objective === "paper" ? 2 : 1) * episodeSteps;

function problemOf(task: AutoscaleTask): string | undefined {
  const { alpha, headroom, switchCost, utilisation } = task;
  for (const dimension of dimensions) {
    const { min, max } = task.bounds[dimension];
    const least = dimension === "replicas" ? 0 : 1;
    if (!(Number.isSafeInteger(min) && Number.isSafeInteger(max) && min >= least && min <= max && max >= 1))
      return `the bounds of ${dimension} are ${min} to ${max}: give whole numbers from ${least}, the lower one first`;
  }
  if (!(alpha >= 0 && alpha <= 1)) return `alpha is ${alpha}: give 0 to 1`;
  if (!(headroom >= 0 && headroom < 1)) return `headroom is ${headroom}: give 0 or more, and less than 1`;
  if (!(switchCost >= 0 && Number.isFinite(switchCost))) return `switchCost is ${switchCost}: give 0 or more`;
  for (const resource of ["cpu", "memory"] as const)
    if (!(utilisation[resource] > 0 && utilisation[resource] <= 1))
      return `the utilisation target of ${resource} is ${utilisation[resource]}: give more than 0 and at most 1`;
  if (!(task.attainment > 0 && task.attainment < 1))
    return `attainment is ${task.attainment}: give more than 0 and less than 1, for nothing keeps an SLO in every step`;
  const [wrong] = aimProblems(task);
  if (wrong !== undefined) return `${wrong.key} ${wrong.reason}`;
  if (task.actions === "residual" && task.features !== "modelled")
    return `actions are a residual of the capacity model's plan, and features are '${task.features}': give 'modelled'`;
  if (task.portfolio && task.actions !== "residual")
    return `portfolio chooses who plans, and actions are '${task.actions}': give 'residual', or no portfolio`;
  if (!(task.maxAge > 0)) return `maxAge is ${task.maxAge} ms: give more than 0`;
  if (!(task.controlStep > 0 && Number.isFinite(task.controlStep)))
    return `controlStep is ${task.controlStep} ms: give more than 0`;
  if (!(Number.isSafeInteger(task.episodeSteps) && task.episodeSteps >= 1))
    return `episodeSteps is ${task.episodeSteps}: give a whole number from 1`;
  if (!(task.usualLoad > 0 && Number.isFinite(task.usualLoad)))
    return `usualLoad is ${task.usualLoad} requests/s: give more than 0`;
  return undefined;
}
