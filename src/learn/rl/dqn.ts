/**
 * Deep Q-learning with a target network (Nature 518, 2015), double estimates (arXiv:1509.06461) and prioritised
 * replay (arXiv:1511.05952) as options. Read it from top to bottom.
 *
 * The one network both acts and judges, so it sees the observation and the actor context. A critic context is taken
 * in and kept with every transition, but not shown to the network: it need not exist when the policy acts.
 */

import type { Result, Rng } from "../../base/index.ts";
import { CodedError, err, failure, ok, seededRng } from "../../base/index.ts";
import { END_CODE } from "../env/index.ts";
import type { Kernels, Network, Optimiser, Ptr } from "../tensor/index.ts";
import { adam, buildNetwork, clipGradNorm, huberLoss, mseLoss, PARAMS_ONLY, softUpdate } from "../tensor/index.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition, UpdateStats } from "./learner.ts";
import { checkInputs, checkTransition, divergence, policyFailure } from "./learner.ts";
import { reluMlp } from "./networks.ts";
import type { Normaliser } from "./normaliser.ts";
import { createNormaliser } from "./normaliser.ts";
import type { PriorityConfig } from "./replay.ts";
import { Replay } from "./replay.ts";
import type { StateHeader, StatePart } from "./saved-state.ts";
import { loadState, networkPart, numbersPart, optimiserPart, replayPart, rngPart, saveState } from "./saved-state.ts";
import type { Schedule } from "./schedule.ts";
import { valueAt } from "./schedule.ts";

// ── Config ─────────────────────────────────────────────────────────────────────────────────────────────

export interface DqnConfig {
  /** Widths of the hidden layers. */
  readonly hidden: readonly number[];
  readonly lr: Schedule;
  /** Discount per step. */
  readonly gamma: number;
  /** Environment steps between updates of the target network. */
  readonly targetEvery: number;
  /** How far the target moves then: 1 copies. */
  readonly tau: number;
  /** Transitions per gradient step. */
  readonly batch: number;
  /** Transitions kept; the oldest make room. */
  readonly bufferSize: number;
  /** Steps before anything is learned. */
  readonly learningStarts: number;
  /** Environment steps between updates. */
  readonly trainEvery: number;
  /** Gradient steps per update. */
  readonly gradientSteps: number;
  /** Share of random actions while exploring. */
  readonly epsilon: Schedule;
  /** Choose the next action by the network and judge it by the target, so that luck is not taken for value. */
  readonly double: boolean;
  /** "huber" bounds the pull of a single surprise; "mse" does not. */
  readonly loss: "huber" | "mse";
  /** Longest gradient; 0 for no limit. */
  readonly maxGradNorm: number;
  /**
   * Without exploration, act by a running average of the network that moves this far in each gradient step (weight
   * averaging, Nikishin et al., 2018); 0 acts by the network itself. Two actions' values are close and the network
   * never rests, so its own choice flickers where the average's does not.
   */
  readonly averaging: number;
  /** Draw transitions by how wrong they were predicted; null draws uniformly. */
  readonly priority: PriorityConfig | null;
  /** Feed the network observations with mean 0 and variance 1. */
  readonly normaliseObs: boolean;
}

export const dqnDefaults: DqnConfig = {
  hidden: [64, 64],
  lr: { from: 1e-3, to: 1e-3, fraction: 1 },
  gamma: 0.99,
  targetEvery: 500,
  tau: 1,
  batch: 64,
  bufferSize: 50_000,
  learningStarts: 1_000,
  trainEvery: 4,
  gradientSteps: 1,
  epsilon: { from: 1, to: 0.05, fraction: 0.2 },
  double: true,
  loss: "huber",
  maxGradNorm: 10,
  averaging: 0,
  priority: null,
  normaliseObs: false,
};

export interface DqnOptions {
  readonly kernels: Kernels;
  readonly shape: LearnerShape;
  readonly config: DqnConfig;
  readonly seed: number;
}

