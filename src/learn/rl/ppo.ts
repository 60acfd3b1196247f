/**
 * Proximal policy optimisation, clipped form (arXiv:1707.06347), with the details that make it work as CleanRL and
 * "The 37 Implementation Details of PPO" list them. One choice, several choices, or Gaussian actions.
 * Read it from top to bottom. Over 500 lines because an algorithm is one file, as all others here are.
 *
 * Observation statistics move only between rollouts: the policy that drew an action and the one that first learns
 * from it are then the same function, so the first epoch starts at a ratio of exactly one.
 */

import type { Result, Rng } from "../../base/index.ts";
import { CodedError, err, failure, ok, seededRng } from "../../base/index.ts";
import type { Gradients, Kernels, Network, Optimiser, Ptr } from "../tensor/index.ts";
import { adam, buildNetwork, clipGradNorms, PARAMS_ONLY } from "../tensor/index.ts";
import { checkMasked, type MaskedRows, maskLogits, noChoice } from "./choice-mask.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition, UpdateStats } from "./learner.ts";
import { checkInputs, checkTransition, divergence, policyFailure } from "./learner.ts";
import { orthogonalMlp } from "./networks.ts";
import type { Normaliser, RewardScaler } from "./normaliser.ts";
import { createNormaliser, createRewardScaler } from "./normaliser.ts";
import type { PolicyHead } from "./policy-head.ts";
import { createPolicyHead, policyExtras, policyOutputs } from "./policy-head.ts";
import { Rollout } from "./rollout.ts";
import type { StateHeader, StatePart } from "./saved-state.ts";
import { loadState, networkPart, numbersPart, optimiserPart, rngPart, saveState } from "./saved-state.ts";
import type { Schedule } from "./schedule.ts";
import { valueAt } from "./schedule.ts";

// ── Config ─────────────────────────────────────────────────────────────────────────────────────────────

export interface PpoConfig {
  /** Widths of the hidden layers, of policy and value alike. */
  readonly hidden: readonly number[];
  readonly lr: Schedule;
  /** Parallel environments or agents that one rollout holds. */
  readonly streams: number;
  /** Steps of each stream between two updates. */
  readonly rolloutSteps: number;
  /** Passes over a rollout. */
  readonly epochs: number;
  /** Rows per gradient step. */
  readonly minibatch: number;
  /** Discount per step. */
  readonly gamma: number;
  /** GAE's λ: 0 trusts the value function, 1 only what was seen. */
  readonly lambda: number;
  /** How far the probability ratio may move before it stops paying. */
  readonly clip: Schedule;
  /** Also clip the change of the value prediction (as in the first implementation); 0 for no. */
  readonly valueClip: number;
  /** Weight of the mean squared value error. CleanRL halves that error, so its 0.5 is 0.25 here; SB3's is the same. */
  readonly valueCoef: number;
  /** Weight of the policy's entropy. */
  readonly entropyCoef: number;
  /** Longest joint gradient of policy and value; 0 for no limit. */
  readonly maxGradNorm: number;
  /** Give every minibatch advantages of mean 0 and variance 1. */
  readonly normaliseAdvantages: boolean;
  /** Stop the epochs once the policy moved 1.5 times this far (Kullback–Leibler); 0 for never. */
  readonly targetKl: number;
  /** Feed the networks observations with mean 0 and variance 1. */
  readonly normaliseObs: boolean;
  /** Divide rewards by the spread of the discounted return. */
  readonly normaliseReward: boolean;
  /** Log standard deviation that Gaussian policies start with. */
  readonly logStdInit: number;
  /**
   * The last numbers of an observation, one for each choice, say which may be made now (1) and which not (0): those are
   * never drawn, have no probability and take no gradient. For policies of choices; networks see these numbers too.
   */
  readonly maskedChoices: boolean;
}

/** CleanRL's settings for classic control. */
export const ppoDefaults: PpoConfig = {
  hidden: [64, 64],
  lr: { from: 2.5e-4, to: 0, fraction: 1 },
  streams: 4,
  rolloutSteps: 128,
  epochs: 4,
  minibatch: 128,
  gamma: 0.99,
  lambda: 0.95,
  clip: { from: 0.2, to: 0.2, fraction: 1 },
  valueClip: 0.2,
  valueCoef: 0.25,
  entropyCoef: 0.01,
  maxGradNorm: 0.5,
  normaliseAdvantages: true,
  targetKl: 0,
  normaliseObs: false,
  normaliseReward: false,
  logStdInit: 0,
  maskedChoices: false,
};

