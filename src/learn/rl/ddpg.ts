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
import type { DdpgConfig } from "./ddpg-config.ts";
import type { ContextGradient, ContextWeights, DrawnRows, EnvironmentRows } from "./drawn-rows.ts";
import { assertGroups, ContextSums, followGuides, ownRows, rowsOfEnvironments } from "./drawn-rows.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition, UpdateStats } from "./learner.ts";
import { checkInputs, checkTransition, divergence, policyFailure } from "./learner.ts";
import { reluMlp } from "./networks.ts";
import type { Noise } from "./noise.ts";
import { createNoise } from "./noise.ts";
import type { Normaliser } from "./normaliser.ts";
import { createNormaliser } from "./normaliser.ts";
import type { ReplayColumn } from "./replay.ts";
import { Replay } from "./replay.ts";
import type { StateHeader, StatePart } from "./saved-state.ts";
import { loadState, networkPart, numbersPart, optimiserPart, replayPart, rngPart, saveState } from "./saved-state.ts";

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
  readonly learnsFrom = "any";
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
  /** Where critic context and action begin in a critic's input: after observation and, if critics see it, actor context. */
  readonly #criticContextAt: number;
  readonly #actionAt: number;
  /** Blocks of one float per row: targets, the gradient of each critic's Q, importance weights; and the action's gradient. */
  readonly #target: Ptr;
  readonly #dq: Ptr;
  readonly #weights: Ptr;
  readonly #dAction: Ptr;
  readonly #rows: Int32Array;
  readonly #ownRows: DrawnRows;
  /** The rows of the step under way. */
  #drawn: DrawnRows;
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
    this.#criticContextAt = config.criticsSeeContext === false ? shape.obs : seen;
    this.#actionAt = this.#criticContextAt + shape.criticContext;
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
    this.#ownRows = ownRows(this.#replay, this.#rows);
    this.#drawn = this.#ownRows;
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
    this.#drawn = this.#ownRows;
    const loss = this.#learnFromDrawn();
    this.#replay.setErrors(this.#rows, this.#errors);
    return loss;
  }

  #learnFromDrawn(): number {
    this.#computeTargets();
    const loss = this.#criticStep();
    this.#updates += 1;
    if (this.#updates % this.config.policyDelay === 0) {
      this.#actorLoss = this.#actorStep();
      this.#moveTargets(this.config.tau);
    }
    return loss;
  }

  // ── Shared by environments ───────────────────────────────────────────────────────────────────────────

  /**
   * One gradient step on rows of several environments, `batch` of them in all, each under its own context. The rows are
   * not kept and are no steps of this learner: whoever shares it has a replay per environment.
   */
  learnFrom(groups: readonly EnvironmentRows[]): { readonly criticLoss: number; readonly actorLoss: number } {
    this.#draw(groups);
    const criticLoss = this.#learnFromDrawn();
    return { criticLoss, actorLoss: this.#actorLoss };
  }

  /** Each environment's losses on its rows, and their gradient with respect to its context. Nothing moves. */
  contextGradients(groups: readonly EnvironmentRows[], weights: ContextWeights): readonly ContextGradient[] {
    this.#draw(groups);
    const sums = new ContextSums(groups, this.shape.actorContext);
    const { batch } = this.config;
    const { memory } = this.#kernels;
    // Without TD3's noise on the target's action, which would be drawn from a stream that training goes on with.
    this.#computeTargets({ targetNoise: { sigma: 0, clip: 0 } });
    this.#criticLoss();
    const target = this.#target >> 2;
    for (let c = 0; c < this.#critics.length; c++) {
      const critic = this.#critics[c]!;
      const q = critic.output >> 2;
      sums.addLoss("critic", (i) => (memory.f32[q + i]! - memory.f32[target + i]!) ** 2);
      if (weights.critic === 0 || this.config.criticsSeeContext === false) continue;
      const at = (critic.backward(batch, offset(this.#dq, c * batch), INPUT_ONLY) >> 2) + this.shape.obs;
      sums.addGradient({ from: memory.f32, at, stride: critic.inputs, weight: batch * weights.critic });
    }
    this.#climb();
    const q = this.#critics[0]!.output >> 2;
    sums.addLoss("actor", (i) => -memory.f32[q + i]!);
    const at = (this.#actor.backward(batch, this.#dAction, INPUT_ONLY) >> 2) + this.shape.obs;
    sums.addGradient({ from: memory.f32, at, stride: this.#actor.inputs, weight: batch * weights.actor });
    return sums.outcome();
  }

  #draw(groups: readonly EnvironmentRows[]): void {
    assertGroups(groups, { rows: this.config.batch, shape: this.shape });
    this.#drawn = rowsOfEnvironments(groups);
    this.#rowWeights.fill(1);
  }

  #computeTargets({ targetNoise }: Pick<DdpgConfig, "targetNoise"> = this.config): void {
    const { batch, gamma } = this.config;
    const size = this.#scale.size;
    this.#fillActor(this.#actorTarget, "next");
    const chosen = this.#actorTarget.forward(batch) >> 2;
    const f32 = this.#kernels.memory.f32;
    if (targetNoise.sigma > 0) {
      const { smooth } = this.#random;
      for (let i = 0; i < batch * size; i++)
        f32[chosen + i] = smoothedAction(f32[chosen + i]!, smooth.normal(), targetNoise);
    }
    const [first, second] = this.#criticTargets as [Network, Network?];
    this.#fillSeen(first, "next");
    this.#gather("nextCriticContext", first, this.#criticContextAt);
    this.#copyActions(chosen, first);
    const q1 = first.forward(batch) >> 2;
    const q2 = second ? second.forward(batch, first.input) >> 2 : q1;
    const target = this.#target >> 2;
    const weights = this.#weights >> 2;
    for (let i = 0; i < batch; i++) {
      const next = Math.min(f32[q1 + i]!, f32[q2 + i]!);
      const outcome = { reward: this.#drawn.reward(i), end: this.#drawn.end(i), next };
      f32[target + i] = criticTarget(outcome, gamma);
      f32[weights + i] = this.#rowWeights[i]!;
    }
  }

  /** The critics' mean squared errors against the targets, with the gradient of each one's Q in `#dq`. */
  #criticLoss(): number {
    const { batch } = this.config;
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
    return total;
  }

  /** One step of each critic towards the targets. */
  #criticStep(): number {
    const { batch, maxGradNorm } = this.config;
    const total = this.#criticLoss();
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

  /** The actor's loss −Q(s, π(s)) under the first critic, with the gradient of its action in `#dAction`. */
  #climb(): number {
    const { batch } = this.config;
    const { memory } = this.#kernels;
    const size = this.#scale.size;
    const critic = this.#critics[0]!;
    this.#fillActor(this.#actor, "now");
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
    followGuides(f32, this.#drawn, { q, chosen: this.#actor.output >> 2, dAction, batch, size, obs: this.shape.obs });
    return loss;
  }

  #actorStep(): number {
    const { batch, maxGradNorm } = this.config;
    const loss = this.#climb();
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
    this.#fillSeen(critic, "now");
    this.#gather("criticContext", critic, this.#criticContextAt);
    this.#gather("action", critic, this.#actionAt);
  }

  #fillActor(network: Network, when: "now" | "next"): void {
    this.#gather(when === "now" ? "actorContext" : "nextActorContext", network, this.shape.obs);
    this.#fillObs(network, when);
  }

  /** What a critic sees besides its own context and the action. */
  #fillSeen(critic: Network, when: "now" | "next"): void {
    if (this.config.criticsSeeContext === false) this.#fillObs(critic, when);
    else this.#fillActor(critic, when);
  }

  #fillObs(network: Network, when: "now" | "next"): void {
    this.#gather(when === "now" ? "obs" : "nextObs", network, 0);
    this.#normalise(network, this.config.batch);
  }

  #gather(column: ReplayColumn, network: Network, at: number): void {
    const into = this.#kernels.memory.f32;
    this.#drawn.gather(column, { into, at: (network.input >> 2) + at, stride: network.inputs });
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
