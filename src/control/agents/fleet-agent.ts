/**
 * One agent of a fleet in training: its policy, and the step that waits for its reward.
 * Owns: acting, and handing complete steps to its learner. Not here: the fleet's episodes (fleet-training.ts).
 */
import { type Rng, unwrap, type WorkloadId } from "../../base/index.ts";
import type { Decision, Learner } from "../../learn/rl/index.ts";

export interface FleetAgentOptions {
  readonly workload: WorkloadId;
  readonly group: string;
  readonly learner: Learner;
  readonly rng: Rng;
  readonly incarnation: number;
  /** The number of the choice that one of its actions stands for. */
  readonly choiceOf: (action: Float32Array) => number;
}

export class FleetAgent {
  readonly workload: WorkloadId;
  readonly group: string;
  readonly learner: Learner;
  readonly incarnation: number;
  /** Draws of its own: one that began with another's model does not repeat the other's choices. */
  readonly #explorer: { readonly rng: Rng };
  readonly #choiceOf: FleetAgentOptions["choiceOf"];
  #made: { readonly obs: Float32Array; readonly context: Float32Array; readonly decision: Decision } | undefined;

  constructor({ workload, group, learner, rng, incarnation, choiceOf }: FleetAgentOptions) {
    this.workload = workload;
    this.group = group;
    this.learner = learner;
    this.incarnation = incarnation;
    this.#choiceOf = choiceOf;
    this.#explorer = { rng };
  }

  act(obs: Float32Array, context: Float32Array, { explore }: { readonly explore: boolean }): number {
    const decision = unwrap(this.learner.act(obs, { explore, explorer: this.#explorer }));
    this.#made = { obs, context, decision };
    return this.#choiceOf(decision.action);
  }

  /** What came of its last choice; true where it learned from it at once. Nothing where it made none in this step. */
  learn(step: {
    readonly reward: number;
    readonly nextObs: Float32Array;
    readonly nextContext: Float32Array;
    readonly end: "no" | "truncated";
  }): boolean {
    if (this.#made === undefined) return false;
    const { obs, context, decision } = this.#made;
    this.#made = undefined;
    const { reward, nextObs, nextContext, end } = step;
    unwrap(
      this.learner.observe({
        obs,
        action: decision.action,
        logProb: decision.logProb,
        reward,
        nextObs,
        end,
        criticContext: context,
        nextCriticContext: nextContext,
      }),
    );
    return this.learner.update() !== undefined;
  }

  /** A choice that nobody learns from. */
  forget(): void {
    this.#made = undefined;
  }
}
