/**
 * The Learner contract: what a control loop, a trainer and a store may rely on, whatever the algorithm.
 * Owns: the shapes of observations, contexts, actions and transitions, and the checks that keep nonsense out.
 * Not here: any algorithm. There is no base class; each algorithm's file is read by itself.
 */

import type { Failure, Result, Rng } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { End, NumericSpace } from "../env/index.ts";
import type { Noise } from "./noise.ts";

/** Which actions there are. Discrete choices travel as whole numbers in a float vector, one component per choice. */
export type ActionShape =
  | { readonly kind: "discrete"; readonly n: number }
  | { readonly kind: "multi-discrete"; readonly nvec: readonly number[] }
  | { readonly kind: "continuous"; readonly low: readonly number[]; readonly high: readonly number[] };

export interface LearnerShape {
  readonly obs: number;
  readonly action: ActionShape;
  /** Width of the actor context (an embedding), 0 for none. Policy and critic both see it. */
  readonly actorContext: number;
  /** Width of the critic context (a global state), 0 for none. Only critics see it: it need not exist when serving. */
  readonly criticContext: number;
}

export function actionSize(action: ActionShape): number {
  switch (action.kind) {
    case "discrete":
      return 1;
    case "multi-discrete":
      return action.nvec.length;
    case "continuous":
      return action.low.length;
  }
}

/** The action shape of an environment's space. */
export function actionShapeOf(space: NumericSpace): ActionShape {
  switch (space.kind) {
    case "discrete":
      return { kind: "discrete", n: space.options };
    case "multi-discrete":
      return { kind: "multi-discrete", nvec: space.options };
    case "multi-binary":
      return { kind: "multi-discrete", nvec: new Array<number>(space.size).fill(2) };
    case "box":
      return { kind: "continuous", low: [...space.low], high: [...space.high] };
  }
}

export interface ActOptions {
  readonly actorContext?: ArrayLike<number>;
  /** True draws from the policy or adds its noise; false is the policy's own best choice. */
  readonly explore: boolean;
  /** Whose chance to explore with; the learner's own unless given. */
  readonly explorer?: Explorer;
}

/** Chance of one's own, for a copy of a policy that acts beside other copies. */
export interface Explorer {
  readonly rng: Rng;
  /** For policies that explore by noise; to be reset where an episode ends. */
  readonly noise?: Noise;
}

export interface Decision {
  /** In the environment's units. A continuous draw may lie outside the bounds; the guard or the environment clips. */
  readonly action: Float32Array;
  /** Log-probability of the action under the policy that drew it; 0 where the policy has none (deterministic). */
  readonly logProb: number;
}

/** One step as the learner sees it. Arrays are copied, so callers may reuse theirs. */
export interface Transition {
  readonly obs: ArrayLike<number>;
  /** What was executed, after any guard. Off-policy learners learn from it. */
  readonly action: ArrayLike<number>;
  /** What the policy proposed, if it differs. On-policy learners learn from it, with its log-probability. */
  readonly proposed?: ArrayLike<number>;
  readonly logProb?: number;
  readonly reward: number;
  /** What followed: at an end the episode's last observation, never the next episode's first. */
  readonly nextObs: ArrayLike<number>;
  readonly end: End;
  readonly actorContext?: ArrayLike<number>;
  readonly criticContext?: ArrayLike<number>;
  /** Default to the contexts before the step, for contexts that hold over an episode. */
  readonly nextActorContext?: ArrayLike<number>;
  readonly nextCriticContext?: ArrayLike<number>;
  /** Which of several parallel environments or agents this step belongs to, from 0. */
  readonly stream?: number;
}

export interface UpdateStats {
  /** Gradient steps taken by this call. */
  readonly gradientSteps: number;
  readonly criticLoss: number;
  readonly actorLoss: number;
  /** Further figures by name, for curves; every name is a constant of the algorithm. */
  readonly more: { readonly [name: string]: number };
}

/**
 * `any`: whoever acted, and however long ago. `own-rollout`: only what this very policy proposed since it last learned.
 * `nothing`: it never changes.
 */
export type LearnsFrom = "any" | "own-rollout" | "nothing";

