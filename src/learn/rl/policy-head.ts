/**
 * What a stochastic policy's outputs mean: logits of one or several choices, or the means of a Gaussian.
 * Owns: the blocks that a minibatch's actions, log-probabilities, entropies and gradients live in, and one face for
 * both kinds of distribution, so that PPO reads the same for each.
 * Not here: the arithmetic (tensor's heads).
 */

import type { Rng } from "../../base/index.ts";
import type { Memory, Network, NetworkOptions, Ptr } from "../tensor/index.ts";
import {
  categoricalBackward,
  categoricalLogProb,
  constant,
  gaussianBackward,
  gaussianEntropy,
  gaussianLogProb,
  modeCategorical,
  sampleCategorical,
  sampleGaussian,
} from "../tensor/index.ts";
import type { ActionShape } from "./learner.ts";
import { actionSize } from "./learner.ts";

export interface PolicyHead {
  /** Components of an action. */
  readonly dims: number;
  /** [batch, dims]: what `sample` and `mode` write and `evaluate` and `backward` read. */
  readonly actions: Ptr;
  /** [batch]. */
  readonly logProb: Ptr;
  readonly entropy: Ptr;
  /** [batch]: gradients of the loss, for `backward`. */
  readonly dLogProb: Ptr;
  readonly dEntropy: Ptr;
  /** [batch, outputs]: what `backward` writes. A Gaussian's logStd gets its gradient directly. */
  readonly dOutput: Ptr;
  sample(output: Ptr, rng: Rng): void;
  /** The most likely action. */
  mode(output: Ptr): void;
  /** Log-probabilities of the actions, and entropies. */
  evaluate(output: Ptr, rows: number): void;
  backward(output: Ptr, rows: number): void;
  dispose(): void;
}

const choicesOf = (action: Exclude<ActionShape, { kind: "continuous" }>): readonly number[] =>
  action.kind === "discrete" ? [action.n] : action.nvec;

/** How many numbers the policy network puts out. */
export function policyOutputs(action: ActionShape): number {
  return action.kind === "continuous" ? action.low.length : choicesOf(action).reduce((a, b) => a + b, 0);
}

/** A Gaussian policy learns one log standard deviation per component, the same in every state. */
export function policyExtras(action: ActionShape, logStdInit: number): NonNullable<NetworkOptions["extras"]> {
  return action.kind === "continuous" ? [{ name: "logStd", size: action.low.length, init: constant(logStdInit) }] : [];
}

export function createPolicyHead(memory: Memory, actor: Network, action: ActionShape): PolicyHead {
  const { batch, outputs } = actor;
  const dims = actionSize(action);
  const blocks = {
    actions: memory.alloc(batch * dims),
    logProb: memory.alloc(batch),
    entropy: memory.alloc(batch),
    dLogProb: memory.alloc(batch),
    dEntropy: memory.alloc(batch),
    dOutput: memory.alloc(batch * outputs),
  };
  const dispose = () => {
    for (const block of Object.values(blocks)) memory.free(block);
  };
  const distribution =
    action.kind === "continuous"
      ? gaussian(memory, actor, { ...blocks, dims })
      : categorical(memory, choicesOf(action), blocks);
  return { dims, ...blocks, ...distribution, dispose };
}

type Blocks = Pick<PolicyHead, "actions" | "logProb" | "entropy" | "dLogProb" | "dEntropy" | "dOutput">;
type Distribution = Pick<PolicyHead, "sample" | "mode" | "evaluate" | "backward">;

/** Blocks are listed one by one where they are used: copying an object costs as much as the arithmetic of five rows. */
function categorical(memory: Memory, sizes: readonly number[], blocks: Blocks): Distribution {
  const { actions, logProb, entropy, dLogProb, dEntropy, dOutput } = blocks;
  return {
    sample: (logits, rng) => sampleCategorical(memory, { actions, logProb, logits, sizes, rows: 1 }, rng),
    mode: (logits) => {
      modeCategorical(memory, { actions, logits, sizes, rows: 1 });
      categoricalLogProb(memory, { actions, logProb, logits, sizes, rows: 1 });
    },
    evaluate: (logits, rows) => categoricalLogProb(memory, { actions, logProb, entropy, logits, sizes, rows }),
    backward: (logits, rows) =>
      categoricalBackward(memory, { actions, dLogProb, dEntropy, logits, sizes, rows, dLogits: dOutput }),
  };
}

function gaussian(memory: Memory, actor: Network, blocks: Blocks & { dims: number }): Distribution {
  const { value: logStd, grad: dLogStd } = actor.parameter("logStd");
  const { actions, logProb, entropy, dLogProb, dEntropy, dOutput: dMean, dims } = blocks;
  return {
    sample: (mean, rng) => sampleGaussian(memory, { actions, logProb, mean, logStd, dims, rows: 1 }, rng),
    mode: (mean) => {
      memory.f32.copyWithin(actions >> 2, mean >> 2, (mean >> 2) + dims);
      gaussianLogProb(memory, { actions, logProb, mean, logStd, dims, rows: 1 });
    },
    evaluate: (mean, rows) => {
      gaussianLogProb(memory, { actions, logProb, mean, logStd, dims, rows });
      gaussianEntropy(memory, { entropy, logStd, dims, rows });
    },
    backward: (mean, rows) =>
      gaussianBackward(memory, { actions, dLogProb, dEntropy, mean, logStd, dims, rows, dMean, dLogStd }),
  };
}
