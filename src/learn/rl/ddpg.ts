/**
 * Deep deterministic policy gradient (arXiv:1509.02971), with the three repairs of TD3 (arXiv:1802.09477) as options:
 * clipped double critics, target policy smoothing and delayed policy updates. Read it from top to bottom.
 *
 * The policy works in [−1, 1] per component; actions are scaled to the environment's bounds on the way out and back
 * on the way in, so noise and smoothing mean the same in every environment.
 */

import type { Result, Rng } from "../../base/index.ts";
import { CodedError, err, ok, seededRng } from "../../base/index.ts";
import { END_CODE } from "../env/index.ts";
import type { Kernels, Network, Optimiser, Ptr } from "../tensor/index.ts";
import {
  adam,
  buildNetwork,
  clipGradNorm,
  INPUT_ONLY,
  mseLoss,
  offset,
  PARAMS_ONLY,
  softUpdate,
} from "../tensor/index.ts";
import type { ActionScale } from "./action-scale.ts";
import { actionScale } from "./action-scale.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition, UpdateStats } from "./learner.ts";
import { checkInputs, checkTransition, divergence, policyFailure } from "./learner.ts";
import { reluMlp } from "./networks.ts";
import type { Noise, NoiseConfig } from "./noise.ts";
import { createNoise } from "./noise.ts";
import type { Normaliser } from "./normaliser.ts";
import { createNormaliser } from "./normaliser.ts";
import type { PriorityConfig } from "./replay.ts";
import { Replay } from "./replay.ts";
import type { StateHeader, StatePart } from "./saved-state.ts";
import { loadState, networkPart, numbersPart, optimiserPart, replayPart, rngPart, saveState } from "./saved-state.ts";

// ── Config ─────────────────────────────────────────────────────────────────────────────────────────────

export interface DdpgConfig {
  /** Widths of the hidden layers, of actor and critics alike. */
  readonly hidden: readonly number[];
  readonly actorLr: number;
  readonly criticLr: number;
  /** Discount per step. */
  readonly gamma: number;
  /** How far the targets move towards the networks in each update. */
  readonly tau: number;
  /** Transitions per gradient step. */
  readonly batch: number;
  /** Transitions kept; the oldest make room. */
  readonly bufferSize: number;
  /** Steps of random actions before the policy acts and anything is learned. */
  readonly learningStarts: number;
  /**
   * How those are drawn. "uniform": anew at every step, over the whole range. "noise": the exploration noise alone, as
   * if the policy said 0; for tasks where independent pushes cancel out and only correlated ones lead anywhere.
   */
  readonly warmup: "uniform" | "noise";
  /** Environment steps between updates. */
  readonly trainEvery: number;
  /** Gradient steps per update. */
  readonly gradientSteps: number;
  /** Exploration, in the policy's scale of [−1, 1]. */
  readonly noise: NoiseConfig;
  /** TD3: two critics, and the smaller estimate as the target. */
  readonly twinCritics: boolean;
  /** TD3: clipped normal noise on the target's action; sigma 0 switches it off. */
  readonly targetNoise: { readonly sigma: number; readonly clip: number };
  /** TD3: critic steps per step of the actor and the targets. */
  readonly policyDelay: number;
  /** Longest gradient of either network; 0 for no limit. */
  readonly maxGradNorm: number;
  /** Draw transitions by how wrong they were predicted; null draws uniformly. */
  readonly priority: PriorityConfig | null;
  /** Feed the networks observations with mean 0 and variance 1. */
  readonly normaliseObs: boolean;
}

/** The paper's algorithm with today's usual sizes. */
export const ddpgDefaults: DdpgConfig = {
  hidden: [64, 64],
  actorLr: 1e-3,
  criticLr: 1e-3,
  gamma: 0.99,
  tau: 0.005,
  batch: 64,
  bufferSize: 100_000,
  learningStarts: 1_000,
  warmup: "uniform",
  trainEvery: 1,
  gradientSteps: 1,
  noise: { kind: "gaussian", sigma: 0.1 },
  twinCritics: false,
  targetNoise: { sigma: 0, clip: 0 },
  policyDelay: 1,
  maxGradNorm: 0,
  priority: null,
  normaliseObs: false,
};