// ── Target ─────────────────────────────────────────────────────────────────────────────────────────────

/** Where the largest of `n` values from `at` on is; the first of equals. */
export function argmax(values: ArrayLike<number>, at: number, n: number): number {
  let best = 0;
  for (let i = 1; i < n; i++) if (values[at + i]! > values[at + best]!) best = i;
  return best;
}

/**
 * r + γ·Q′(s′, a*), without the future where the task ended. With double estimates a* is the online network's choice,
 * else the target's own.
 */
export function qTarget({ reward, end, next, chooser, at, n }: QOutcome, gamma: number): number {
  if (end === END_CODE.terminated) return reward;
  return reward + gamma * next[at + argmax(chooser.values, chooser.at, n)]!;
}

interface QOutcome {
  readonly reward: number;
  readonly end: number;
  /** The target's values of the next state, `n` of them from `at` on. */
  readonly next: ArrayLike<number>;
  readonly at: number;
  readonly n: number;
  /** Whose values choose the next action. */
  readonly chooser: { readonly values: ArrayLike<number>; readonly at: number };
}

// ── Learner ────────────────────────────────────────────────────────────────────────────────────────────

export class Dqn implements Learner {
  readonly kind = "dqn";
  readonly learnsFrom = "any";
  readonly shape: LearnerShape;
  readonly config: DqnConfig;
  readonly #kernels: Kernels;
  readonly #choices: number;
  readonly #network: Network;
  readonly #target: Network;
  readonly #average: Network;
  readonly #optimiser: Optimiser;
  readonly #replay: Replay;
  readonly #normaliser: Normaliser;
  readonly #random: { explore: Rng; replay: Rng };
  /** Blocks: the chosen actions' values, their targets, gradients and weights; the gradient of all values. */
  readonly #chosen: Ptr;
  readonly #targets: Ptr;
  readonly #dChosen: Ptr;
  readonly #weights: Ptr;
  readonly #dValues: Ptr;
  readonly #rows: Int32Array;
  readonly #rowWeights: Float32Array;
  readonly #actions: Float32Array;
  readonly #errors: Float32Array;
  readonly #parts: readonly StatePart[];
  #steps = 0;
  #progress = 0;

  constructor({ kernels, shape, config, seed }: DqnOptions) {
    if (shape.action.kind !== "discrete") {
      throw new CodedError(
        failure(
          "rl.action-kind",
          `DQN chooses one of several actions and these are ${shape.action.kind}; use PPO or DDPG`,
        ),
      );
    }
    this.#kernels = kernels;
    this.shape = shape;
    this.config = config;
    this.#choices = shape.action.n;
    const root = seededRng(seed).fork("dqn");
    this.#random = { explore: root.fork("explore"), replay: root.fork("replay") };
    const { hidden, batch } = config;
    const layers = reluMlp({ inputs: shape.obs + shape.actorContext, hidden, outputs: this.#choices }, "none");
    this.#network = buildNetwork(kernels, { layers, batch, rng: root.fork("network") });
    this.#target = buildNetwork(kernels, { layers, batch, rng: root, trainable: false });
    this.#average = buildNetwork(kernels, { layers, batch: 1, rng: root, trainable: false });
    this.#move(this.#target, 1);
    this.#move(this.#average, 1);
    const { params, paramCount } = this.#network;
    this.#optimiser = adam(kernels, { params, count: paramCount, lr: config.lr.from });
    const { memory } = kernels;
    this.#chosen = memory.alloc(batch);
    this.#targets = memory.alloc(batch);
    this.#dChosen = memory.alloc(batch);
    this.#weights = memory.alloc(batch);
    this.#dValues = memory.alloc(batch * this.#choices);
    this.#rows = new Int32Array(batch);
    this.#rowWeights = new Float32Array(batch);
    this.#actions = new Float32Array(batch);
    this.#errors = new Float32Array(batch);
    this.#replay = new Replay({
      capacity: config.bufferSize,
      widths: { obs: shape.obs, action: 1, actorContext: shape.actorContext, criticContext: shape.criticContext },
      ...(config.priority ? { priority: config.priority } : {}),
    });
    this.#normaliser = createNormaliser({ size: shape.obs });
    this.#parts = this.#stateParts();
  }

