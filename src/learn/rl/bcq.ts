/**
 * Batch-constrained Q-learning (arXiv:1812.02900) that turns into TD3 (arXiv:1802.09477) by one weight, so that a policy
 * trained from a fallback's trajectories goes on learning online with the same actor and critics. Read it after ddpg.ts.
 *
 * The policy (constrained-policy.ts) stays near actions that were seen as far as the weight c says; the critic picks
 * among several of its proposals. c = 1 is BCQ; c = 0 is TD3, without samples or candidates. What the two differ in
 * besides (soft or plain minimum, smoothing of the target's action) moves with c as well.
 */

import type { Result, Rng } from "../../base/index.ts";
import { err, ok, seededRng } from "../../base/index.ts";
import type { Kernels, Ptr } from "../tensor/index.ts";
import type { ActionScale } from "./action-scale.ts";
import { actionScale } from "./action-scale.ts";
import { ClippedCritics, softMinimum } from "./clipped-critics.ts";
import type { Pace } from "./constrained-policy.ts";
import { ConstrainedPolicy } from "./constrained-policy.ts";
import { criticTarget, smoothedAction } from "./ddpg.ts";
import type { DdpgConfig } from "./ddpg-config.ts";
import { ddpgDefaults, td3Options } from "./ddpg-config.ts";
import type { ActOptions, Decision, Learner, LearnerShape, SaveOptions, Transition, UpdateStats } from "./learner.ts";
import { checkInputs, checkTransition, policyFailure } from "./learner.ts";
import type { Noise } from "./noise.ts";
import { createNoise } from "./noise.ts";
import type { Normaliser } from "./normaliser.ts";
import { createNormaliser } from "./normaliser.ts";
import type { ReplayColumn } from "./replay.ts";
import { Replay } from "./replay.ts";
import type { StateHeader, StatePart } from "./saved-state.ts";
import { loadState, numbersPart, replayPart, rngPart, saveState } from "./saved-state.ts";
import type { Schedule } from "./schedule.ts";
import { constant, valueAt } from "./schedule.ts";

// ── Config ─────────────────────────────────────────────────────────────────────────────────────────────

/** What it shares with DDPG means the same as there; there are always two critics. */
type SharedWithDdpg =
  | "hidden"
  | "actorLr"
  | "criticLr"
  | "gamma"
  | "tau"
  | "batch"
  | "bufferSize"
  | "learningStarts"
  | "trainEvery"
  | "gradientSteps"
  | "noise"
  | "targetNoise"
  | "policyDelay"
  | "maxGradNorm"
  | "normaliseObs";

export interface BcqConfig extends Pick<DdpgConfig, SharedWithDdpg> {
  readonly vaeLr: number;
  /** How much the latent's divergence from the standard normal counts against the squared error of the actions. */
  readonly klWeight: number;
  /** Latents are drawn from a standard normal within plus and minus this. */
  readonly latentClip: number;
  /** φ: how far the actor may shift a proposal under the full constraint, in the policy's scale of [−1, 1]. */
  readonly perturbation: number;
  /** Proposals that the critic picks from. */
  readonly candidates: number;
  /** λ of the soft minimum under the full constraint: λ·min + (1 − λ)·max of the two critics. */
  readonly pessimism: number;
  /** c over training; `setConstraint` sets it directly. */
  readonly constraint: Schedule;
  /**
   * Learn from rewards less their mean, for tasks that only ever truncate: it leaves the best policy as it is and
   * spares the critics the climb to mean/(1 − γ) (arXiv:2405.09999). Where tasks terminate it would change the task.
   */
  readonly centreRewards: boolean;
}

/** The paper's values of the constraint, TD3's of the rest. */
export const bcqDefaults: BcqConfig = {
  hidden: ddpgDefaults.hidden,
  actorLr: 1e-3,
  criticLr: 1e-3,
  gamma: 0.99,
  tau: 0.005,
  batch: 64,
  bufferSize: 50_000,
  learningStarts: 0,
  trainEvery: 1,
  gradientSteps: 1,
  noise: ddpgDefaults.noise,
  targetNoise: td3Options.targetNoise,
  policyDelay: 1,
  maxGradNorm: 0,
  normaliseObs: false,
  vaeLr: 1e-3,
  klWeight: 0.5,
  latentClip: 0.5,
  perturbation: 0.05,
  candidates: 10,
  pessimism: 0.75,
  constraint: constant(1),
  centreRewards: false,
};

/** The least change of c that a schedule makes. */
const CONSTRAINT_STEP = 0.05;

export interface BcqOptions {
  readonly kernels: Kernels;
  readonly shape: LearnerShape;
  readonly config: BcqConfig;
  readonly seed: number;
}