/** What turns it into TD3, with that paper's values. */
export const td3Options = {
  twinCritics: true,
  targetNoise: { sigma: 0.2, clip: 0.5 },
  policyDelay: 2,
} satisfies Partial<DdpgConfig>;

export interface DdpgOptions {
  readonly kernels: Kernels;
  readonly shape: LearnerShape;
  readonly config: DdpgConfig;
  readonly seed: number;
}

// ── Target ─────────────────────────────────────────────────────────────────────────────────────────────

/** y = r + γ·min(Q′₁, Q′₂)(s′, a′), without the future where the task ended. Truncation is no such end. */
export function criticTarget(
  { reward, end, next }: { reward: number; end: number; next: number },
  gamma: number,
): number {
  return end === END_CODE.terminated ? reward : reward + gamma * next;
}

/** TD3's smoothed target action, within the policy's range. */
export function smoothedAction(action: number, draw: number, { sigma, clip }: { sigma: number; clip: number }): number {
  const noise = Math.min(Math.max(draw * sigma, -clip), clip);
  return Math.min(Math.max(action + noise, -1), 1);
}

// ── Learner ────────────────────────────────────────────────────────────────────────────────────────────

export class Ddpg implements Learner {
  readonly kind = "ddpg";
  readonly shape: LearnerShape;
  readonly config: DdpgConfig;
  readonly #kernels: Kernels;
  readonly #scale: ActionScale;
  readonly #actor: Network;
  readonly #actorTarget: Network;
  readonly #critics: readonly Network[];
  readonly #criticTargets: readonly Network[];
  readonly #pairs: readonly { readonly target: Ptr; readonly source: Ptr; readonly count: number }[];
  readonly #actorOptimiser: Optimiser;
  readonly #criticOptimisers: readonly Optimiser[];
  readonly #replay: Replay;
  readonly #noise: Noise;
  readonly #normaliser: Normaliser;
  readonly #random: { explore: Rng; replay: Rng; smooth: Rng };
  /** Where the action begins in a critic's input: after observation, actor context and critic context. */
  readonly #actionAt: number;
  /** Blocks of one float per row: targets, the gradient of each critic's Q, importance weights; and the action's gradient. */
  readonly #target: Ptr;
  readonly #dq: Ptr;
  readonly #weights: Ptr;
  readonly #dAction: Ptr;
  readonly #rows: Int32Array;
  readonly #rowWeights: Float32Array;
  readonly #errors: Float32Array;
  readonly #executed: Float32Array;
  readonly #parts: readonly StatePart[];
  #steps = 0;
  #updates = 0;
  #actorLoss = 0;

