/**
 * What an on-policy learner gathers between two updates: transitions of several streams in the order of arrival, with
 * the log-probability each action was drawn with. Not here: what is learned from it (ppo.ts), the sums (gae.ts).
 */

import type { Rng } from "../../base/index.ts";
import { estimateAdvantages } from "./gae.ts";
import type { LearnerShape, Transition } from "./learner.ts";
import { actionSize } from "./learner.ts";
import type { RewardScaler } from "./normaliser.ts";
import { Replay } from "./replay.ts";
import type { StatePart } from "./saved-state.ts";

export class Rollout {
  readonly transitions: Replay;
  readonly streamCount: number;
  readonly logProbs: Float32Array;
  readonly streams: Int32Array;
  /** V of each row's observation and of the one after it, filled by the learner. */
  readonly values: Float32Array;
  readonly nextValues: Float32Array;
  readonly rewards: Float64Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  /** All row numbers, in the order that `restoreOrder` or `shuffle` left them. */
  readonly order: Int32Array;

  constructor({ shape, streams, steps }: { shape: LearnerShape; streams: number; steps: number }) {
    const capacity = streams * steps;
    const { obs, actorContext, criticContext } = shape;
    const widths = { obs, action: actionSize(shape.action), actorContext, criticContext };
    this.transitions = new Replay({ capacity, widths });
    this.streamCount = streams;
    this.logProbs = new Float32Array(capacity);
    this.streams = new Int32Array(capacity);
    this.values = new Float32Array(capacity);
    this.nextValues = new Float32Array(capacity);
    this.rewards = new Float64Array(capacity);
    this.advantages = new Float32Array(capacity);
    this.returns = new Float32Array(capacity);
    this.order = new Int32Array(capacity);
  }

  get isFull(): boolean {
    return this.transitions.size === this.transitions.capacity;
  }

  add(transition: Transition, { logProb, stream }: { logProb: number; stream: number }): void {
    const row = this.transitions.size;
    // The proposal is what the policy is judged by: what a guard made of it belongs to the world.
    this.transitions.add(transition, transition.proposed ?? transition.action);
    this.logProbs[row] = logProb;
    this.streams[row] = stream;
  }

  /** Takes the rewards over, scaled when there is a scaler. */
  prepareRewards(scaler: RewardScaler | undefined): void {
    const { rewards, ends, size } = this.transitions;
    for (let row = 0; row < size; row++) {
      const reward = rewards[row]!;
      scaler?.observe(reward, { stream: this.streams[row]!, isEnd: ends[row] !== 0 });
      this.rewards[row] = scaler ? scaler.scale(reward) : reward;
    }
  }

  estimate({ gamma, lambda }: { gamma: number; lambda: number }): void {
    const { rewards, values, nextValues, streams, streamCount } = this;
    const { ends, size } = this.transitions;
    estimateAdvantages(
      { count: size, rewards, values, nextValues, ends, streams, streamCount, gamma, lambda },
      { advantages: this.advantages, returns: this.returns },
    );
  }

  restoreOrder(): void {
    for (let row = 0; row < this.order.length; row++) this.order[row] = row;
  }

  /** Fisher and Yates. */
  shuffle(rng: Rng): void {
    const { order } = this;
    for (let i = order.length - 1; i > 0; i--) {
      const j = rng.int(i + 1);
      const kept = order[i]!;
      order[i] = order[j]!;
      order[j] = kept;
    }
  }

  part(): StatePart {
    const { transitions, logProbs, streams } = this;
    return {
      name: "rollout",
      optional: true,
      read: () => ({ ...transitions.blocks(), logProbs: logProbs.slice(), streams: streams.slice() }),
      fits: (blocks) =>
        transitions.fits(blocks) &&
        blocks.logProbs?.length === logProbs.length &&
        blocks.streams?.length === streams.length,
      write: (blocks) => {
        transitions.restore(blocks);
        logProbs.set(blocks.logProbs ?? []);
        streams.set(blocks.streams ?? []);
      },
    };
  }
}
