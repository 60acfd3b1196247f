/**
 * The functions of the simulated platform as what a plane manages: the functions task, a policy of its kind, ENSURE and the guard.
 * Owns: putting these together, and a life for steps of ten seconds. Not here: the parts (control, learn), the world.
 *
 * Policies are PPO's, learned in simulation (models/functions), and do not learn on: on-policy learners have nothing to learn from
 * the fallback's steps. Each shows in shadow what it would do, acts when its gates are passed, and goes back where it misses more.
 * With a bootstrap those that do not act learn in a simulator fitted to their function; that was not measured to help (docs/adr/0031).
 * They win where calls jump from step to step; where they rise and fall slowly, ENSURE does (models/functions/report.json).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../adapters/runtime/index.ts";
import { type AgentId, unwrap } from "../../../base/index.ts";
import type { ModeName } from "../../../contract/index.ts";
import { ensureController } from "../../../control/fallbacks/index.ts";
import { defaultGates, type LifecycleProfile, parseLifecycleProfile } from "../../../control/lifecycle/index.ts";
import { functionLimits, functionsTask, functionView, usualBounds } from "../../../control/tasks/functions/index.ts";
import { Frozen, openLearner } from "../../../learn/rl/index.ts";
import type { Kernels } from "../../../learn/tensor/index.ts";
import { type Target, taskTarget } from "../../../plane/index.ts";
import type { FunctionKind } from "../../../sim/index.ts";
import { FUNCTIONS_STEP, type PlacedFunction } from "./functions-world.ts";

/** Four minutes an episode. */
const life = { controlStep: FUNCTIONS_STEP, episodeSteps: 24 };
const task = functionsTask(life);
/** ENSURE moves several containers at once. */
const limits = unwrap(functionLimits(usualBounds, { steps: 8 }));
/** By ten-second windows whose 99th percentile is hardly above that of a function alone: nobody keeps it always. */
const ATTAINMENT = 0.7;

/**
 * There is no estimate for choices from a fallback's record, and without one the reward gate would compare the fallback with itself, so
 * what is asked before a policy acts is that its proposals in shadow are sound. ENSURE misses the SLO in half of the steps and gives several
 * times the shares that are used, so a policy may want to shrink what it gave in half of those, as models of other tasks may: with a
 * quarter they act in 36 to 47 % of decisions instead of 63 to 72 %, and miss more (docs/adr/0031). A canary's band means nothing
 * between seven choices, each of which is one step of one knob.
 */
const gates = {
  ...defaultGates,
  byModel: true,
  offPolicy: null,
  shadow: defaultGates.shadow && { ...defaultGates.shadow, maxRiskyRate: 0.5 },
  canary: null,
};
const profiles = new Map<ModeName, LifecycleProfile>();

function profileOf(mode: ModeName): LifecycleProfile {
  const profile =
    profiles.get(mode) ??
    unwrap(
      parseLifecycleProfile({
        mode,
        window: 4,
        maxReward: task.episodeSteps,
        online: { kind: "fallback", times: 1, plus: 0 },
        serving: { kind: "fallback", times: 1, plus: 0 },
        deviation: { kind: "fallback", times: 2, atLeast: 3 },
        gates,
      }),
    );
  profiles.set(mode, profile);
  return profile;
}

/** Of a kind of function, as it ships with the package. */
export const shippedPolicy = (kind: FunctionKind): Uint8Array =>
  readFileSync(join(packageRoot(), "models", "functions", `${kind}.ckpt`));

export interface FunctionTargetOptions extends PlacedFunction {
  readonly agent: AgentId;
  readonly kernels: Kernels;
  readonly seed: number;
  /** Policies go on learning in simulators fitted to their functions; as they ship unless given. */
  readonly bootstrap?: boolean;
}

export function functionTarget({
  demo,
  agent,
  have,
  twinHave,
  kernels,
  seed,
  bootstrap = false,
}: FunctionTargetOptions): Target {
  const policy = shippedPolicy(demo.kind);
  return taskTarget({
    id: demo.id,
    agent,
    title: demo.title,
    fallback: "ENSURE",
    slo: { kind: "latency", quantile: 0.99, target: demo.slo },
    mode: "act",
    attainment: ATTAINMENT,
    have,
    twinHave,
    profile: profileOf,
    view: functionView,
    task: () => (bootstrap ? functionsTask({ ...life, bootstrap: { workload: demo.id, slo: demo.slo, seed } }) : task),
    limits,
    rules: ensureController(),
    createLearner: ({ attempt }) => new Frozen(unwrap(openLearner(policy, kernels)), { seed: seed + 7_919 * attempt }),
    // Nothing is trained or estimated: the policy stays as it is.
    settings: { estimateEvery: Number.MAX_SAFE_INTEGER },
    seed,
    training: { trainEvery: Number.MAX_SAFE_INTEGER, updates: 0, replaySize: () => 0 },
  });
}