export interface Learner {
  readonly kind: string;
  /** Whose steps it may be shown; others would teach it something that is not so. */
  readonly learnsFrom: LearnsFrom;
  readonly shape: LearnerShape;
  /** Steps observed since the beginning, also across checkpoints. */
  readonly steps: number;
  /** A failure (a non-finite observation, a wrong size) means: do not act on this; let the fallback act. */
  act(obs: ArrayLike<number>, options: ActOptions): Result<Decision>;
  /** Takes in one step; nonsense is refused and not learned. */
  observe(transition: Transition): Result<void>;
  /** Learns if there is enough to learn from; undefined when it is not yet time. */
  update(): UpdateStats | undefined;
  /** How far training has come, from 0 to 1: schedules follow it. */
  setProgress(progress: number): void;
  save(options?: SaveOptions): Uint8Array;
  /** All or nothing: after a failure the learner is as it was. */
  load(bytes: Uint8Array): Result<void>;
  /** Gives back the networks' memory. */
  dispose(): void;
}

export interface SaveOptions {
  /** Also what it takes to continue training exactly: replay or rollout. Without it, only what acting and warm starts need. */
  readonly resumable?: boolean;
}

const OK = ok(undefined);

function vectorFailure(name: string, values: ArrayLike<number> | undefined, width: number): Failure | undefined {
  const found = values?.length ?? 0;
  if (found !== width) {
    return failure(
      "rl.shape",
      `the ${name} has ${found} components and should have ${width}; build the learner with the task's shapes`,
    );
  }
  for (let i = 0; i < width; i++) {
    if (!Number.isFinite(values?.[i])) {
      return failure(
        "rl.not-finite",
        `component ${i} of the ${name} is ${values?.[i]}; nothing was decided or learned from it, so check where it comes from`,
      );
    }
  }
  return undefined;
}

function numberFailure(name: string, value: number): Failure | undefined {
  if (Number.isFinite(value)) return undefined;
  return failure("rl.not-finite", `the ${name} is ${value}; the step was not learned, so check where it comes from`);
}

/** What must hold before a policy may look at its inputs. */
export function checkInputs(
  shape: LearnerShape,
  obs: ArrayLike<number>,
  actorContext?: ArrayLike<number>,
): Result<void> {
  const problem =
    vectorFailure("observation", obs, shape.obs) ?? vectorFailure("actor context", actorContext, shape.actorContext);
  return problem ? err(problem) : OK;
}

/** What must hold before a step may be learned from. Allocates nothing when it holds. */
export function checkTransition(shape: LearnerShape, t: Transition): Result<void> {
  const size = actionSize(shape.action);
  const problem =
    vectorFailure("observation", t.obs, shape.obs) ??
    vectorFailure("action", t.action, size) ??
    vectorFailure("proposed action", t.proposed ?? t.action, size) ??
    vectorFailure("next observation", t.nextObs, shape.obs) ??
    vectorFailure("actor context", t.actorContext, shape.actorContext) ??
    vectorFailure("next actor context", t.nextActorContext ?? t.actorContext, shape.actorContext) ??
    vectorFailure("critic context", t.criticContext, shape.criticContext) ??
    vectorFailure("next critic context", t.nextCriticContext ?? t.criticContext, shape.criticContext) ??
    numberFailure("reward", t.reward) ??
    numberFailure("log-probability", t.logProb ?? 0);
  return problem ? err(problem) : OK;
}

/** The policy's own output is broken: the caller must let the fallback act and restore a checkpoint. */
export function policyFailure(): Failure<"rl.policy-not-finite"> {
  return failure(
    "rl.policy-not-finite",
    "the policy's output is not finite, so its parameters are damaged; let the fallback act and load the last good checkpoint",
  );
}

export function divergence(what: string, found: number): Failure<"rl.diverged"> {
  return failure(
    "rl.diverged",
    `the ${what} became ${found} and the update was not applied; lower the learning rate or scale the rewards, and go on from the last good checkpoint`,
  );
}

/** The action within its bounds. Discrete choices have none to pass. */
export function clipAction(shape: ActionShape, action: Float32Array): Float32Array {
  if (shape.kind !== "continuous") return action;
  return action.map((x, i) => Math.min(Math.max(x, shape.low[i]!), shape.high[i]!));
}
