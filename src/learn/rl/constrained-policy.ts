/**
 * The policy of BCQ (arXiv:1812.02900) with a weight on its constraint: a generative model proposes actions like those
 * seen in a state, and the actor ξ shifts a proposal within its reach. With the weight c in [0, 1]:
 *   base b = c·(decoded sample), action = clip(b + Φ(c)·ξ(s, b)), Φ(c) = φ + (1 − φ)·(1 − c).
 * c = 1 is BCQ's policy; c = 0 is a deterministic actor on the input (s, 0) that asks no generative model.
 * Owns: the actor, its slow copy and the generative model; from what is seen to actions, and the gradient's way back.
 * Not here: which of several actions is best, and what is learned from what (bcq.ts).
 */

import type { Rng } from "../../base/index.ts";
import { restoreRng, seededRng } from "../../base/index.ts";
import type { Kernels, Network, Optimiser, Ptr } from "../tensor/index.ts";
import { adam, buildNetwork, clipGradNorm, copyColumns, PARAMS_ONLY, softUpdate } from "../tensor/index.ts";
import { reluMlp } from "./networks.ts";
import type { StatePart } from "./saved-state.ts";
import { networkPart, optimiserPart } from "./saved-state.ts";
import { ActionVae, clippedLatent } from "./vae.ts";

export interface ConstrainedPolicyOptions {
  /** Width of what the policy sees. */
  readonly seen: number;
  readonly actions: number;
  readonly hidden: readonly number[];
  /** Rows per training step. */
  readonly batch: number;
  /** Proposals per state. */
  readonly candidates: number;
  readonly actorLr: number;
  readonly vaeLr: number;
  readonly klWeight: number;
  /** Latents are drawn from a standard normal within plus and minus this. */
  readonly latentClip: number;
  /** φ: the actor's reach under the full constraint. */
  readonly perturbation: number;
  /** Longest gradient of the actor; 0 for no limit. */
  readonly maxGradNorm: number;
  readonly rng: Rng;
}

/** Φ(c): the reach of the actor, from φ under the full constraint to the whole range without it. */
export function reachOf(constraint: number, perturbation: number): number {
  return perturbation + (1 - perturbation) * (1 - constraint);
}

/** One component of the action: the base, shifted, within the policy's range. */
export function shiftedAction(base: number, shift: number, reach: number): number {
  return Math.min(Math.max(base + reach * shift, -1), 1);
}

/** How long the actor is refitted when c changes: until it is off by a hundredth of the range in the mean, or so many steps. */
const REFIT = { lr: 3e-3, most: 400, tolerance: 0.02 } as const;

export interface Refit {
  /** Puts a batch of states into the learning actor's input. */
  fill(): void;
  readonly rng: Rng;
}

/** Which of the two actors: the one that learns, or its slow copy for targets. */
export type Pace = "learning" | "slow";

export class ConstrainedPolicy {
  #constraint = 1;
  /** An actor's input is [what is seen | base]. */
  readonly inputs: number;
  readonly vae: ActionVae;
  readonly #kernels: Kernels;
  readonly #options: ConstrainedPolicyOptions;
  readonly #latent: number;
  readonly #actors: { readonly [pace in Pace]: Network };
  readonly #optimiser: Optimiser;
  /** The latents of a policy that does not explore, so that it is a function of what it sees. */
  readonly #fixedLatents: Float32Array;
  /** [batch · candidates, actions]: apart from the actor's output, which must stay as it is for the backward pass. */
  readonly #actions: Ptr;
  readonly #dShift: Ptr;

  constructor(kernels: Kernels, options: ConstrainedPolicyOptions) {
    const { seen, actions, hidden, batch, candidates, actorLr, vaeLr, klWeight, latentClip, rng } = options;
    this.#kernels = kernels;
    this.#options = options;
    this.inputs = seen + actions;
    const latent = 2 * actions;
    this.#latent = latent;
    this.#fixedLatents = fixedLatents({ rows: candidates, width: latent, clip: latentClip });
    const layers = reluMlp({ inputs: this.inputs, hidden, outputs: actions }, "tanh");
    const learning = buildNetwork(kernels, { layers, batch: Math.max(batch, candidates), rng: rng.fork("actor") });
    const slow = buildNetwork(kernels, { layers, batch: batch * candidates, rng, trainable: false });
    this.#actors = { learning, slow };
    this.moveTarget(1);
    this.#optimiser = adam(kernels, { params: learning.params, count: learning.paramCount, lr: actorLr });
    const samples = batch * candidates;
    const sizes = { state: seen, actions, latent, hidden, batch, samples };
    this.vae = new ActionVae(kernels, { ...sizes, lr: vaeLr, klWeight, rng: rng.fork("vae") });
    this.#actions = kernels.memory.alloc(batch * candidates * actions);
    this.#dShift = kernels.memory.alloc(batch * actions);
  }