// ── Learner ────────────────────────────────────────────────────────────────────────────────────────────

export class Bcq implements Learner {
  readonly kind = "bcq";
  readonly learnsFrom = "any";
  readonly shape: LearnerShape;
  readonly config: BcqConfig;
  readonly #kernels: Kernels;
  readonly #scale: ActionScale;
  readonly #policy: ConstrainedPolicy;
  readonly #critics: ClippedCritics;
  readonly #replay: Replay;
  readonly #noise: Noise;
  readonly #normaliser: Normaliser;
  readonly #random: { explore: Rng; replay: Rng; smooth: Rng; latent: Rng };
  /** Width of what the policy sees: observation and actor context. */
  readonly #seen: number;
  readonly #candidates: number;
  /** [batch]. */
  readonly #target: Ptr;
  readonly #rows: Int32Array;
  readonly #rowWeights: Float32Array;
  readonly #executed: Float32Array;
  readonly #parts: readonly StatePart[];
  #steps = 0;
  #updates = 0;
  #actorLoss = 0;
  #vaeLoss = 0;
  #rewardMean = 0;

  constructor({ kernels, shape, config, seed }: BcqOptions) {
    this.#scale = actionScale(shape.action, "BCQ");
    this.#kernels = kernels;
    this.shape = shape;
    this.config = config;
    const actions = this.#scale.size;
    const root = seededRng(seed).fork("bcq");
    this.#random = {
      explore: root.fork("explore"),
      replay: root.fork("replay"),
      smooth: root.fork("smooth"),
      latent: root.fork("latent"),
    };
    const { hidden, batch, actorLr, criticLr, vaeLr, klWeight, maxGradNorm } = config;
    this.#seen = shape.obs + shape.actorContext;
    // A critic that needs a context which does not exist when serving cannot choose there: then one proposal is all.
    const candidates = shape.criticContext > 0 ? 1 : config.candidates;
    this.#candidates = candidates;