export interface PpoOptions {
  readonly kernels: Kernels;
  readonly shape: LearnerShape;
  readonly config: PpoConfig;
  readonly seed: number;
}

// ── Losses of one row: value and slope ─────────────────────────────────────────────────────────────────

export interface Slope {
  loss: number;
  /** Derivative of the loss by the log-probability, or by the value prediction. */
  slope: number;
}

/**
 * −min(ρA, clip(ρ, 1 ± ε)·A) for ρ = exp(logProb − oldLogProb). Where the clipped branch is the smaller one, pushing
 * further does not pay, so the slope is zero.
 */
export function policyLoss(
  row: { logProb: number; oldLogProb: number; advantage: number },
  clip: number,
  out: Slope,
): void {
  const ratio = Math.exp(row.logProb - row.oldLogProb);
  const plain = ratio * row.advantage;
  const bounded = Math.min(Math.max(ratio, 1 - clip), 1 + clip) * row.advantage;
  out.loss = -Math.min(plain, bounded);
  out.slope = plain <= bounded ? -plain : 0;
}

/** (V − R)², or the larger of that and the error of the prediction that moved at most `clip` from the old one. */
export function valueLoss(row: { value: number; oldValue: number; target: number }, clip: number, out: Slope): void {
  const error = row.value - row.target;
  out.loss = error * error;
  out.slope = 2 * error;
  if (clip <= 0) return;
  const move = row.value - row.oldValue;
  const bounded = row.oldValue + Math.min(Math.max(move, -clip), clip) - row.target;
  if (bounded * bounded <= out.loss) return;
  out.loss = bounded * bounded;
  // Where the move was clipped, the prediction no longer changes the bounded error.
  out.slope = Math.abs(move) < clip ? 2 * bounded : 0;
}

// ── Learner ────────────────────────────────────────────────────────────────────────────────────────────

export class Ppo implements Learner {
  readonly kind = "ppo";
  readonly learnsFrom = "own-rollout";
  readonly shape: LearnerShape;
  readonly config: PpoConfig;
  readonly #kernels: Kernels;
  readonly #actor: Network;
  readonly #critic: Network;
  readonly #head: PolicyHead;
  readonly #dValue: Ptr;
  /** Observations of a minibatch as they were seen, for masks. */
  readonly #seen: Float32Array;
  /** Row numbers of a minibatch. */
  readonly #rows: Int32Array;
  readonly #optimisers: readonly [Optimiser, Optimiser];
  readonly #gradients: readonly Gradients[];
  readonly #rollout: Rollout;
  readonly #normaliser: Normaliser;
  readonly #rewardScaler: RewardScaler;
  readonly #random: { act: Rng; shuffle: Rng };
  readonly #parts: readonly StatePart[];
  #steps = 0;
  #progress = 0;

