/**
 * The bootstrap as work beside the loop: when it is due, its job as plain data, and what comes of it.
 * Not here: what is done (train.ts), threads (control/loop's trainer), how a new policy comes to act (control/lifecycle).
 */
import type { Ms, WorkloadId } from "../../../../base/index.ts";
import type { AdviceJob, Advisor } from "../../../index.ts";
import type { FunctionBounds } from "../action.ts";
import type { FunctionMemory } from "../observation.ts";
import type { RewardForm } from "../reward.ts";
import type { Bootstrapped } from "./advice.ts";
import { extentOf } from "./records.ts";
import type { BootstrapWork } from "./work.ts";

export const FUNCTION_BOOTSTRAP = "function bootstrap";

export interface BootstrapOptions {
  readonly workload: WorkloadId;
  readonly slo: Ms;
  readonly seed: number;
  /** By what is learned: strict unless given, as it is what keeps SLOs. */
  readonly reward?: RewardForm;
  /** Of three hundred steps. */
  readonly episodes?: number;
  /** Recorded steps before the first, and between two. */
  readonly after?: number;
  readonly every?: number;
  /** The rules act until a simulator was looked into once: for policies that know nothing yet. Otherwise a policy acts as it would without. */
  readonly waits?: boolean;
  /** For work in place, such as studies do; threads bring their own. */
  readonly inPlace?: (work: BootstrapWork) => Bootstrapped;
}

const EPISODES = 80;
const AFTER = 180;
const EVERY = 360;

export interface AdvisedTask {
  readonly bounds: FunctionBounds;
  readonly step: Ms;
}

export function bootstrapAdvisor(options: BootstrapOptions, { bounds, step }: AdvisedTask): Advisor {
  const {
    workload,
    slo,
    seed,
    reward = "strict",
    episodes = EPISODES,
    after = AFTER,
    every = EVERY,
    inPlace,
  } = options;
  return {
    work(memory, policy): AdviceJob | undefined {
      const known = (memory as FunctionMemory).bootstrap;
      if (known === undefined || policy === undefined) return undefined;
      const { count, newest } = extentOf(known.records);
      if (count < after) return undefined;
      if (known.advice !== null && newest - known.advice.at < (every * step) / 1_000) return undefined;
      const config: BootstrapWork = {
        records: known.records,
        workload,
        slo,
        step,
        bounds,
        seed: seed + (newest % 1_000_003),
        reward,
        episodes,
        policy: policy(),
      };
      return { kind: FUNCTION_BOOTSTRAP, config };
    },
    advise: (config) => inPlace?.(config as BootstrapWork),
    policyIn: (outcome) => (isBootstrapped(outcome) ? (outcome.policy ?? undefined) : undefined),
    advised(memory, outcome) {
      const known = memory as FunctionMemory;
      if (known.bootstrap === undefined || !isBootstrapped(outcome)) return memory;
      return { ...known, bootstrap: { ...known.bootstrap, advice: outcome.advice } };
    },
  };
}

const isBootstrapped = (value: unknown): value is Bootstrapped =>
  typeof value === "object" && value !== null && "advice" in value && "policy" in value;

/** Whether a policy may act: not where somebody looked whether it is as good as the rules, and it is not. */
export const mayPolicyAct = (
  { bootstrap: known }: FunctionMemory,
  { waits = false }: Pick<BootstrapOptions, "waits">,
): boolean => (known?.advice ? known.advice.seat !== "rules" : !waits);