  /** c. */
  get constraint(): number {
    return this.#constraint;
  }

  /** Sets c and leaves the actor as it is: its actions change with c. */
  setConstraint(constraint: number): void {
    this.#constraint = constraint;
  }

  /**
   * Changes c and refits the actor until it does, within the tolerance, what it did before. Under another c the same
   * action needs another shift: without the refit a policy that sat at the end of a small reach jumps to the end of the
   * larger one, and the first thing that freedom brings is a fall. `fill` puts states into the learning actor's input.
   */
  changeConstraint(constraint: number, { fill, rng }: Refit): void {
    const { batch, seen, actions, hidden } = this.#options;
    const { memory } = this.#kernels;
    const { learning } = this.#actors;
    const was = this.#constraint;
    const layers = reluMlp({ inputs: this.inputs, hidden, outputs: actions }, "tanh");
    const before = buildNetwork(this.#kernels, { layers, batch, rng, trainable: false });
    const { params: source, paramCount: count } = learning;
    softUpdate(this.#kernels, { target: before.params, source, count, tau: 1 });
    // An optimiser of its own: the actor's moments belong to another loss.
    const optimiser = adam(this.#kernels, { params: source, count, lr: REFIT.lr });
    const wanted = new Float32Array(batch * actions);
    const gradient = memory.alloc(batch * actions);
    for (let i = 0; i < REFIT.most; i++) {
      fill();
      const columns = { rows: batch, cols: seen };
      copyColumns(memory, {
        from: { ptr: learning.input, width: this.inputs },
        into: { ptr: before.input, width: this.inputs },
        ...columns,
      });
      // Both policies are asked about the same samples; without the constraint no sample is drawn.
      const same = restoreRng(rng.state());
      this.#constraint = was;
      this.#propose(before, batch, same);
      const old = this.#shift(before, batch);
      wanted.set(memory.f32.subarray(old, old + wanted.length));
      this.#constraint = constraint;
      this.#propose(learning, batch, rng);
      const now = this.#shift(learning, batch);
      let squares = 0;
      for (let k = 0; k < wanted.length; k++) {
        const error = memory.f32[now + k]! - wanted[k]!;
        squares += (error * error) / wanted.length;
        memory.f32[(gradient >> 2) + k] = (2 * error) / wanted.length;
      }
      if (squares < REFIT.tolerance ** 2) break;
      this.#descend(gradient, optimiser);
    }
    this.moveTarget(1);
    before.dispose();
    optimiser.dispose();
    memory.free(gradient);
  }

  /** The input of an actor, for the caller to fill with what is seen; the base is put beside it by `choose`. */
  input(pace: Pace): Ptr {
    return this.#actors[pace].input;
  }

  /**
   * One action per row of the input, of a proposal drawn from `latents`, or of the fixed ones without. Returns where
   * the actions [rows, actions] begin, as an index of floats; they stay until the next call.
   */
  choose(pace: Pace, rows: number, latents: Rng | undefined): number {
    const actor = this.#actors[pace];
    this.#propose(actor, rows, latents);
    return this.#shift(actor, rows);
  }

  #propose(actor: Network, rows: number, latents: Rng | undefined): void {
    const { seen, actions, latentClip } = this.#options;
    const f32 = this.#kernels.memory.f32;
    const into = (actor.input >> 2) + seen;
    const c = this.#constraint;
    if (c === 0) {
      for (let i = 0; i < rows; i++) f32.fill(0, into + i * actor.inputs, into + i * actor.inputs + actions);
      return;
    }
    const latent = this.#latent;
    const sample = this.vae.sampleInput >> 2;
    for (let i = 0; i < rows; i++) {
      const from = (actor.input >> 2) + i * actor.inputs;
      const to = sample + i * (seen + latent);
      for (let k = 0; k < seen; k++) f32[to + k] = f32[from + k]!;
      for (let k = 0; k < latent; k++) {
        f32[to + seen + k] = latents
          ? clippedLatent(latents.normal(), latentClip)
          : this.#fixedLatents[i * latent + k]!;
      }
    }
    const decoded = this.vae.decode(rows) >> 2;
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < actions; k++) f32[into + i * actor.inputs + k] = c * f32[decoded + i * actions + k]!;
    }
  }

