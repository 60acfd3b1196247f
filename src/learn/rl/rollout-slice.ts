/**
 * The steps that one stream of episodes takes in one round, as columns over one block of memory that two threads see.
 * Not here: who takes them (rollout-task.ts), who learns from them (parallel-training.ts).
 */

import type { End } from "../env/index.ts";
import type { LearnerShape, Transition } from "./learner.ts";
import { actionSize } from "./learner.ts";

const END_NAMES: readonly End[] = ["no", "terminated", "truncated"];

export interface SliceSize {
  readonly shape: LearnerShape;
  readonly steps: number;
}

export class RolloutSlice {
  readonly #obs: number;
  readonly #action: number;
  readonly #rewards: Float64Array;
  readonly #floats: Float32Array;
  readonly #ends: Uint8Array;

  /** Rewards first, for their alignment; then rows of [obs | next obs | executed | proposed | log-probability]; ends. */
  constructor(block: SharedArrayBuffer, { shape, steps }: SliceSize) {
    this.#obs = shape.obs;
    this.#action = actionSize(shape.action);
    const floats = steps * rowFloats(shape);
    this.#rewards = new Float64Array(block, 0, steps);
    this.#floats = new Float32Array(block, steps * 8, floats);
    this.#ends = new Uint8Array(block, steps * 8 + floats * 4, steps);
  }

  static bytes({ shape, steps }: SliceSize): number {
    return steps * (8 + 4 * rowFloats(shape) + 1);
  }

  write(row: number, t: Required<Pick<Transition, "obs" | "action" | "proposed" | "logProb" | "nextObs">> & Outcome) {
    const { obs, nextObs, action, proposed, logProb } = this.#at(row);
    obs.set(t.obs);
    nextObs.set(t.nextObs);
    action.set(t.action);
    proposed.set(t.proposed);
    logProb[0] = t.logProb;
    this.#rewards[row] = t.reward;
    this.#ends[row] = END_NAMES.indexOf(t.end);
  }

  /** Views into the block: valid until the next round. */
  read(row: number, stream: number): Transition {
    const { logProb, ...vectors } = this.#at(row);
    const end = END_NAMES[this.#ends[row] ?? 0] ?? "no";
    return { ...vectors, logProb: logProb[0] ?? 0, reward: this.#rewards[row] ?? 0, end, stream };
  }

  #at(row: number) {
    const [obs, size] = [this.#obs, this.#action];
    const from = row * (2 * (obs + size) + 1);
    const view = (at: number, count: number) => this.#floats.subarray(from + at, from + at + count);
    return {
      obs: view(0, obs),
      nextObs: view(obs, obs),
      action: view(2 * obs, size),
      proposed: view(2 * obs + size, size),
      logProb: view(2 * (obs + size), 1),
    };
  }
}

type Outcome = Pick<Transition, "reward" | "end">;

const rowFloats = (shape: LearnerShape): number => 2 * (shape.obs + actionSize(shape.action)) + 1;