    const sizes = { actions, hidden, batch, candidates, maxGradNorm, rng: root };
    const { latentClip, perturbation } = config;
    this.#policy = new ConstrainedPolicy(kernels, {
      ...sizes,
      seen: this.#seen,
      actorLr,
      vaeLr,
      klWeight,
      latentClip,
      perturbation,
    });
    this.#policy.setConstraint(valueAt(config.constraint, 0));
    this.#critics = new ClippedCritics(kernels, {
      ...sizes,
      inputs: this.#seen + shape.criticContext + actions,
      lr: criticLr,
    });

    this.#target = kernels.memory.alloc(batch);
    this.#rows = new Int32Array(batch);
    this.#rowWeights = new Float32Array(batch);
    this.#executed = new Float32Array(actions);
    this.#replay = new Replay({
      capacity: config.bufferSize,
      widths: { obs: shape.obs, action: actions, actorContext: shape.actorContext, criticContext: shape.criticContext },
    });
    this.#noise = createNoise(config.noise, actions);
    this.#normaliser = createNormaliser({ size: shape.obs });
    this.#parts = this.#stateParts();
  }

  get steps(): number {
    return this.#steps;
  }

  /** c: how much the policy is kept near actions that were seen. */
  get constraint(): number {
    return this.#policy.constraint;
  }

  /**
   * Sets c until the next call or the next `setProgress`, and refits the actor on what was seen so that the policy goes
   * on doing what it did. It costs some hundred small steps, so it belongs where updates are made.
   */
  setConstraint(constraint: number): void {
    if (!(constraint >= 0 && constraint <= 1)) {
      throw new RangeError(`the constraint weight lies between 0 (none) and 1 (full), got ${constraint}`);
    }
    if (constraint === this.#policy.constraint) return;
    // Before the first update there is no policy worth keeping, and without steps nothing to refit it on.
    if (this.#updates === 0 || this.#replay.size === 0) {
      this.#policy.setConstraint(constraint);
      return;
    }
    const input = this.#actorInput("learning");
    const fill = () => {
      this.#replay.sample(this.#random.replay, { rows: this.#rows, weights: this.#rowWeights });
      this.#gatherSeen(input, { next: false });
    };
    this.#policy.changeConstraint(constraint, { fill, rng: this.#random.latent });
  }

  setProgress(progress: number): void {
    const { constraint } = this.config;
    const wanted = valueAt(constraint, progress);
    // In steps, since each costs a refit; the last value is reached exactly.
    const isWorthIt = Math.abs(wanted - this.#policy.constraint) >= CONSTRAINT_STEP || wanted === constraint.to;
    if (isWorthIt) this.setConstraint(wanted);
  }

  // ── Acting ───────────────────────────────────────────────────────────────────────────────────────────

  act(obs: ArrayLike<number>, { actorContext, explore, explorer }: ActOptions): Result<Decision> {
    const checked = checkInputs(this.shape, obs, actorContext);
    if (!checked.ok) return checked;
    const action = new Float32Array(this.#scale.size);
    const { rng, noise = this.#noise } = explorer ?? { rng: this.#random.explore };
    if (explore && this.#steps < this.config.learningStarts) {
      for (let i = 0; i < action.length; i++) action[i] = 2 * rng.next() - 1;
    } else {
      this.#choose({ obs, actorContext, action, latents: explore ? rng : undefined });
      if (explore) noise.addTo(action, rng);
      for (let i = 0; i < action.length; i++) {
        if (!Number.isFinite(action[i]!)) return err(policyFailure());
        action[i] = Math.min(Math.max(action[i]!, -1), 1);
      }
    }
    this.#scale.toBounds(action);
    return ok({ action, logProb: 0 });
  }

  /** The policy's choice in [−1, 1]: the candidate that the first critic likes best. */
  #choose({ obs, actorContext, action, latents }: Choice): void {
    const f32 = this.#kernels.memory.f32;
    const rows = this.#policy.constraint > 0 ? this.#candidates : 1;
    const { at, stride } = this.#actorInput("learning");
    for (let i = 0; i < rows; i++) {
      const row = at + i * stride;
      for (let k = 0; k < this.shape.obs; k++) f32[row + k] = obs[k]!;
      for (let k = 0; k < this.shape.actorContext; k++) f32[row + this.shape.obs + k] = actorContext![k]!;
    }
    this.#normalise({ at, stride }, rows);
    const chosen = this.#policy.choose("learning", rows, latents);
    let best = 0;
    if (rows > 1) {
      this.#policy.copyJudged("learning", rows, this.#critics);
      const q = this.#critics.judge(rows);
      for (let i = 1; i < rows; i++) if (f32[q + i]! > f32[q + best]!) best = i;
    }
    for (let k = 0; k < action.length; k++) action[k] = f32[chosen + best * action.length + k]!;
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
    this.#rewardMean += (transition.reward - this.#rewardMean) / this.#steps;
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
    const more = { meanQ: -this.#actorLoss, vaeLoss: this.#vaeLoss, constraint: this.#policy.constraint };
    return { gradientSteps, criticLoss, actorLoss: this.#actorLoss, more };
  }

  #gradientStep(): number {
    this.#replay.sample(this.#random.replay, { rows: this.#rows, weights: this.#rowWeights });
    // Without the constraint nothing asks the generative model, so it is not trained either.
    if (this.#policy.constraint > 0) this.#vaeLoss = this.#vaeStep();
    this.#computeTargets();
    const loss = this.#criticStep();
    this.#updates += 1;
    if (this.#updates % this.config.policyDelay === 0) {
      this.#actorLoss = this.#actorStep();
      this.#policy.moveTarget(this.config.tau);
      this.#critics.moveTargets(this.config.tau);
    }
    return loss;
  }

  #vaeStep(): number {
    const input = { at: this.#policy.vae.trainInput >> 2, stride: this.#seen + this.#scale.size };
    this.#gatherSeen(input, { next: false });
    this.#gather("action", input, this.#seen);
    return this.#policy.vae.train(this.#random.latent);
  }

  /** y = r + γ·max over candidates of the soft minimum of the slow critics, without the future where the task ended. */
  #computeTargets(): void {
    const { batch, gamma, targetNoise, pessimism, centreRewards } = this.config;
    const c = this.#policy.constraint;
    const candidates = c > 0 ? this.#candidates : 1;
    const count = batch * candidates;
    const input = this.#actorInput("slow");
    this.#gatherSeen(input, { next: true });
    this.#repeatRows(input, candidates);
    const chosen = this.#policy.choose("slow", count, this.#random.latent);
    const f32 = this.#kernels.memory.f32;
    const noise = { sigma: targetNoise.sigma * (1 - c), clip: targetNoise.clip };
    if (noise.sigma > 0) {
      const { smooth } = this.#random;
      for (let i = 0; i < count * this.#scale.size; i++)
        f32[chosen + i] = smoothedAction(f32[chosen + i]!, smooth.normal(), noise);
    }
    const judged = { input: this.#critics.slowInput, inputs: this.#critics.inputs };
    this.#policy.copyJudged("slow", count, judged);
    // With a critic context there is one candidate per row, so the rows drawn are the rows judged.
    if (this.shape.criticContext > 0) {
      this.#gather("nextCriticContext", { at: judged.input >> 2, stride: judged.inputs }, this.#seen);
    }
    const [q1, q2] = this.#critics.judgeSlowly(count);
    const lambda = 1 - (1 - pessimism) * c;
    const shift = centreRewards ? this.#rewardMean : 0;
    const target = this.#target >> 2;
    for (let i = 0; i < batch; i++) {
      let next = Number.NEGATIVE_INFINITY;
      for (let k = i * candidates; k < (i + 1) * candidates; k++) {
        next = Math.max(next, softMinimum(f32[q1 + k]!, f32[q2 + k]!, lambda));
      }
      const row = this.#rows[i]!;
      const outcome = { reward: this.#replay.rewards[row]! - shift, end: this.#replay.ends[row]!, next };
      f32[target + i] = criticTarget(outcome, gamma);
    }
  }

  #criticStep(): number {
    const input = { at: this.#critics.input >> 2, stride: this.#critics.inputs };
    this.#gatherSeen(input, { next: false });
    this.#gather("criticContext", input, this.#seen);
    this.#gather("action", input, this.#seen + this.shape.criticContext);
    return this.#critics.step(this.#target);
  }

  /** One step of the actor up the first critic: the loss is −Q(s, a) of the policy's own actions. */
  #actorStep(): number {
    const { batch } = this.config;
    this.#gatherSeen(this.#actorInput("learning"), { next: false });
    this.#policy.choose("learning", batch, this.#random.latent);
    this.#policy.copyJudged("learning", batch, this.#critics);
    const { loss, dAction } = this.#critics.climb();
    this.#policy.step(dAction);
    return loss;
  }

  // ── From the replay to inputs ────────────────────────────────────────────────────────────────────────

  #gatherSeen(input: Matrix, { next }: { next: boolean }): void {
    this.#gather(next ? "nextObs" : "obs", input, 0);
    this.#gather(next ? "nextActorContext" : "actorContext", input, this.shape.obs);
    this.#normalise(input, this.config.batch);
  }

  #gather(column: ReplayColumn, { at, stride }: Matrix, first: number): void {
    this.#replay.gather(column, this.#rows, { into: this.#kernels.memory.f32, at: at + first, stride });
  }

  #actorInput(pace: Pace): Matrix {
    return { at: this.#policy.input(pace) >> 2, stride: this.#policy.inputs };
  }

  /** Turns each of the batch's rows into `times` equal ones, in place and from the end, so that none is overwritten too early. */
  #repeatRows({ at, stride }: Matrix, times: number): void {
    const f32 = this.#kernels.memory.f32;
    for (let i = this.config.batch - 1; times > 1 && i >= 0; i--) {
      const from = at + i * stride;
      for (let k = times - 1; k >= 0; k--) f32.copyWithin(at + (i * times + k) * stride, from, from + this.#seen);
    }
  }

  #normalise({ at, stride }: Matrix, rows: number): void {
    if (this.config.normaliseObs) this.#normaliser.apply(this.#kernels.memory.f32, { at, rows, stride });
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

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
      ...this.#policy.parts(),
      ...this.#critics.parts(),
      rngPart(this.#random, "explore"),
      rngPart(this.#random, "replay"),
      rngPart(this.#random, "smooth"),
      rngPart(this.#random, "latent"),
      numbersPart("noise", { read: () => this.#noise.state(), write: (values) => this.#noise.restore(values) }),
      numbersPart("normaliser", {
        read: () => this.#normaliser.state(),
        write: (values) => this.#normaliser.restore(values),
      }),
      numbersPart("counters", {
        read: () =>
          Float64Array.of(
            this.#steps,
            this.#updates,
            this.#actorLoss,
            this.#vaeLoss,
            this.#rewardMean,
            this.#policy.constraint,
          ),
        write: ([steps = 0, updates = 0, actorLoss = 0, vaeLoss = 0, rewardMean = 0, constraint = 1]) => {
          this.#steps = steps;
          this.#updates = updates;
          this.#actorLoss = actorLoss;
          this.#vaeLoss = vaeLoss;
          this.#rewardMean = rewardMean;
          this.#policy.setConstraint(constraint);
        },
      }),
      replayPart(this.#replay),
    ];
  }

  dispose(): void {
    this.#policy.dispose();
    this.#critics.dispose();
    this.#kernels.memory.free(this.#target);
  }
}

/** Where a matrix begins, as an index of floats, and how far apart its rows are. */
interface Matrix {
  readonly at: number;
  readonly stride: number;
}

interface Choice {
  readonly obs: ArrayLike<number>;
  readonly actorContext: ArrayLike<number> | undefined;
  /** Receives the choice. */
  readonly action: Float32Array;
  /** Where latents are drawn from; absent for the fixed ones. */
  readonly latents: Rng | undefined;
}
