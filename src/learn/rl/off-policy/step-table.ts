/**
 * Recorded episodes as flat columns, with the policy's own actions beside the recorded ones: what off-policy estimates
 * compute on.
 * Owns: the checks of what was recorded, and the scales. States have mean 0 and deviation 1; actions lie in [−1, 1].
 * Not here: features (fourier-features.ts), estimates (fitted-q.ts, doubly-robust.ts).
 */

import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import type { ActionScale } from "../action-scale.ts";
import { actionScale } from "../action-scale.ts";
import type { LearnerShape, Transition } from "../learner.ts";
import { checkTransition, policyFailure } from "../learner.ts";

/** What the policy would do: a function of what it sees, in the units of the recorded actions. */
export type PolicyFunction = (
  obs: ArrayLike<number>,
  actorContext: ArrayLike<number> | undefined,
) => Result<ArrayLike<number>>;

export interface StepTable {
  readonly rows: number;
  /** Widths of what the policy sees (observation and actor context) and of an action. */
  readonly seen: number;
  readonly actions: number;
  /** First row of each episode, and the number of rows at the end: episode e is rows starts[e] … starts[e + 1]. */
  readonly starts: Int32Array;
  readonly rewards: Float64Array;
  /** 0 where the task ended with the step, 1 where it went on, recorded or not. */
  readonly goesOn: Uint8Array;
  /** [rows, seen]: before the step, and after it. */
  readonly before: Float64Array;
  readonly after: Float64Array;
  /** [rows, actions]: what was done; what the policy would do before the step, and after it. */
  readonly done: Float64Array;
  readonly wouldDo: Float64Array;
  readonly wouldDoNext: Float64Array;
}

export interface StepTableOptions {
  readonly episodes: readonly (readonly Transition[])[];
  readonly policy: PolicyFunction;
  readonly shape: LearnerShape;
}

export function stepTable({ episodes, policy, shape }: StepTableOptions): Result<StepTable> {
  if (episodes.length === 0 || episodes.some((episode) => episode.length === 0)) {
    return err(
      failure(
        "rl.no-steps",
        `the off-policy estimate was given ${episodes.length} episodes, or one without steps; give it at least one, and leave out the empty ones`,
      ),
    );
  }
  const scale = actionScale(shape.action, "an off-policy estimate");
  const steps = episodes.flat();
  const rows = steps.length;
  const actions = scale.size;
  const seen = shape.obs + shape.actorContext;
  const table = {
    rows,
    seen,
    actions,
    starts: new Int32Array(episodes.length + 1),
    rewards: new Float64Array(rows),
    goesOn: new Uint8Array(rows),
    before: new Float64Array(rows * seen),
    after: new Float64Array(rows * seen),
    done: new Float64Array(rows * actions),
    wouldDo: new Float64Array(rows * actions),
    wouldDoNext: new Float64Array(rows * actions),
  };
  for (let row = 0; row < rows; row++) {
    const step = steps[row] as Transition;
    const checked = checkTransition(shape, step);
    if (!checked.ok) return checked;
    const nextContext = step.nextActorContext ?? step.actorContext;
    const now = policy(step.obs, step.actorContext);
    if (!now.ok) return now;
    putAction(table.wouldDo, row, { action: now.value, scale });
    const next = policy(step.nextObs, nextContext);
    if (!next.ok) return next;
    putAction(table.wouldDoNext, row, { action: next.value, scale });
    putAction(table.done, row, { action: step.action, scale });
    putState(table.before, row, [step.obs, step.actorContext]);
    putState(table.after, row, [step.nextObs, nextContext]);
    table.rewards[row] = step.reward;
    table.goesOn[row] = step.end === "terminated" ? 0 : 1;
  }
  if (![...table.wouldDo, ...table.wouldDoNext].every(Number.isFinite)) return err(policyFailure());
  episodes.forEach((episode, e) => {
    table.starts[e + 1] = (table.starts[e] ?? 0) + episode.length;
  });
  standardise(table);
  return ok(table);
}

function putState(column: Float64Array, row: number, parts: readonly (ArrayLike<number> | undefined)[]): void {
  const [obs, context] = parts as [ArrayLike<number>, ArrayLike<number> | undefined];
  const width = obs.length + (context?.length ?? 0);
  for (let i = 0; i < obs.length; i++) column[row * width + i] = obs[i]!;
  for (let i = obs.length; i < width; i++) column[row * width + i] = context![i - obs.length]!;
}

function putAction(
  column: Float64Array,
  row: number,
  { action, scale }: { readonly action: ArrayLike<number>; readonly scale: ActionScale },
): void {
  const unit = new Float32Array(scale.size);
  scale.toUnit(action, unit);
  column.set(unit, row * scale.size);
}

/** Standard scores beyond this are cut: what lies far outside of what was recorded is not extrapolated along a line. */
const MOST = 5;

/** Both state columns by the scale of `before`, in place. A component that never changes becomes 0 throughout. */
function standardise({ before, after, seen, rows }: StepTable): void {
  for (let k = 0; k < seen; k++) {
    let mean = 0;
    for (let i = k; i < before.length; i += seen) mean += before[i]! / rows;
    let variance = 0;
    for (let i = k; i < before.length; i += seen) variance += (before[i]! - mean) ** 2 / rows;
    const scale = variance > 1e-12 ? 1 / Math.sqrt(variance) : 0;
    for (const column of [before, after]) {
      for (let i = k; i < column.length; i += seen) {
        column[i] = Math.min(Math.max((column[i]! - mean) * scale, -MOST), MOST);
      }
    }
  }
}
