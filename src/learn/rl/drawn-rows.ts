/**
 * The rows of one gradient step, wherever they come from.
 * Owns: rows of a learner's own replay, and rows of several environments that share a learner, each under its context.
 * Not here: which rows (whoever draws them), what is learned from them (the algorithms).
 *
 * A learner's own replay keeps each row's context beside it. Environments that share a learner do not: their contexts
 * are embeddings that change as the encoder learns, 64 numbers that thousands of rows have in common, so a row takes the
 * one that its environment has now.
 */

import { CodedError, failure } from "../../base/index.ts";
import type { LearnerShape } from "./learner.ts";
import type { Replay, ReplayColumn } from "./replay.ts";

/** Where a column goes: row i to `into[at + i·stride …]`. */
export interface RowTarget {
  readonly into: Float32Array;
  readonly at: number;
  readonly stride: number;
}

export interface DrawnRows {
  gather(column: ReplayColumn, to: RowTarget): void;
  reward(i: number): number;
  end(i: number): number;
  /** What somebody who knows the row's environment would do under that observation of so many numbers; undefined where nobody says. */
  guide?(i: number, width: number): GuidedRow | undefined;
}

/** Somebody who knows an environment, and how much a policy is to do as they do. */
export interface Guide {
  /** Of the squared distance to its action, beside −Q over the mean size of Q (as in TD3+BC, arXiv:2106.06860). */
  readonly weight: number;
  /** In the policy's scale, from −1 to 1. */
  actionAt(obs: ArrayLike<number>): ArrayLike<number>;
}

interface GuidedRow {
  readonly weight: number;
  readonly action: ArrayLike<number>;
}

export function ownRows(replay: Replay, rows: Int32Array): DrawnRows {
  return {
    gather: (column, to) => replay.gather(column, rows, to),
    reward: (i) => replay.rewards[rows[i]!]!,
    end: (i) => replay.ends[rows[i]!]!,
  };
}

/** Rows of one environment with the context that they all have. */
export interface EnvironmentRows {
  /** Without contexts of its own. */
  readonly replay: Replay;
  readonly rows: Int32Array;
  readonly context: ArrayLike<number>;
  /**
   * Taken off every reward: the environment's mean where tasks only ever truncate, so that critics learn what differs
   * between actions and not what differs between environments. Default 0.
   */
  readonly rewardShift?: number;
  /** None where nothing is said: then −Q alone is what an actor learns from. */
  readonly guide?: Guide;
}

/** What an environment's rows say about its context. */
export interface ContextGradient {
  readonly criticLoss: number;
  readonly actorLoss: number;
  /** Of the environment's own loss, the mean over its rows. */
  readonly gradient: Float32Array;
}

/** How much of each loss's gradient a context gets. */
export interface ContextWeights {
  /** Of −Q(s, π(s, context)), through the actor's input alone: a critic that judges is not to be flattered. */
  readonly actor: number;
  /** Of the critics' squared errors, through their inputs; needs critics that see the context. */
  readonly critic: number;
}

/** The groups one after the other. */
export function rowsOfEnvironments(groups: readonly EnvironmentRows[]): DrawnRows {
  const owner: { readonly group: EnvironmentRows; readonly row: number }[] = [];
  for (const group of groups) for (const row of group.rows) owner.push({ group, row });
  const guided = groups.some(({ guide }) => guide !== undefined);
  return {
    gather(column, { into, at, stride }) {
      let from = at;
      for (const { replay, rows, context } of groups) {
        if (column === "actorContext" || column === "nextActorContext") {
          for (let i = 0; i < rows.length; i++) into.set(context, from + i * stride);
        } else replay.gather(column, rows, { into, at: from, stride });
        from += rows.length * stride;
      }
    },
    reward(i) {
      const { group, row } = owner[i]!;
      return group.replay.rewards[row]! - (group.rewardShift ?? 0);
    },
    end(i) {
      const { group, row } = owner[i]!;
      return group.replay.ends[row]!;
    },
    ...(guided ? { guide: guideAt } : {}),
  };

  function guideAt(i: number, width: number): GuidedRow | undefined {
    const { group, row } = owner[i]!;
    const { guide, replay } = group;
    if (guide === undefined) return undefined;
    const obs = new Float32Array(width);
    replay.gather("obs", Int32Array.of(row), { into: obs, at: 0, stride: obs.length });
    return { weight: guide.weight, action: guide.actionAt(obs) };
  }
}

