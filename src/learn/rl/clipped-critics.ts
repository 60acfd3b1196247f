/**
 * Two critics and their slow copies, as BCQ needs them: many candidate actions judged per row, and one soft minimum of
 * the two estimates (arXiv:1812.02900; clipped double Q-learning, arXiv:1802.09477).
 * Owns: the networks, one step of both towards given targets, the gradient of Q with respect to the action.
 * Not here: what the inputs are made of and what the targets are (bcq.ts).
 */

import type { Rng } from "../../base/index.ts";
import { CodedError } from "../../base/index.ts";
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
import { divergence } from "./learner.ts";
import { reluMlp } from "./networks.ts";
import type { StatePart } from "./saved-state.ts";
import { networkPart, optimiserPart } from "./saved-state.ts";

export interface CriticsOptions {
  /** Width of the input: everything a critic sees, the action last. */
  readonly inputs: number;
  readonly actions: number;
  readonly hidden: readonly number[];
  /** Rows per training step. */
  readonly batch: number;
  /** Actions to choose from per row: when acting the first critic judges so many rows, in training the slow copies `batch` times as many. */
  readonly candidates: number;
  readonly lr: number;
  /** Longest gradient; 0 for no limit. */
  readonly maxGradNorm: number;
  readonly rng: Rng;
}

/** λ·min + (1 − λ)·max of two estimates: λ = 1 is the clipped minimum, less forgives the pessimist a part. */
export function softMinimum(first: number, second: number, pessimism: number): number {
  return pessimism * Math.min(first, second) + (1 - pessimism) * Math.max(first, second);
}

export class ClippedCritics {
  readonly inputs: number;
  readonly #kernels: Kernels;
  readonly #options: CriticsOptions;
  readonly #critics: readonly [Network, Network];
  readonly #targets: readonly [Network, Network];
  readonly #optimisers: readonly [Optimiser, Optimiser];
  /** [2, batch]: the gradient of each critic's Q. */
  readonly #dq: Ptr;
  readonly #dAction: Ptr;

  constructor(kernels: Kernels, options: CriticsOptions) {
    const { inputs, actions, hidden, batch, candidates, lr, rng } = options;
    this.#kernels = kernels;
    this.#options = options;
    this.inputs = inputs;
    const layers = reluMlp({ inputs, hidden, outputs: 1 }, "none");
    const rows = Math.max(batch, candidates);
    const learning = (i: number) => buildNetwork(kernels, { layers, batch: rows, rng: rng.fork(`critic ${i}`) });
    const slow = () => buildNetwork(kernels, { layers, batch: batch * candidates, rng, trainable: false });
    this.#critics = [learning(0), learning(1)];
    this.#targets = [slow(), slow()];
    this.moveTargets(1);
    const optimised = ({ params, paramCount }: Network) => adam(kernels, { params, count: paramCount, lr });
    this.#optimisers = [optimised(this.#critics[0]), optimised(this.#critics[1])];
    this.#dq = kernels.memory.alloc(2 * batch);
    this.#dAction = kernels.memory.alloc(batch * actions);
  }

  /** [batch or candidates, inputs], for the caller to fill before `step`, `judge` or `climb`. */
  get input(): Ptr {
    return this.#critics[0].input;
  }

  /** [batch · candidates, inputs], for the caller to fill before `judgeSlowly`. */
  get slowInput(): Ptr {
    return this.#targets[0].input;
  }

  /** The first critic's estimates of `input`: where they begin, as an index of floats. */
  judge(rows: number): number {
    return this.#critics[0].forward(rows) >> 2;
  }

  /** Both slow copies' estimates of `slowInput`: where each begins, as an index of floats. */
  judgeSlowly(rows: number): readonly [number, number] {
    const [first, second] = this.#targets;
    return [first.forward(rows) >> 2, second.forward(rows, first.input) >> 2];
  }

  /** One step of both critics from the rows in `input` towards `target` [batch]; the sum of both mean squared errors before it. */
  step(target: Ptr): number {
    const { batch, maxGradNorm } = this.#options;
    let total = 0;
    for (let c = 0; c < 2; c++) {
      const prediction = this.#critics[c]!.forward(batch, this.input);
      const gradient = offset(this.#dq, c * batch);
      total += mseLoss(this.#kernels.memory, { prediction, target, gradient, rows: batch, cols: 1 });
    }
    // Before any critic moves: a divergence of one must leave both as they were.
    if (!Number.isFinite(total)) throw new CodedError(divergence("critics' loss", total));
    for (let c = 0; c < 2; c++) {
      const critic = this.#critics[c]!;
      critic.zeroGrads();
      critic.backward(batch, offset(this.#dq, c * batch), PARAMS_ONLY);
      if (maxGradNorm > 0)
        clipGradNorm(this.#kernels, { grads: critic.grads, count: critic.paramCount, max: maxGradNorm });
      this.#optimisers[c]!.step(critic.grads);
    }
    return total;
  }

  /** The mean of −Q₁ over `input`, and its gradient with respect to each row's action [batch, actions]. */
  climb(): { readonly loss: number; readonly dAction: Ptr } {
    const { batch, inputs, actions } = this.#options;
    const critic = this.#critics[0];
    const q = critic.forward(batch) >> 2;
    const f32 = this.#kernels.memory.f32;
    let sum = 0;
    for (let i = 0; i < batch; i++) sum += f32[q + i]!;
    const loss = -sum / batch;
    if (!Number.isFinite(loss)) throw new CodedError(divergence("actor's loss", loss));
    f32.fill(-1 / batch, this.#dq >> 2, (this.#dq >> 2) + batch);
    const dInput = critic.backward(batch, this.#dq, INPUT_ONLY) >> 2;
    const dAction = this.#dAction >> 2;
    for (let i = 0; i < batch; i++) {
      const from = dInput + (i + 1) * inputs - actions;
      for (let k = 0; k < actions; k++) f32[dAction + i * actions + k] = f32[from + k]!;
    }
    return { loss, dAction: this.#dAction };
  }

  moveTargets(tau: number): void {
    for (let c = 0; c < 2; c++) {
      const { params, paramCount } = this.#critics[c]!;
      softUpdate(this.#kernels, { target: this.#targets[c]!.params, source: params, count: paramCount, tau });
    }
  }

  parts(): StatePart[] {
    return [
      ...this.#critics.map((network, i) => networkPart(`critic ${i}`, network)),
      ...this.#targets.map((network, i) => networkPart(`slow critic ${i}`, network)),
      ...this.#optimisers.map((optimiser, i) => optimiserPart(`critic optimiser ${i}`, optimiser)),
    ];
  }

  dispose(): void {
    for (const network of [...this.#critics, ...this.#targets]) network.dispose();
    for (const optimiser of this.#optimisers) optimiser.dispose();
    for (const block of [this.#dq, this.#dAction]) this.#kernels.memory.free(block);
  }
}