  get steps(): number {
    return this.#steps;
  }

  // ── Acting and observing ─────────────────────────────────────────────────────────────────────────────

  act(obs: ArrayLike<number>, { actorContext, explore, explorer }: ActOptions): Result<Decision> {
    const checked = checkInputs(this.shape, obs, actorContext);
    if (!checked.ok) return checked;
    const rng = explorer?.rng ?? this.#random.explore;
    if (explore && rng.next() < valueAt(this.config.epsilon, this.#progress)) {
      return ok({ action: Float32Array.of(rng.int(this.#choices)), logProb: 0 });
    }
    const network = explore || this.config.averaging === 0 ? this.#network : this.#average;
    const f32 = this.#kernels.memory.f32;
    const at = network.input >> 2;
    for (let i = 0; i < this.shape.obs; i++) f32[at + i] = obs[i]!;
    for (let i = 0; i < this.shape.actorContext; i++) f32[at + this.shape.obs + i] = actorContext![i]!;
    this.#normalise(network, 1);
    const values = network.forward(1) >> 2;
    for (let i = 0; i < this.#choices; i++) if (!Number.isFinite(f32[values + i]!)) return err(policyFailure());
    return ok({ action: Float32Array.of(argmax(f32, values, this.#choices)), logProb: 0 });
  }

  observe(transition: Transition): Result<void> {
    const checked = checkTransition(this.shape, transition);
    if (!checked.ok) return checked;
    const action = transition.action[0]!;
    if (!(Number.isInteger(action) && action >= 0 && action < this.#choices)) {
      return err(failure("rl.shape", `the action is ${action} and should be a whole number below ${this.#choices}`));
    }
    this.#replay.add(transition);
    if (this.config.normaliseObs) this.#normaliser.update(transition.obs, 1);
    this.#steps += 1;
    return checked;
  }

  /** Forgets the steps, not what was learned from them: others are about to take their place. */
  clearReplay(): void {
    this.#replay.clear();
  }

  // ── Learning ─────────────────────────────────────────────────────────────────────────────────────────

  update(): UpdateStats | undefined {
    const { learningStarts, trainEvery, gradientSteps, batch, targetEvery, tau, lr } = this.config;
    if (this.#steps % targetEvery === 0) this.#move(this.#target, tau);
    if (this.#steps < Math.max(learningStarts, batch) || this.#steps % trainEvery !== 0) return undefined;
    if (!this.#replay.hasEnoughFor(batch)) return undefined;
    this.#optimiser.lr = valueAt(lr, this.#progress);
    let criticLoss = 0;
    for (let i = 0; i < gradientSteps; i++) criticLoss += this.#gradientStep() / gradientSteps;
    const epsilon = valueAt(this.config.epsilon, this.#progress);
    return { gradientSteps, criticLoss, actorLoss: 0, more: { epsilon, learningRate: this.#optimiser.lr } };
  }

  #gradientStep(): number {
    const { batch, maxGradNorm, loss } = this.config;
    const { memory } = this.#kernels;
    this.#replay.sample(this.#random.replay, { rows: this.#rows, weights: this.#rowWeights });
    this.#computeTargets();
    this.#fill(this.#network, "obs", "actorContext");
    this.#replay.gather("action", this.#rows, { into: this.#actions, at: 0, stride: 1 });
    const values = this.#network.forward(batch) >> 2;
    const f32 = memory.f32;
    const chosen = this.#chosen >> 2;
    for (let i = 0; i < batch; i++) f32[chosen + i] = f32[values + i * this.#choices + this.#actions[i]!]!;
    const blocks = { prediction: this.#chosen, target: this.#targets, gradient: this.#dChosen, weights: this.#weights };
    const judge = loss === "huber" ? huberLoss : mseLoss;
    const mean = judge(memory, { ...blocks, rows: batch, cols: 1 });
    if (!Number.isFinite(mean)) throw new CodedError(divergence("Q loss", mean));
    // Only the value of the action that was taken is judged; the others get no gradient.
    const dValues = this.#dValues >> 2;
    f32.fill(0, dValues, dValues + batch * this.#choices);
    for (let i = 0; i < batch; i++) {
      f32[dValues + i * this.#choices + this.#actions[i]!] = f32[(this.#dChosen >> 2) + i]!;
      this.#errors[i] = f32[chosen + i]! - f32[(this.#targets >> 2) + i]!;
    }
    this.#replay.setErrors(this.#rows, this.#errors);
    const network = this.#network;
    network.zeroGrads();
    network.backward(batch, this.#dValues, PARAMS_ONLY);
    if (maxGradNorm > 0)
      clipGradNorm(this.#kernels, { grads: network.grads, count: network.paramCount, max: maxGradNorm });
    this.#optimiser.step(network.grads);
    if (this.config.averaging > 0) this.#move(this.#average, this.config.averaging);
    return mean;
  }

  #computeTargets(): void {
    const { batch, gamma, double } = this.config;
    const n = this.#choices;
    this.#fill(this.#target, "nextObs", "nextActorContext");
    const next = this.#target.forward(batch) >> 2;
    const chooser = double ? this.#network.forward(batch, this.#target.input) >> 2 : next;
    const f32 = this.#kernels.memory.f32;
    for (let i = 0; i < batch; i++) {
      const row = this.#rows[i]!;
      const outcome: QOutcome = {
        reward: this.#replay.rewards[row]!,
        end: this.#replay.ends[row]!,
        next: f32,
        at: next + i * n,
        n,
        chooser: { values: f32, at: chooser + i * n },
      };
      f32[(this.#targets >> 2) + i] = qTarget(outcome, gamma);
      f32[(this.#weights >> 2) + i] = this.#rowWeights[i]!;
    }
  }

  #fill(network: Network, obs: "obs" | "nextObs", context: "actorContext" | "nextActorContext"): void {
    const to = { into: this.#kernels.memory.f32, stride: network.inputs };
    this.#replay.gather(obs, this.#rows, { ...to, at: network.input >> 2 });
    this.#replay.gather(context, this.#rows, { ...to, at: (network.input >> 2) + this.shape.obs });
    this.#normalise(network, this.config.batch);
  }

  #normalise(network: Network, rows: number): void {
    if (!this.config.normaliseObs) return;
    this.#normaliser.apply(this.#kernels.memory.f32, { at: network.input >> 2, rows, stride: network.inputs });
  }

  #move(target: Network, tau: number): void {
    const { params, paramCount } = this.#network;
    softUpdate(this.#kernels, { target: target.params, source: params, count: paramCount, tau });
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
    return [
      networkPart("network", this.#network),
      networkPart("target", this.#target),
      networkPart("average", this.#average),
      optimiserPart("optimiser", this.#optimiser),
      rngPart(this.#random, "explore"),
      rngPart(this.#random, "replay"),
      numbersPart("normaliser", { read: () => this.#normaliser.state(), write: (v) => this.#normaliser.restore(v) }),
      numbersPart("counters", {
        read: () => Float64Array.of(this.#steps, this.#progress),
        write: ([steps = 0, progress = 0]) => {
          this.#steps = steps;
          this.#progress = progress;
        },
      }),
      replayPart(this.#replay),
    ];
  }

  dispose(): void {
    this.#network.dispose();
    this.#target.dispose();
    this.#average.dispose();
    this.#optimiser.dispose();
    const blocks = [this.#chosen, this.#targets, this.#dChosen, this.#weights, this.#dValues];
    for (const block of blocks) this.#kernels.memory.free(block);
  }
}
