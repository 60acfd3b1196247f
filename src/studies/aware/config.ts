/**
 * What all AWARE studies have in their config: everything about scenes and agents that shapes an outcome.
 * The values come from where the product has them; a study records them with its results, and its jobs use what the
 * record says.
 */
import type { AgentSettings, Gates } from "../../control/lifecycle/index.ts";
import { agentDefaults, defaultGates } from "../../control/lifecycle/index.ts";
import type { ShieldOptions } from "../../control/tasks/pods/index.ts";
import { autoscaleBcq, defaultShield } from "../../control/tasks/pods/index.ts";
import type { BcqConfig } from "../../learn/rl/index.ts";
import type { WorldChoice } from "../../pretraining/index.ts";
import type { LoadSource } from "./loads.ts";
import type { Rules } from "./rules.ts";

export interface AgentConfig {
  readonly learner: BcqConfig;
  readonly settings: AgentSettings;
  readonly shield: ShieldOptions;
  readonly gates: Gates;
  readonly updatesPerStep: number;
}

export interface AwareConfig {
  readonly loads: LoadSource;
  readonly rung: WorldChoice["rung"];
  readonly alpha: number;
  readonly episodeSteps: number;
  /** null: measured per scene, before any controller is tried. */
  readonly rules: Rules | null;
  /** Hours of the scene's load on which settings of the rules are tried. */
  readonly trialHours: number;
  readonly agent: AgentConfig;
}

export function awareConfig({ quick }: { readonly quick: boolean }): AwareConfig {
  return {
    loads: quick ? "generated" : "recorded",
    rung: "event",
    alpha: 0.5,
    episodeSteps: 100,
    rules: null,
    trialHours: quick ? 1 : 24,
    agent: {
      learner: autoscaleBcq,
      settings: agentDefaults,
      shield: defaultShield,
      gates: defaultGates,
      updatesPerStep: 1,
    },
  };
}

/** The first of every ten seeds, counted from 1: sweeps cost as much as what they vary, and need fewer. */
export const isSwept = (seed: number, ofTen: number): boolean => (seed - 1) % 10 < ofTen;
