/**
 * The shared policy under a workload's embedding, as an agent's learner.
 * Owns: making episodes of an agent's steps, for the embedding and for fine-tuning; a policy kept with its embedding.
 * Not here: embeddings and fine-tuning (learn/meta), who may act (control/lifecycle).
 */
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Episode, PretrainedModel } from "../../learn/meta/index.ts";
import { Adaptation } from "../../learn/meta/index.ts";
import type { ActOptions, Decision, Learner, LearnerShape, Transition, UpdateStats } from "../../learn/rl/index.ts";
import { Ddpg, decodeCheckpoint, encodeCheckpoint } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";

export interface EmbeddedOptions {
  readonly kernels: Kernels;
  readonly model: PretrainedModel;
  readonly seed: number;
}

const KIND = "policy-with-embedding";

/** Outside, nothing is asked for but the observation: the embedding is the learner's own. */
const outerShape = ({ shape }: PretrainedModel): LearnerShape => ({ ...shape, actorContext: 0 });

export class EmbeddedLearner implements Learner {
  readonly kind = KIND;
  readonly shape: LearnerShape;
  readonly #adaptation: Adaptation;
  #rows: Transition[] = [];
  #steps = 0;
  #episodes = 0;

  constructor({ kernels, model, seed }: EmbeddedOptions) {
    this.shape = outerShape(model);
    this.#adaptation = new Adaptation({ kernels, model, seed });
  }

  get steps(): number {
    return this.#steps;
  }

  act(obs: ArrayLike<number>, options: ActOptions): Result<Decision> {
    return this.#adaptation.act(obs, options);
  }

  /** An episode is one without holes: a step that is missing begins it anew. */
  observe(step: Transition): Result<void> {
    this.#steps += 1;
    const before = this.#rows.at(-1);
    if (before && !isSame(before.nextObs, step.obs)) this.#rows = [];
    // Copied, since callers may reuse their arrays.
    const copy = (values: ArrayLike<number>) => Float32Array.from(values);
    this.#rows.push({ ...step, obs: copy(step.obs), action: copy(step.action), nextObs: copy(step.nextObs) });
    if (step.end === "no") return ok(undefined);
    const inserted = this.#adaptation.insert(episodeOf(this.#rows));
    this.#rows = [];
    if (inserted.ok) this.#episodes += 1;
    return inserted;
  }

  /** From the first whole episode on. Its losses are the adaptation's own affair. */
  update(): UpdateStats | undefined {
    if (this.#episodes === 0) return undefined;
    this.#adaptation.fineTune(1);
    return { gradientSteps: 1, criticLoss: Number.NaN, actorLoss: Number.NaN, more: {} };
  }

  setProgress(): void {}

  /** The policy and the embedding it acts under now: what `FixedLearner` acts with. */
  save(): Uint8Array {
    const { vector } = this.#adaptation.familiarity().embedding;
    return encodeCheckpoint({
      kind: KIND,
      meta: {},
      blocks: { policy: this.#adaptation.policy(), embedding: Float32Array.from(vector) },
    });
  }

  /** Its trajectories are not in the bytes, so it could not go on with the embedding. */
  load(): Result<void> {
    return err(
      failure(
        "checkpoint.mismatch",
        "a learner with an embedding of its own begins with a pre-trained model and learns from there; act with a saved one through FixedLearner",
      ),
    );
  }

  dispose(): void {
    this.#adaptation.dispose();
  }
}

/** A policy that stays as it was saved, under the embedding that it was saved with. */
export function fixedLearner({ kernels, model, seed }: EmbeddedOptions, bytes: Uint8Array): Result<Learner> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { policy: saved, embedding } = decoded.value.blocks;
  if (decoded.value.kind !== KIND || !(saved instanceof Uint8Array) || !(embedding instanceof Float32Array))
    return err(
      failure("checkpoint.mismatch", "these bytes hold no policy with its embedding; give what EmbeddedLearner saved"),
    );
  const policy = new Ddpg({ kernels, shape: model.shape, config: model.learner, seed });
  const loaded = policy.load(saved);
  if (!loaded.ok) {
    policy.dispose();
    return loaded;
  }
  let steps = 0;
  return ok({
    kind: KIND,
    shape: outerShape(model),
    get steps() {
      return steps;
    },
    act: (obs: ArrayLike<number>, options: ActOptions) => policy.act(obs, { ...options, actorContext: embedding }),
    observe() {
      steps += 1;
      return ok(undefined);
    },
    update: () => undefined,
    setProgress: () => undefined,
    save: () => bytes,
    load: () => err(failure("checkpoint.mismatch", "this policy stays as it is; make another one of other bytes")),
    dispose: () => policy.dispose(),
  });
}

function isSame(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  return one.length === other.length && Array.from(one).every((x, i) => x === other[i]);
}

function episodeOf(rows: readonly Transition[]): Episode {
  const last = rows.at(-1);
  const flat = (columns: readonly ArrayLike<number>[]) =>
    Float32Array.from(columns.flatMap((column) => Array.from(column)));
  return {
    steps: rows.length,
    obs: flat([...rows.map(({ obs }) => obs), ...(last ? [last.nextObs] : [])]),
    actions: flat(rows.map(({ action }) => action)),
    rewards: Float32Array.from(rows.map(({ reward }) => reward)),
    end: last?.end ?? "truncated",
  };
}
