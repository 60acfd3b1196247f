/**
 * The contract of an environment with many agents that act at once: PettingZoo's parallel semantics.
 * Not here: one agent's environment (contract.ts).
 */
import type { EnvSpec, ResetRequest, Step } from "./contract.ts";
import type { Space } from "./space.ts";

export interface FleetEnv<Obs, Action> {
  readonly spec: EnvSpec;
  /** All that an episode may have, now or later. */
  readonly possibleAgents: readonly string[];
  /** Those that act in the next step. */
  readonly agents: readonly string[];
  /** Of each agent. */
  readonly observationSpace: Space<Obs>;
  readonly actionSpace: Space<Action>;
  /** So many numbers at the end of an observation say which choices there are now; 0 where none do. */
  readonly maskSize: number;
  reset(request?: ResetRequest): FleetReset<Obs>;
  /**
   * Takes one action for each of `agents`. Answers for all that acted, and for those who joined, with reward 0. Whoever ended does
   * not act again in this episode.
   */
  step(actions: ReadonlyMap<string, Action>): ReadonlyMap<string, Step<Obs>>;
  close(): void;
}

export interface FleetReset<Obs> {
  readonly obs: ReadonlyMap<string, Obs>;
  readonly info: Readonly<Record<string, unknown>>;
}