  #shift(actor: Network, rows: number): number {
    const { seen, actions, perturbation } = this.#options;
    const shift = actor.forward(rows) >> 2;
    const f32 = this.#kernels.memory.f32;
    const reach = reachOf(this.#constraint, perturbation);
    const into = this.#actions >> 2;
    for (let i = 0; i < rows; i++) {
      const base = (actor.input >> 2) + i * actor.inputs + seen;
      for (let k = 0; k < actions; k++)
        f32[into + i * actions + k] = shiftedAction(f32[base + k]!, f32[shift + i * actions + k]!, reach);
    }
    return into;
  }

  /** Copies what was seen and the actions just chosen into critics' inputs: first columns and last; between them nothing changes. */
  copyJudged(pace: Pace, rows: number, critics: { readonly input: Ptr; readonly inputs: number }): void {
    const { seen, actions } = this.#options;
    const actor = this.#actors[pace];
    const f32 = this.#kernels.memory.f32;
    for (let i = 0; i < rows; i++) {
      const from = (actor.input >> 2) + i * actor.inputs;
      const to = (critics.input >> 2) + i * critics.inputs;
      for (let k = 0; k < seen; k++) f32[to + k] = f32[from + k]!;
      const last = to + critics.inputs - actions;
      for (let k = 0; k < actions; k++) f32[last + k] = f32[(this.#actions >> 2) + i * actions + k]!;
    }
  }

  /** One step of the learning actor down the gradient of the actions just chosen [batch, actions]. */
  step(dAction: Ptr): void {
    this.#descend(dAction, this.#optimiser);
  }

  #descend(dAction: Ptr, optimiser: Optimiser): void {
    const { batch, actions, perturbation, maxGradNorm } = this.#options;
    const f32 = this.#kernels.memory.f32;
    const reach = reachOf(this.#constraint, perturbation);
    for (let i = 0; i < batch * actions; i++) {
      // Where the range cuts the action off, a further shift changes nothing.
      const isCut = Math.abs(f32[(this.#actions >> 2) + i]!) >= 1;
      f32[(this.#dShift >> 2) + i] = isCut ? 0 : reach * f32[(dAction >> 2) + i]!;
    }
    const actor = this.#actors.learning;
    actor.zeroGrads();
    actor.backward(batch, this.#dShift, PARAMS_ONLY);
    if (maxGradNorm > 0) clipGradNorm(this.#kernels, { grads: actor.grads, count: actor.paramCount, max: maxGradNorm });
    optimiser.step(actor.grads);
  }

  moveTarget(tau: number): void {
    const { params, paramCount } = this.#actors.learning;
    softUpdate(this.#kernels, { target: this.#actors.slow.params, source: params, count: paramCount, tau });
  }

  parts(): StatePart[] {
    return [
      networkPart("actor", this.#actors.learning),
      networkPart("slow actor", this.#actors.slow),
      optimiserPart("actor optimiser", this.#optimiser),
      ...this.vae.parts(),
    ];
  }

  dispose(): void {
    for (const part of [this.#actors.learning, this.#actors.slow, this.#optimiser, this.vae]) part.dispose();
    for (const block of [this.#actions, this.#dShift]) this.#kernels.memory.free(block);
  }
}

/** Zeros, which decode to the most usual action, and then draws that are the same for every learner. */
function fixedLatents({ rows, width, clip }: { rows: number; width: number; clip: number }): Float32Array {
  const rng = seededRng(0).fork("fixed latents");
  return Float32Array.from({ length: rows * width }, (_, i) => (i < width ? 0 : clippedLatent(rng.normal(), clip)));
}
