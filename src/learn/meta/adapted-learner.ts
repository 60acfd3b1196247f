/**
 * A workload's own policy, begun from a shared one: the learner of an agent that nobody has trained before.
 * It acts with the shared policy under the workload's embedding, neutral until there are trajectories enough; the
 * embedding is refreshed as better ones arrive, and the policy is fine-tuned from the workload's own steps under it. The
 * encoder stays as it is.
 * Owns: what is kept of the workload, when its embedding is computed, fine-tuning, and its checkpoint.
 * Not here: who may act (control/lifecycle), the encoder and the pool (shared-model.ts).
 *
 * Outside it is a learner like any other, which asks for nothing but observations. Reading a trajectory takes a hundred
 * times as long as a tick may, so `observe` only collects and `update`, which runs beside the loop, reads. A policy that
 * is served is not updated, so it keeps the embedding that it earned its place with.
 */

import type { Result } from "../../base/index.ts";
import { err, failure, ok, seededRng } from "../../base/index.ts";
import type {
  ActOptions,
  Ddpg,
  Decision,
  Learner,
  LearnerShape,
  SaveOptions,
  Transition,
  UpdateStats,
} from "../rl/index.ts";
import { actionSize, checkTransition, Replay } from "../rl/index.ts";
import type { Kernels } from "../tensor/index.ts";
import { ADAPTED, type AdaptedMemory, adaptedOrigin, decodeAdapted, encodeAdapted } from "./adapted-saved.ts";
import { layoutWidth } from "./features.ts";
import type { Embedding } from "./fingerprint.ts";
import { Fingerprint } from "./fingerprint.ts";
import type { Kinship } from "./kinship.ts";
import type { SharedModel } from "./shared-model.ts";
import { openPolicy } from "./shared-model.ts";
import { TrajectoryRecorder } from "./trajectory-recorder.ts";

export interface AdaptedOptions {
  readonly kernels: Kernels;
  readonly shared: SharedModel;
  readonly seed: number;
  /** Trajectories that an embedding needs; with fewer it is neutral. */
  readonly least?: number;
  /** Steps of the workload that are kept to learn from. */
  readonly replaySteps?: number;
  /** Rows below which a trajectory says too little. */
  readonly leastRows?: number;
}

export interface Familiarity {
  readonly embedding: Embedding;
  /** Undefined while the embedding is neutral: there is nothing to compare yet. */
  readonly kinship: Kinship | undefined;
}

/** How well a shared model knows the workload that a learner manages. */
export interface Familiar {
  /** The shared model's. */
  readonly identity: string;
  familiarity(): Familiarity;
}

export const isFamiliar = (learner: object): learner is Familiar => "familiarity" in learner;

const LEAST = 3;
export const ADAPTED_REPLAY_STEPS = 10_000;
const LEAST_ROWS = 10;
/** A stranger is farther from the shared policy than those it was trained on: it takes so many steps for each of theirs. */
const STRANGERS_STEPS = 2;

export class AdaptedLearner implements Learner, Familiar {
  readonly kind = ADAPTED;
  readonly learnsFrom = "any";
  readonly shape: LearnerShape;
  readonly #shared: SharedModel;
  readonly #policy: Ddpg;
  readonly #fingerprint: Fingerprint;
  readonly #recorder: TrajectoryRecorder;
  readonly #replay: Replay;
  readonly #seed: number;
  #embedding: Embedding;
  #familiarity: Familiarity | undefined;
  #steps = 0;
  #rounds = 0;
  /** Steps in the replay that this policy took itself. */
  #own = 0;
  /** Of the replay's rewards; not a number when it has to be computed anew. */
  #rewardMean = Number.NaN;

  constructor(options: AdaptedOptions) {
    const {
      kernels,
      shared,
      seed,
      least = LEAST,
      replaySteps = ADAPTED_REPLAY_STEPS,
      leastRows = LEAST_ROWS,
    } = options;
    const { meta, shape, bundle } = shared.model;
    this.#shared = shared;
    this.#seed = seed;
    // Outside, nothing is asked for but the observation: the embedding is the learner's own.
    this.shape = { ...shape, actorContext: 0 };
    this.#policy = openPolicy(shared.model, kernels, seed);
    this.#fingerprint = new Fingerprint(shared.encoder, { size: bundle, least: Math.min(least, bundle) });
    this.#recorder = new TrajectoryRecorder({ layout: meta.layout, most: meta.steps, least: leastRows });
    const widths = { obs: shape.obs, action: actionSize(shape.action), actorContext: 0, criticContext: 0 };
    this.#replay = new Replay({ capacity: replaySteps, widths });
    this.#embedding = this.#fingerprint.embedding();
  }

  get steps(): number {
    return this.#steps;
  }

  get identity(): string {
    return this.#shared.identity;
  }

