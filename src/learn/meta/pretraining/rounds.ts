/**
 * Which environments take part in which round.
 * Owns: the phases of pre-training and the order within them; both follow from the seed and the round's number alone.
 */

import type { Rng } from "../../../base/index.ts";
import { seededRng } from "../../../base/index.ts";

/**
 * warm-up: everybody plays once with the neutral embedding, and nothing is learned: the features' scale comes from it.
 * joint: the environments of the round play, then both learners learn. refresh: the encoder is frozen and every
 * embedding computed anew. settle: the base learner learns under those. evaluation: everybody plays without noise.
 */
export type Phase = "warm-up" | "joint" | "refresh" | "settle" | "evaluation";

/** Measured at full size, as shares of a joint round. */
const COSTS: { readonly [P in Phase]: number } = {
  "warm-up": 0.1,
  joint: 1,
  refresh: 0.3,
  settle: 1,
  evaluation: 0.1,
};

export interface Round {
  readonly phase: Phase;
  readonly environments: readonly number[];
  /** How far the joint phase has come, 0 to 1. */
  readonly progress: number;
}

export interface RoundPlanOptions {
  readonly environments: number;
  readonly environmentsPerRound: number;
  readonly visits: number;
  readonly seed: number;
}

export class RoundPlan {
  readonly #options: RoundPlanOptions;
  /** Rounds in which everybody takes part once. */
  readonly #perTurn: number;

  constructor(options: RoundPlanOptions) {
    this.#options = options;
    this.#perTurn = Math.ceil(options.environments / options.environmentsPerRound);
  }

  /** Rounds in all. */
  get total(): number {
    return this.#perTurn * (this.#options.visits + 3) + 1;
  }

  /** The first round after the warm-up. */
  get firstJoint(): number {
    return this.#perTurn;
  }

  /** What rounds up to this one cost, in joint rounds: enough to say how long it will take. */
  costBefore(round: number): number {
    const phases = [
      "warm-up",
      ...Array.from({ length: this.#options.visits }, () => "joint" as const),
      "refresh",
    ] as const;
    let cost = 0;
    for (const [turn, phase] of phases.entries()) {
      const done = Math.min(Math.max(round - turn * this.#perTurn, 0), this.#perTurn);
      cost += done * COSTS[phase];
    }
    const after = round - phases.length * this.#perTurn;
    return cost + (after > 0 ? COSTS.settle + (after - 1) * COSTS.evaluation : 0);
  }

  at(round: number): Round {
    const { visits } = this.#options;
    const turn = Math.floor(round / this.#perTurn);
    const joint = visits * this.#perTurn;
    const progress = Math.min(Math.max((round - this.firstJoint) / Math.max(1, joint - 1), 0), 1);
    if (turn === 0) return { phase: "warm-up", environments: this.#inOrder(round), progress };
    if (turn <= visits) return { phase: "joint", environments: this.#shuffled(turn, round), progress };
    if (turn === visits + 1) return { phase: "refresh", environments: this.#inOrder(round), progress };
    if (round === (visits + 2) * this.#perTurn) return { phase: "settle", environments: [], progress };
    return { phase: "evaluation", environments: this.#inOrder(round - 1), progress };
  }

  #inOrder(round: number): readonly number[] {
    return this.#slice(
      Array.from({ length: this.#options.environments }, (_, i) => i),
      round,
    );
  }

  #shuffled(turn: number, round: number): readonly number[] {
    const order = Array.from({ length: this.#options.environments }, (_, i) => i);
    shuffle(order, seededRng(this.#options.seed).fork("rounds").fork(turn));
    return this.#slice(order, round);
  }

  #slice(order: readonly number[], round: number): readonly number[] {
    const { environmentsPerRound: size } = this.#options;
    const at = (round % this.#perTurn) * size;
    return order.slice(at, at + size);
  }
}

function shuffle(items: number[], rng: Rng): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = rng.int(i + 1);
    const kept = items[i]!;
    items[i] = items[j]!;
    items[j] = kept;
  }
}