  constructor({ kernels, shape, config, seed }: DdpgOptions) {
    this.#scale = actionScale(shape.action, "DDPG");
    this.#kernels = kernels;
    this.shape = shape;
    this.config = config;
    const actions = this.#scale.size;
    const root = seededRng(seed).fork("ddpg");
    this.#random = { explore: root.fork("explore"), replay: root.fork("replay"), smooth: root.fork("smooth") };

    const { hidden, batch } = config;
    const seen = shape.obs + shape.actorContext;
    this.#actionAt = seen + shape.criticContext;
    const policy = reluMlp({ inputs: seen, hidden, outputs: actions }, "tanh");
    const judge = reluMlp({ inputs: this.#actionAt + actions, hidden, outputs: 1 }, "none");
    this.#actor = buildNetwork(kernels, { layers: policy, batch, rng: root.fork("actor") });
    this.#actorTarget = buildNetwork(kernels, { layers: policy, batch, rng: root, trainable: false });
    const indices = config.twinCritics ? [0, 1] : [0];
    this.#critics = indices.map((i) => buildNetwork(kernels, { layers: judge, batch, rng: root.fork(`critic ${i}`) }));
    this.#criticTargets = indices.map(() =>
      buildNetwork(kernels, { layers: judge, batch, rng: root, trainable: false }),
    );
    this.#pairs = [
      { target: this.#actorTarget.params, source: this.#actor.params, count: this.#actor.paramCount },
      ...this.#critics.map(({ params, paramCount }, i) => ({
        target: this.#criticTargets[i]!.params,
        source: params,
        count: paramCount,
      })),
    ];
    this.#moveTargets(1);
    this.#actorOptimiser = adam(kernels, optimised(this.#actor, config.actorLr));
    this.#criticOptimisers = this.#critics.map((critic) => adam(kernels, optimised(critic, config.criticLr)));

    const { memory } = kernels;
    this.#target = memory.alloc(batch);
    this.#dq = memory.alloc(batch * this.#critics.length);
    this.#weights = memory.alloc(batch);
    this.#dAction = memory.alloc(batch * actions);
    this.#rows = new Int32Array(batch);
    this.#rowWeights = new Float32Array(batch);
    this.#errors = new Float32Array(batch);
    this.#executed = new Float32Array(actions);
    this.#replay = new Replay({
      capacity: config.bufferSize,
      widths: { obs: shape.obs, action: actions, actorContext: shape.actorContext, criticContext: shape.criticContext },
      ...(config.priority ? { priority: config.priority } : {}),
    });
    this.#noise = createNoise(config.noise, actions);
    this.#normaliser = createNormaliser({ size: shape.obs });
    this.#parts = this.#stateParts();
  }

  get steps(): number {
    return this.#steps;
  }

  // ── Acting ───────────────────────────────────────────────────────────────────────────────────────────

  act(obs: ArrayLike<number>, { actorContext, explore, explorer }: ActOptions): Result<Decision> {
    const checked = checkInputs(this.shape, obs, actorContext);
    if (!checked.ok) return checked;
    const size = this.#scale.size;
    const action = new Float32Array(size);
    const { rng, noise = this.#noise } = explorer ?? { rng: this.#random.explore };
    const isWarmup = explore && this.#steps < this.config.learningStarts;
    if (isWarmup && this.config.warmup !== "noise") {
      for (let i = 0; i < size; i++) action[i] = 2 * rng.next() - 1;
      return ok(this.#scaled(action));
    }
    if (!isWarmup) this.#policyInto(action, obs, actorContext);
    if (explore) noise.addTo(action, rng);
    for (let i = 0; i < size; i++) {
      if (!Number.isFinite(action[i]!)) return err(policyFailure());
      action[i] = Math.min(Math.max(action[i]!, -1), 1);
    }
    return ok(this.#scaled(action));
  }

  #policyInto(action: Float32Array, obs: ArrayLike<number>, actorContext: ArrayLike<number> | undefined): void {
    const f32 = this.#kernels.memory.f32;
    const at = this.#actor.input >> 2;
    for (let i = 0; i < this.shape.obs; i++) f32[at + i] = obs[i]!;
    for (let i = 0; i < this.shape.actorContext; i++) f32[at + this.shape.obs + i] = actorContext![i]!;
    this.#normalise(this.#actor, 1);
    const out = this.#actor.forward(1) >> 2;
    for (let i = 0; i < action.length; i++) action[i] = f32[out + i]!;
  }

  #scaled(action: Float32Array): Decision {
    this.#scale.toBounds(action);
    return { action, logProb: 0 };
  }

  // ── Observing ────────────────────────────────────────────────────────────────────────────────────────

  observe(transition: Transition): Result<void> {
    const checked = checkTransition(this.shape, transition);
    if (!checked.ok) return checked;
    this.#scale.toUnit(transition.action, this.#executed);
    this.#replay.add(transition, this.#executed);
    if (this.config.normaliseObs) this.#normaliser.update(transition.obs, 1);
    if (transition.end !== "no") this.#noise.reset();
    this.#steps += 1;
    return checked;
  }

  /** Forgets the steps, not what was learned from them: others are about to take their place. */
  clearReplay(): void {
    this.#replay.clear();
  }

  // ── Learning ─────────────────────────────────────────────────────────────────────────────────────────

  update(): UpdateStats | undefined {
    const { learningStarts, trainEvery, gradientSteps, batch } = this.config;
    if (this.#steps < Math.max(learningStarts, batch) || this.#steps % trainEvery !== 0) return undefined;
    if (!this.#replay.hasEnoughFor(batch)) return undefined;
    let criticLoss = 0;
    for (let i = 0; i < gradientSteps; i++) criticLoss += this.#gradientStep() / gradientSteps;
    return { gradientSteps, criticLoss, actorLoss: this.#actorLoss, more: { meanQ: -this.#actorLoss } };
  }

  #gradientStep(): number {
    this.#replay.sample(this.#random.replay, { rows: this.#rows, weights: this.#rowWeights });
    this.#computeTargets();
    const loss = this.#criticStep();
    this.#updates += 1;
    if (this.#updates % this.config.policyDelay === 0) {
      this.#actorLoss = this.#actorStep();
      this.#moveTargets(this.config.tau);
    }
    return loss;
  }

  #computeTargets(): void {
    const { batch, gamma, targetNoise } = this.config;
    const size = this.#scale.size;
    this.#fill(this.#actorTarget, "nextObs", "nextActorContext");
    const chosen = this.#actorTarget.forward(batch) >> 2;
    const f32 = this.#kernels.memory.f32;
    if (targetNoise.sigma > 0) {
      const { smooth } = this.#random;
      for (let i = 0; i < batch * size; i++)
        f32[chosen + i] = smoothedAction(f32[chosen + i]!, smooth.normal(), targetNoise);
    }
    const [first, second] = this.#criticTargets as [Network, Network?];
    this.#fill(first, "nextObs", "nextActorContext");
    this.#gather("nextCriticContext", first, this.shape.obs + this.shape.actorContext);
    this.#copyActions(chosen, first);
    const q1 = first.forward(batch) >> 2;
    const q2 = second ? second.forward(batch, first.input) >> 2 : q1;
    const target = this.#target >> 2;
    const weights = this.#weights >> 2;
    for (let i = 0; i < batch; i++) {
      const row = this.#rows[i]!;
      const next = Math.min(f32[q1 + i]!, f32[q2 + i]!);
      const outcome = { reward: this.#replay.rewards[row]!, end: this.#replay.ends[row]!, next };
      f32[target + i] = criticTarget(outcome, gamma);
      f32[weights + i] = this.#rowWeights[i]!;
    }
  }

  /** One step of each critic towards the targets: mean squared error. */
  #criticStep(): number {
    const { batch, maxGradNorm } = this.config;
    const { memory } = this.#kernels;
    const input = this.#critics[0]!.input;
    this.#fillCritic();
    let total = 0;
    for (let c = 0; c < this.#critics.length; c++) {
      const prediction = this.#critics[c]!.forward(batch, input);
      const gradient = offset(this.#dq, c * batch);
      const blocks = { prediction, target: this.#target, gradient, weights: this.#weights };
      total += mseLoss(memory, { ...blocks, rows: batch, cols: 1 });
    }
    // Before any critic moves: a divergence of one must leave all as they were.
    if (!Number.isFinite(total)) throw new CodedError(divergence("critics' loss", total));
    const q = this.#critics[0]!.output >> 2;
    for (let i = 0; i < batch; i++) this.#errors[i] = memory.f32[q + i]! - memory.f32[(this.#target >> 2) + i]!;
    this.#replay.setErrors(this.#rows, this.#errors);
    for (let c = 0; c < this.#critics.length; c++) {
      const critic = this.#critics[c]!;
      critic.zeroGrads();
      critic.backward(batch, offset(this.#dq, c * batch), PARAMS_ONLY);
      if (maxGradNorm > 0)
        clipGradNorm(this.#kernels, { grads: critic.grads, count: critic.paramCount, max: maxGradNorm });
      this.#criticOptimisers[c]!.step(critic.grads);
    }
    return total;
  }

  /** One step of the actor up the first critic: the loss is −Q(s, π(s)), and its gradient comes through the action. */
  #actorStep(): number {
    const { batch, maxGradNorm } = this.config;
    const { memory } = this.#kernels;
    const size = this.#scale.size;
    const critic = this.#critics[0]!;
    this.#fill(this.#actor, "obs", "actorContext");
    this.#copyActions(this.#actor.forward(batch) >> 2, critic);
    const q = critic.forward(batch) >> 2;
    const f32 = memory.f32;
    let sum = 0;
    for (let i = 0; i < batch; i++) sum += f32[q + i]!;
    const loss = -sum / batch;
    if (!Number.isFinite(loss)) throw new CodedError(divergence("actor's loss", loss));
    f32.fill(-1 / batch, this.#dq >> 2, (this.#dq >> 2) + batch);
    const dInput = critic.backward(batch, this.#dq, INPUT_ONLY) >> 2;
    const dAction = this.#dAction >> 2;
    for (let i = 0; i < batch; i++) {
      for (let k = 0; k < size; k++)
        f32[dAction + i * size + k] = f32[dInput + i * critic.inputs + this.#actionAt + k]!;
    }
    const actor = this.#actor;
    actor.zeroGrads();
    actor.backward(batch, this.#dAction, PARAMS_ONLY);
    if (maxGradNorm > 0) clipGradNorm(this.#kernels, { grads: actor.grads, count: actor.paramCount, max: maxGradNorm });
    this.#actorOptimiser.step(actor.grads);
    return loss;
  }

  #moveTargets(tau: number): void {
    for (const { target, source, count } of this.#pairs) softUpdate(this.#kernels, { target, source, count, tau });
  }

  // ── Network inputs: [observation | actor context | critic context | action] ────────────────────────────

  #fillCritic(): void {
    const critic = this.#critics[0]!;
    this.#fill(critic, "obs", "actorContext");
    this.#gather("criticContext", critic, this.shape.obs + this.shape.actorContext);
    this.#gather("action", critic, this.#actionAt);
  }

  #fill(network: Network, obs: "obs" | "nextObs", context: "actorContext" | "nextActorContext"): void {
    this.#gather(obs, network, 0);
    this.#gather(context, network, this.shape.obs);
    this.#normalise(network, this.config.batch);
  }

  #gather(column: Parameters<Replay["gather"]>[0], network: Network, at: number): void {
    const into = this.#kernels.memory.f32;
    this.#replay.gather(column, this.#rows, { into, at: (network.input >> 2) + at, stride: network.inputs });
  }

  #normalise(network: Network, rows: number): void {
    if (!this.config.normaliseObs) return;
    this.#normaliser.apply(this.#kernels.memory.f32, { at: network.input >> 2, rows, stride: network.inputs });
  }

  #copyActions(from: number, critic: Network): void {
    const size = this.#scale.size;
    const f32 = this.#kernels.memory.f32;
    const at = (critic.input >> 2) + this.#actionAt;
    for (let i = 0; i < this.config.batch; i++) {
      for (let k = 0; k < size; k++) f32[at + i * critic.inputs + k] = f32[from + i * size + k]!;
    }
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  setProgress(): void {
    // Nothing here follows a schedule.
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
    const networks = [this.#actor, this.#actorTarget, ...this.#critics, ...this.#criticTargets];
    return [
      ...networks.map((network, i) => networkPart(`network ${i}`, network)),
      ...[this.#actorOptimiser, ...this.#criticOptimisers].map((o, i) => optimiserPart(`optimiser ${i}`, o)),
      rngPart(this.#random, "explore"),
      rngPart(this.#random, "replay"),
      rngPart(this.#random, "smooth"),
      numbersPart("noise", { read: () => this.#noise.state(), write: (values) => this.#noise.restore(values) }),
      numbersPart("normaliser", {
        read: () => this.#normaliser.state(),
        write: (values) => this.#normaliser.restore(values),
      }),
      numbersPart("counters", {
        read: () => Float64Array.of(this.#steps, this.#updates, this.#actorLoss),
        write: ([steps = 0, updates = 0, actorLoss = 0]) => {
          this.#steps = steps;
          this.#updates = updates;
          this.#actorLoss = actorLoss;
        },
      }),
      replayPart(this.#replay),
    ];
  }

  dispose(): void {
    for (const network of [this.#actor, this.#actorTarget, ...this.#critics, ...this.#criticTargets]) network.dispose();
    for (const optimiser of [this.#actorOptimiser, ...this.#criticOptimisers]) optimiser.dispose();
    for (const block of [this.#target, this.#dq, this.#weights, this.#dAction]) this.#kernels.memory.free(block);
  }
}

const optimised = ({ params, paramCount }: Network, lr: number) => ({ params, count: paramCount, lr });
