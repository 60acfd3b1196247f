/**
 * What stands beside the learners: nobody, the best constant setting, ENSURE, and one who knows how many calls will come.
 * Owns: these controllers. Not here: ENSURE itself (control/fallbacks).
 */
import type { WorkloadId } from "../../base/index.ts";
import { FleetTraining, variants } from "../../control/agents/index.ts";
import { ensureController, ensureUtil } from "../../control/fallbacks/index.ts";
import type { Fallback } from "../../control/index.ts";
import type { FunctionSetting } from "../../control/tasks/functions/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import type { FunctionSpec } from "../../sim/index.ts";
import type { Scene } from "./scene.ts";

export type Rules = Fallback<unknown, FunctionReading, FunctionSetting>;
export type RulesOf = (workload: WorkloadId) => Rules;

export const nobody: RulesOf = () => constant({});
export const ensure: RulesOf = () => ensureController() as Rules;
export const relaxedEnsure: RulesOf = () => ensureController(ensureUtil) as Rules;

function constant(want: Partial<FunctionSetting>): Rules {
  return { name: "constant", start: () => null, step: (state) => ({ want, reasons: [], state }) };
}

export interface RunOfRules {
  readonly scene: Scene;
  readonly functions: readonly FunctionSpec[];
  readonly kernels: Kernels;
  readonly seed: number;
  readonly episodes: number;
}

/** The setting of each function that earns the most when it never changes, by trial on other episodes than those reported. */
export function bestConstants(run: RunOfRules): RulesOf {
  const best = new Map<WorkloadId, { reward: number; setting: FunctionSetting }>();
  for (const containers of [2, 3, 4, 6, 8, 12, 16, 24])
    for (const memory of [128, 192, 256, 384, 512])
      for (const [workload, reward] of rewardsOf(run, () => constant({ shares: 1_024, memory, containers })))
        if (reward > (best.get(workload)?.reward ?? Number.NEGATIVE_INFINITY))
          best.set(workload, { reward, setting: { shares: 1_024, memory, containers } });
  return (workload) => constant(best.get(workload)?.setting ?? {});
}

/**
 * Told how many calls come in the steps ahead: square-root staffing for them, with all the memory that a function is comfortable
 * with; of a few ways to do so the one that earns the most. Not the very best that could be done, but by far more than any
 * controller can know, since rates are drawn anew each step.
 */
export function clairvoyant(run: RunOfRules): (episodes: RunOfRules) => RulesOf {
  let best: { reward: number; how: Foresight } | undefined;
  for (const spare of [1, 2, 3])
    for (const ahead of [1, 2]) {
      const how = { spare, ahead };
      const rewards = [...rewardsOf(run, foreseeing(run, how)).values()];
      const reward = rewards.reduce((sum, value) => sum + value, 0);
      if (best === undefined || reward > best.reward) best = { reward, how };
    }
  const { how } = best as { readonly how: Foresight };
  return (episodes) => foreseeing(episodes, how);
}

interface Foresight {
  readonly spare: number;
  /** Steps that containers are kept ready for: starts take longer than a moment. */
  readonly ahead: number;
}

function foreseeing(run: RunOfRules, { spare, ahead }: Foresight): RulesOf {
  const calls = callsOf(run);
  const profiles = new Map(run.functions.map(({ id, profile }) => [id, profile]));
  return (workload) => {
    const profile = profiles.get(workload);
    const own = calls.get(workload) ?? [];
    let episode = -1;
    return {
      name: "clairvoyant",
      // Episodes begin in the order in which they were recorded.
      start: () => {
        episode += 1;
        return 0;
      },
      step: (state) => {
        const at = state as number;
        // The first start is that of the rules' making, before any episode.
        const coming = Math.max(...(own[episode - 1] ?? []).slice(at, at + ahead), 0);
        const busy =
          ((coming / run.scene.config.step) * ((profile?.compute.time ?? 0) + (profile?.io.time ?? 0))) / 1_000;
        const containers = Math.max(1, Math.ceil(busy + spare * Math.sqrt(busy)));
        const memory = Math.min(1_024, Math.ceil((profile?.memory.comfortable ?? 512) / 32) * 32);
        return { want: { shares: 1_024, memory, containers }, reasons: [], state: at + 1 };
      },
    };
  };
}

/** Calls of each step of each episode: they do not depend on who manages. */
function callsOf({ scene, functions, kernels, seed, episodes }: RunOfRules): Map<WorkloadId, number[][]> {
  const training = withRules({ scene, functions, kernels, seed, episodes }, nobody);
  const calls = new Map<WorkloadId, number[][]>(functions.map(({ id }) => [id, []]));
  for (let episode = 0; episode < episodes; episode++) {
    for (const rows of calls.values()) rows.push([]);
    training.episode({
      learning: false,
      onStep: (world) => {
        for (const [workload, rows] of calls) rows.at(-1)?.push(world.truth(workload).arrived);
      },
    });
  }
  return calls;
}

export function withRules({ scene, functions, kernels, seed }: RunOfRules, rules: RulesOf) {
  const { pool, bounds } = scene;
  return new FleetTraining({
    fleet: scene.fleet(functions),
    variant: variants["s-rl"],
    kernels,
    seed,
    pool,
    bounds,
    rules,
  });
}

function rewardsOf(run: RunOfRules, rules: RulesOf): Map<WorkloadId, number> {
  const training = withRules(run, rules);
  const rewards = new Map<WorkloadId, number>();
  for (let episode = 0; episode < run.episodes; episode++)
    for (const { workload, reward } of training.episode({ learning: false }).agents)
      rewards.set(workload, (rewards.get(workload) ?? 0) + reward);
  return rewards;
}