  constructor({ kernels, shape, config, seed }: PpoOptions) {
    this.#kernels = kernels;
    this.shape = shape;
    this.config = config;
    const root = seededRng(seed).fork("ppo");
    this.#random = { act: root.fork("act"), shuffle: root.fork("shuffle") };
    const { hidden, streams, rolloutSteps } = config;
    const batch = Math.min(config.minibatch, streams * rolloutSteps);
    if (config.maskedChoices) checkMasked(shape);
    this.#seen = new Float32Array(config.maskedChoices ? batch * shape.obs : 0);
    this.#rows = new Int32Array(batch);
    const inputs = shape.obs + shape.actorContext;
    this.#actor = buildNetwork(kernels, {
      layers: orthogonalMlp({ inputs, hidden, outputs: policyOutputs(shape.action) }, 0.01),
      batch,
      rng: root.fork("actor"),
      extras: policyExtras(shape.action, config.logStdInit),
    });
    this.#critic = buildNetwork(kernels, {
      layers: orthogonalMlp({ inputs: inputs + shape.criticContext, hidden, outputs: 1 }, 1),
      batch,
      rng: root.fork("critic"),
    });
    this.#head = createPolicyHead(kernels.memory, this.#actor, shape.action);
    this.#dValue = kernels.memory.alloc(batch);
    const optimise = ({ params, paramCount }: Network) =>
      adam(kernels, { params, count: paramCount, lr: config.lr.from, epsilon: 1e-5 });
    this.#optimisers = [optimise(this.#actor), optimise(this.#critic)];
    this.#gradients = [this.#actor, this.#critic].map(({ grads, paramCount }) => ({ grads, count: paramCount }));
    this.#rollout = new Rollout({ shape, streams, steps: rolloutSteps });
    this.#normaliser = createNormaliser({ size: shape.obs });
    this.#rewardScaler = createRewardScaler({ gamma: config.gamma, streams });
    this.#parts = this.#stateParts();
  }

  get steps(): number {
    return this.#steps;
  }

  // ── Acting and observing ─────────────────────────────────────────────────────────────────────────────

  act(obs: ArrayLike<number>, { actorContext, explore, explorer }: ActOptions): Result<Decision> {
    const checked = checkInputs(this.shape, obs, actorContext);
    if (!checked.ok) return checked;
    const { f32 } = this.#kernels.memory;
    const at = this.#actor.input >> 2;
    for (let i = 0; i < this.shape.obs; i++) f32[at + i] = obs[i]!;
    for (let i = 0; i < this.shape.actorContext; i++) f32[at + this.shape.obs + i] = actorContext![i]!;
    this.#normalise(this.#actor, 1);
    const output = this.#actor.forward(1);
    for (let i = 0; i < this.#actor.outputs; i++) {
      if (!Number.isFinite(f32[(output >> 2) + i]!)) return err(policyFailure());
    }
    if (this.config.maskedChoices && this.#mask(output, { obs, rows: 1 }) === 0) return err(noChoice());
    const head = this.#head;
    if (explore) head.sample(output, explorer?.rng ?? this.#random.act);
    else head.mode(output);
    const action = new Float32Array(head.dims);
    for (let i = 0; i < head.dims; i++) action[i] = f32[(head.actions >> 2) + i]!;
    return ok({ action, logProb: f32[head.logProb >> 2]! });
  }

  observe(transition: Transition): Result<void> {
    const checked = checkTransition(this.shape, transition);
    if (!checked.ok) return checked;
    const { stream = 0, logProb } = transition;
    if (logProb === undefined || !(stream >= 0 && stream < this.config.streams)) {
      return err(
        failure(
          "rl.shape",
          logProb === undefined
            ? "PPO needs the log-probability that its decision came with; pass it on with the transition"
            : `the transition is of stream ${stream} and the learner has ${this.config.streams}; raise 'streams'`,
        ),
      );
    }
    if (this.#rollout.isFull) {
      return err(failure("rl.rollout-full", "the rollout has all its steps; call update() before observing more"));
    }
    this.#rollout.add(transition, { logProb, stream });
    this.#steps += 1;
    return checked;
  }

  /** Another policy acts from now on, which was trained on these steps elsewhere: they are not its own. */
  clearRollout(): void {
    this.#rollout.transitions.clear();
  }

  // ── Learning ─────────────────────────────────────────────────────────────────────────────────────────

  update(): UpdateStats | undefined {
    const rollout = this.#rollout;
    if (!rollout.isFull) return undefined;
    rollout.prepareRewards(this.config.normaliseReward ? this.#rewardScaler : undefined);
    rollout.restoreOrder();
    this.#predict(NOW, rollout.values);
    this.#predict(NEXT, rollout.nextValues);
    rollout.estimate(this.config);
    const stats = this.#learn();
    if (this.config.normaliseObs) this.#foldObservations();
    rollout.transitions.clear();
    return stats;
  }

  /** The critic's values of all rows, a minibatch at a time. */
  #predict(columns: Columns, out: Float32Array): void {
    const { f32 } = this.#kernels.memory;
    for (let from = 0; from < out.length; from += this.#rows.length) {
      const rows = this.#minibatch(from);
      this.#fillCritic(rows, columns);
      const value = this.#critic.forward(rows.length) >> 2;
      for (let i = 0; i < rows.length; i++) out[from + i] = f32[value + i]!;
    }
  }

  /** The rows from there on in the order of the rollout, as many as a gradient step takes. Valid until the next call. */
  #minibatch(from: number): Int32Array {
    const { order } = this.#rollout;
    const rows = this.#rows;
    const count = Math.min(rows.length, order.length - from);
    for (let i = 0; i < count; i++) rows[i] = order[from + i]!;
    return count === rows.length ? rows : rows.subarray(0, count);
  }

  #learn(): UpdateStats {
    const { epochs, targetKl, lr } = this.config;
    const rate = valueAt(lr, this.#progress);
    for (const optimiser of this.#optimisers) optimiser.lr = rate;
    const { length } = this.#rollout.order;
    const sums: Sums = { policy: 0, value: 0, entropy: 0, kl: 0, clipped: 0 };
    let steps = 0;
    training: for (let epoch = 0; epoch < epochs; epoch++) {
      this.#rollout.shuffle(this.#random.shuffle);
      for (let from = 0; from < length; from += this.#rows.length) {
        const rows = this.#minibatch(from);
        const kl = this.#policyGradient(rows, sums);
        if (targetKl > 0 && kl > 1.5 * targetKl) break training;
        this.#valueGradient(rows, sums);
        if (this.config.maxGradNorm > 0) clipGradNorms(this.#kernels, this.#gradients, this.config.maxGradNorm);
        this.#optimisers[0].step(this.#actor.grads);
        this.#optimisers[1].step(this.#critic.grads);
        steps += 1;
      }
    }
    const mean = (sum: number) => (steps === 0 ? 0 : sum / steps);
    const more = {
      entropy: mean(sums.entropy),
      approxKl: mean(sums.kl),
      clipFraction: mean(sums.clipped),
      learningRate: rate,
    };
    return { gradientSteps: steps, criticLoss: mean(sums.value), actorLoss: mean(sums.policy), more };
  }

  /** Puts the gradient of the policy's loss into the actor; returns how far it moved, approximately (KL). */
  #policyGradient(rows: Int32Array, sums: Sums): number {
    const n = rows.length;
    const { memory } = this.#kernels;
    const { transitions, logProbs, advantages } = this.#rollout;
    const head = this.#head;
    this.#fillActor(rows);
    transitions.gather("action", rows, { into: memory.f32, at: head.actions >> 2, stride: head.dims });
    const output = this.#actor.forward(n);
    if (this.config.maskedChoices) {
      transitions.gather("obs", rows, { into: this.#seen, at: 0, stride: this.shape.obs });
      this.#mask(output, { obs: this.#seen, rows: n });
    }
    head.evaluate(output, n);
    const { mean, scale } = this.config.normaliseAdvantages ? advantageScale(advantages, rows) : UNSCALED;
    const clip = valueAt(this.config.clip, this.#progress);
    const f32 = memory.f32;
    const slope: Slope = { loss: 0, slope: 0 };
    let loss = 0;
    let kl = 0;
    for (let i = 0; i < n; i++) {
      const row = rows[i]!;
      const logProb = f32[(head.logProb >> 2) + i]!;
      const oldLogProb = logProbs[row]!;
      policyLoss({ logProb, oldLogProb, advantage: (advantages[row]! - mean) * scale }, clip, slope);
      loss += slope.loss / n;
      f32[(head.dLogProb >> 2) + i] = slope.slope / n;
      f32[(head.dEntropy >> 2) + i] = -this.config.entropyCoef / n;
      const ratio = Math.exp(logProb - oldLogProb);
      kl += (ratio - 1 - (logProb - oldLogProb)) / n; // Schulman's estimator: never negative, low variance.
      if (Math.abs(ratio - 1) > clip) sums.clipped += 1 / n;
      sums.entropy += f32[(head.entropy >> 2) + i]! / n;
    }
    if (!Number.isFinite(loss)) throw new CodedError(divergence("policy's loss", loss));
    this.#actor.zeroGrads();
    head.backward(output, n);
    this.#actor.backward(n, head.dOutput, PARAMS_ONLY);
    sums.policy += loss;
    sums.kl += kl;
    return kl;
  }

  #mask(logits: Ptr, { obs, rows }: Pick<MaskedRows, "obs" | "rows">): number {
    const { f32 } = this.#kernels.memory;
    return maskLogits(f32, { logits, choices: this.#actor.outputs, obs, width: this.shape.obs, rows });
  }

  #valueGradient(rows: Int32Array, sums: Sums): void {
    const n = rows.length;
    const { valueClip, valueCoef } = this.config;
    const { values, returns } = this.#rollout;
    this.#fillCritic(rows, NOW);
    const output = this.#critic.forward(n) >> 2;
    const f32 = this.#kernels.memory.f32;
    const slope: Slope = { loss: 0, slope: 0 };
    let loss = 0;
    for (let i = 0; i < n; i++) {
      const row = rows[i]!;
      valueLoss({ value: f32[output + i]!, oldValue: values[row]!, target: returns[row]! }, valueClip, slope);
      loss += slope.loss / n;
      f32[(this.#dValue >> 2) + i] = (valueCoef * slope.slope) / n;
    }
    if (!Number.isFinite(loss)) throw new CodedError(divergence("value loss", loss));
    this.#critic.zeroGrads();
    this.#critic.backward(n, this.#dValue, PARAMS_ONLY);
    sums.value += loss;
  }

  // ── Network inputs: [observation | actor context | critic context] ─────────────────────────────────────

  #fillActor(rows: Int32Array): void {
    const { input, inputs: stride } = this.#actor;
    const { transitions } = this.#rollout;
    const into = this.#kernels.memory.f32;
    const at = input >> 2;
    transitions.gather("obs", rows, { into, at, stride });
    transitions.gather("actorContext", rows, { into, at: at + this.shape.obs, stride });
    this.#normalise(this.#actor, rows.length);
  }

  #fillCritic(rows: Int32Array, { obs, actorContext, criticContext }: Columns): void {
    const { input, inputs: stride } = this.#critic;
    const { transitions } = this.#rollout;
    const into = this.#kernels.memory.f32;
    const at = input >> 2;
    transitions.gather(obs, rows, { into, at, stride });
    transitions.gather(actorContext, rows, { into, at: at + this.shape.obs, stride });
    transitions.gather(criticContext, rows, { into, at: at + this.shape.obs + this.shape.actorContext, stride });
    this.#normalise(this.#critic, rows.length);
  }

  #normalise(network: Network, rows: number): void {
    if (!this.config.normaliseObs) return;
    this.#normaliser.apply(this.#kernels.memory.f32, { at: network.input >> 2, rows, stride: network.inputs });
  }

  #foldObservations(): void {
    const { order, transitions } = this.#rollout;
    const values = new Float32Array(order.length * this.shape.obs);
    transitions.gather("obs", order, { into: values, at: 0, stride: this.shape.obs });
    this.#normaliser.update(values, order.length);
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  setProgress(progress: number): void {
    this.#progress = progress;
  }

  save({ resumable = false }: SaveOptions = {}): Uint8Array {
    return saveState(this.#header(), this.#parts, { resumable });
  }

  load(bytes: Uint8Array): Result<void> {
    return loadState(bytes, this.#header(), this.#parts);
  }

  #header(): StateHeader {
    const { kind, shape, config } = this;
    return { kind, meta: { shape, hidden: config.hidden, config } };
  }

  #stateParts(): StatePart[] {
    const [policy, value] = this.#optimisers;
    return [
      networkPart("actor", this.#actor),
      networkPart("critic", this.#critic),
      optimiserPart("actor optimiser", policy),
      optimiserPart("critic optimiser", value),
      rngPart(this.#random, "act"),
      rngPart(this.#random, "shuffle"),
      numbersPart("normaliser", { read: () => this.#normaliser.state(), write: (v) => this.#normaliser.restore(v) }),
      numbersPart("reward scaler", {
        read: () => this.#rewardScaler.state(),
        write: (v) => this.#rewardScaler.restore(v),
      }),
      numbersPart("counters", {
        read: () => Float64Array.of(this.#steps, this.#progress),
        write: ([steps = 0, progress = 0]) => {
          this.#steps = steps;
          this.#progress = progress;
        },
      }),
      this.#rollout.part(),
    ];
  }

  dispose(): void {
    this.#actor.dispose();
    this.#critic.dispose();
    this.#head.dispose();
    this.#kernels.memory.free(this.#dValue);
    for (const optimiser of this.#optimisers) optimiser.dispose();
  }
}

const UNSCALED = { mean: 0, scale: 1 };

function advantageScale(advantages: Float32Array, rows: Int32Array): { mean: number; scale: number } {
  if (rows.length < 2) return UNSCALED;
  let mean = 0;
  for (let i = 0; i < rows.length; i++) mean += advantages[rows[i]!]! / rows.length;
  let squares = 0;
  for (let i = 0; i < rows.length; i++) squares += (advantages[rows[i]!]! - mean) ** 2;
  // The sample's deviation with a small floor, as both reference implementations have it.
  return { mean, scale: 1 / (Math.sqrt(squares / (rows.length - 1)) + 1e-8) };
}

interface Columns {
  readonly obs: "obs" | "nextObs";
  readonly actorContext: "actorContext" | "nextActorContext";
  readonly criticContext: "criticContext" | "nextCriticContext";
}

const NOW: Columns = { obs: "obs", actorContext: "actorContext", criticContext: "criticContext" };
const NEXT: Columns = { obs: "nextObs", actorContext: "nextActorContext", criticContext: "nextCriticContext" };

interface Sums {
  policy: number;
  value: number;
  entropy: number;
  kl: number;
  clipped: number;
}