  familiarity(): Familiarity {
    const embedding = this.#embedding;
    const kinship = () => (embedding.kind === "known" ? this.#shared.kinshipOf(embedding.vector) : undefined);
    this.#familiarity ??= { embedding, kinship: kinship() };
    return this.#familiarity;
  }

  // ── Acting and observing ─────────────────────────────────────────────────────────────────────────────

  act(obs: ArrayLike<number>, options: ActOptions): Result<Decision> {
    return this.#policy.act(obs, { ...options, actorContext: this.#embedding.vector });
  }

  observe(step: Transition): Result<void> {
    const checked = checkTransition(this.shape, step);
    if (!checked.ok) return checked;
    this.#replay.add(step);
    this.#rewardMean = Number.NaN;
    this.#steps += 1;
    // Whoever acted in its place has no probability of this policy to tell.
    if (step.logProb !== undefined) this.#own += 1;
    const ended = this.#recorder.add(step);
    if (!ended.ok) return ended;
    const inserted = ended.value ? this.#fingerprint.insert(ended.value) : undefined;
    return inserted && !inserted.ok ? inserted : checked;
  }

  /** Forgets the steps, not what was learned from them, nor the trajectories that it is known by. */
  clearReplay(): void {
    this.#replay.clear();
    this.#recorder.clear();
    this.#own = 0;
    this.#rewardMean = Number.NaN;
  }

  // ── Learning ─────────────────────────────────────────────────────────────────────────────────────────

  /**
   * The embedding from the best trajectories so far, then gradient steps under it. There are none before the policy has
   * taken a batch of steps itself: what actions are worth that nobody took is not in others' records, and unlike BCQ
   * this learner is not kept near what was seen.
   */
  update(): UpdateStats | undefined {
    this.#refresh();
    const { batch } = this.#policy.config;
    if (this.#own < batch) return undefined;
    const gradientSteps = this.familiarity().kinship?.isStranger ? STRANGERS_STEPS : 1;
    let [criticLoss, actorLoss] = [0, 0];
    for (let step = 0; step < gradientSteps; step++) {
      const rng = seededRng(this.#seed).fork("fine-tuning").fork(this.#rounds);
      this.#rounds += 1;
      const rows = Int32Array.from({ length: batch }, () => rng.int(this.#replay.size));
      const losses = this.#policy.learnFrom([
        { replay: this.#replay, rows, context: this.#embedding.vector, rewardShift: this.#meanReward() },
      ]);
      criticLoss += losses.criticLoss / gradientSteps;
      actorLoss += losses.actorLoss / gradientSteps;
    }
    return { gradientSteps, criticLoss, actorLoss, more: {} };
  }

  /** Computed anew only where a trajectory has come that is among the best. */
  #refresh(): void {
    const found = this.#fingerprint.embedding();
    if (found !== this.#embedding) this.#take(found);
  }

  #take(embedding: Embedding): void {
    this.#embedding = embedding;
    this.#familiarity = undefined;
  }

  #meanReward(): number {
    if (Number.isNaN(this.#rewardMean)) {
      const { rewards, size } = this.#replay;
      let sum = 0;
      for (let i = 0; i < size; i++) sum += rewards[i]!;
      this.#rewardMean = size === 0 ? 0 : sum / size;
    }
    return this.#rewardMean;
  }

  setProgress(): void {
    // Nothing here follows a schedule.
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  save({ resumable = false }: SaveOptions = {}): Uint8Array {
    const { kind, vector, trajectories } = this.#embedding;
    return encodeAdapted({
      identity: this.identity,
      seed: this.#seed,
      replaySteps: this.#replay.capacity,
      steps: this.#steps,
      rounds: this.#rounds,
      policy: this.#policy.save(),
      embedding: vector,
      trajectories: kind === "known" ? trajectories : 0,
      known: this.#fingerprint.known,
      memory: resumable ? { replay: this.#replay.blocks(), own: this.#own, running: this.#recorder.state() } : null,
    });
  }

  /**
   * Policy and embedding as they were saved. Trajectories are added to those that came meanwhile: what was trained beside
   * the loop does not know the newest.
   */
  load(bytes: Uint8Array): Result<void> {
    const { meta } = this.#shared.model;
    const widths = { row: layoutWidth(meta.layout), embedding: meta.embedding };
    const decoded = decodeAdapted(bytes, { identity: this.identity, widths });
    if (!decoded.ok) return decoded;
    const { policy, embedding, trajectories, known, memory, steps, rounds } = decoded.value;
    if (memory && !this.#replay.fits(memory.replay)) return otherReplay();
    const loaded = this.#policy.load(policy);
    if (!loaded.ok) return loaded;
    for (const { trajectory, summary } of known) this.#fingerprint.insert(trajectory, summary);
    this.#take(
      trajectories > 0 ? { kind: "known", vector: embedding, trajectories } : this.#fingerprint.neutral(known.length),
    );
    this.#steps = Math.max(this.#steps, steps);
    this.#rounds = Math.max(this.#rounds, rounds);
    if (memory) this.#recall(memory);
    return ok(undefined);
  }

  #recall({ replay, own, running }: AdaptedMemory): void {
    this.#replay.restore(replay);
    this.#recorder.restore(running);
    this.#own = own;
    this.#rewardMean = Number.NaN;
  }

  dispose(): void {
    this.#policy.dispose();
  }
}

/** The learner that wrote the bytes, for a thread that trains beside the loop. */
export function openAdapted(
  bytes: Uint8Array,
  options: Omit<AdaptedOptions, "seed" | "replaySteps">,
): Result<AdaptedLearner> {
  const origin = adaptedOrigin(bytes);
  if (!origin.ok) return origin;
  const { seed, replaySteps } = origin.value;
  const learner = new AdaptedLearner({ ...options, seed, replaySteps });
  const loaded = learner.load(bytes);
  if (loaded.ok) return ok(learner);
  learner.dispose();
  return loaded;
}

const otherReplay = (): Result<never> =>
  err(
    failure(
      "checkpoint.mismatch",
      "the checkpoint's replay is of another size than this learner's; build the learner it was saved from",
    ),
  );
