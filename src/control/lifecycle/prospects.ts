/**
 * What stands between an agent and its next stage, for people who look at it.
 * Owns: asking the gates' own questions without any consequence. Not here: the questions (judge.ts), the consequences
 * (lifecycle.ts).
 */
import { judgeOnline, judgeServing, thresholdLevel } from "./judge.ts";
import type { LifecycleProfile } from "./profile.ts";
import type { AgentState, Judgement } from "./state.ts";
import { fallbackLevel } from "./state.ts";

/** What has to hold for the next stage; in SERVING, what has to go on holding. */
export function gatesAhead(profile: LifecycleProfile, state: AgentState): readonly Judgement[] {
  if (state.stage === "INITIALIZED") return [];
  if (state.stage === "OFFLINE") return judgeOnline(profile, state);
  const serving = judgeServing(profile, state);
  if (state.stage === "SERVING" || profile.gates.canary === null) return serving;
  const { canary } = state;
  const isOver = canary.kind === "passed";
  const band = canary.kind === "trial" ? canary.band : null;
  return [...serving, { gate: "canary", holds: isOver, found: band, asked: null, about: "the canary is over" }];
}

export interface ThresholdLevels {
  readonly online: number | null;
  readonly serving: number | null;
  /** The fallback's measured level. */
  readonly fallback: number | null;
}

/** In reward per episode; null where it is not known yet. */
export function thresholdLevels(profile: LifecycleProfile, state: AgentState): ThresholdLevels {
  return {
    online: thresholdLevel(profile.online, { profile, state }),
    serving: thresholdLevel(profile.serving, { profile, state }),
    fallback: fallbackLevel(state)?.reward ?? null,
  };
}