/** Critics that know nothing yet say little, and that is not to be made much of. */
const LEAST_Q = 1;

/** Where the parts of an actor's step begin in the learner's memory, and their sizes. */
interface ActorStep {
  readonly q: number;
  readonly chosen: number;
  readonly dAction: number;
  readonly batch: number;
  readonly size: number;
  readonly obs: number;
}

/** Where somebody says what they would do: −Q over its mean size, and the distance to that, in place of −Q alone. */
export function followGuides(
  f32: Float32Array,
  drawn: DrawnRows,
  { q, chosen, dAction, batch, size, obs }: ActorStep,
): void {
  if (drawn.guide === undefined) return;
  let sizes = 0;
  for (let i = 0; i < batch; i++) sizes += Math.abs(f32[q + i]!) / batch;
  const scale = 1 / Math.max(sizes, LEAST_Q);
  for (let i = 0; i < batch; i++) {
    const guide = drawn.guide(i, obs);
    if (guide === undefined) continue;
    for (let k = 0; k < size; k++) {
      const at = i * size + k;
      const off = f32[chosen + at]! - guide.action[k]!;
      f32[dAction + at] = scale * f32[dAction + at]! + (2 * guide.weight * off) / batch;
    }
  }
}

/** Means over each environment's own rows of what a pass over all of them left in per-row blocks. */
export class ContextSums {
  readonly #groups: readonly EnvironmentRows[];
  readonly #losses: readonly { critic: number; actor: number }[];
  readonly #gradients: readonly Float32Array[];

  constructor(groups: readonly EnvironmentRows[], width: number) {
    this.#groups = groups;
    this.#losses = groups.map(() => ({ critic: 0, actor: 0 }));
    this.#gradients = groups.map(() => new Float32Array(width));
  }

  addLoss(of: "critic" | "actor", lossOf: (row: number) => number): void {
    this.#eachRow((row, group, count) => {
      this.#losses[group]![of] += lossOf(row) / count;
    });
  }

  /** `weight` is what turns a row's gradient into that of its own loss, before the mean. */
  addGradient({ from, at, stride, weight }: { from: Float32Array; at: number; stride: number; weight: number }): void {
    this.#eachRow((row, group, count) => {
      const into = this.#gradients[group]!;
      const factor = weight / count;
      for (let k = 0; k < into.length; k++) into[k]! += factor * from[at + row * stride + k]!;
    });
  }

  outcome(): readonly ContextGradient[] {
    return this.#gradients.map((gradient, i) => {
      const { critic, actor } = this.#losses[i]!;
      return { criticLoss: critic, actorLoss: actor, gradient };
    });
  }

  #eachRow(visit: (row: number, group: number, count: number) => void): void {
    let row = 0;
    for (const [group, { rows }] of this.#groups.entries()) {
      for (let i = 0; i < rows.length; i++) visit(row++, group, rows.length);
    }
  }
}

/** Calls that the caller could have known to be wrong: a bug, not an event. */
export function assertGroups(
  groups: readonly EnvironmentRows[],
  { rows, shape }: { readonly rows: number; readonly shape: LearnerShape },
): void {
  const found = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const narrow = groups.find(({ context }) => context.length !== shape.actorContext);
  const empty = groups.find((group) => group.rows.length === 0 || group.rows.some((row) => !(row < group.replay.size)));
  if (found === rows && !narrow && !empty && shape.criticContext === 0) return;
  const what =
    found !== rows
      ? `${found} rows were given and a gradient step takes ${rows}`
      : narrow
        ? `a context has ${narrow.context.length} numbers and the learner was built for ${shape.actorContext}`
        : empty
          ? "an environment has no rows, or rows beyond its replay"
          : "the learner wants a critic context, which rows of several environments do not have";
  throw new CodedError(
    failure("rl.shared-rows", `${what}; draw the learner's batch from environments that have steps`),
  );
}
