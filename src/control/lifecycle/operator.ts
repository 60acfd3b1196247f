/**
 * Whether a person's wish about an agent's stage can be followed.
 * Owns: the refusals, each with its reason. Not here: what follows from a wish (lifecycle.ts), who may ask (server).
 */
import type { Failure } from "../../base/index.ts";
import { failure } from "../../base/index.ts";
import { needsLevel } from "./judge.ts";
import type { LifecycleProfile } from "./profile.ts";
import type { AgentState, OperatorWish } from "./state.ts";
import { fallbackLevel } from "./state.ts";

export interface OperatorContext {
  readonly profile: Pick<LifecycleProfile, "window" | "serving" | "deviation" | "gates">;
  readonly state: AgentState;
  /** Whether the learner proposes anything usable. */
  readonly isWell: boolean;
  /** Whether the task knows enough of the workload for it to act. */
  readonly isReady: boolean;
  readonly isPaused: boolean;
}

export function operatorProblem(wish: OperatorWish, { profile, state, isWell, isReady, isPaused }: OperatorContext) {
  const { stage } = state;
  if (wish === "roll-back")
    return stage === "ONLINE" || stage === "SERVING"
      ? undefined
      : refused(`there is nothing to roll back in ${stage}, where the fallback acts already`);
  if (stage === "INITIALIZED") return refused("the agent has not begun; wait for its first step");
  if (stage === "SERVING") return refused("SERVING is the highest stage");
  if (isPaused) return refused("the agent is paused; resume it first");
  if (!isWell) return refused("its learner is not well, so it could not act; wait until it is mended");
  if (!isReady)
    return refused("too little was seen of the workload to say what it needs; wait for some minutes of load");
  const measured = fallbackLevel(state)?.episodes ?? 0;
  // Without that level no later gate could be judged: not the canary's, not the rollback's.
  if (stage === "OFFLINE" && needsLevel(profile) && measured < profile.window)
    return refused(
      `the fallback's level is known from ${measured} of the ${profile.window} episodes that later gates are measured against; wait for the rest`,
    );
  return undefined;
}

const refused = (why: string): Failure<"lifecycle.operator"> =>
  failure("lifecycle.operator", `the agent's stage stays as it is: ${why}`);
