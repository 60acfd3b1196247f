/**
 * The environment contract: Gymnasium's semantics in TypeScript.
 * Owns: what an environment is in its three forms: one world in this thread (`Env`), one world far away
 * (`AsyncEnv`), and many copies stepped together (`VectorEnv`).
 * Not here: how an environment is written most easily (core.ts), checked (check-env.ts) or named (registry.ts).
 */

import type { NumericSpace, Space } from "./space.ts";

/**
 * How a step left the episode. A time limit ends the recording, not the task: after "truncated" the last
 * observation still has a future worth estimating, after "terminated" it has none.
 */
export type End = "no" | "terminated" | "truncated";

export interface Step<Obs> {
  /** After an end: the episode's last observation, never the next one's first. */
  readonly obs: Obs;
  readonly reward: number;
  readonly end: End;
}

export interface Reset<Obs> {
  readonly obs: Obs;
  /** Facts for people and logs; a learner must not need them. */
  readonly info: Readonly<Record<string, unknown>>;
}

export interface ResetRequest {
  /** Starts the environment's random stream anew. Without it the stream goes on, so episodes differ. */
  readonly seed?: number;
  /** Environment-specific; an unknown key is a failure, never ignored. */
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface EnvSpec {
  /** Versioned, as in `CartPole-v1`: a change that can move a result gets a new version. */
  readonly id: string;
  /** Steps after which an episode is truncated; absent when nothing cuts it. */
  readonly maxSteps?: number;
  /** The mean return at which the task counts as solved, where its authors gave one. */
  readonly rewardThreshold?: number;
}

/**
 * One world in this thread. Synchronous on purpose: a promise per step costs more than the step.
 * Every observation handed out is the caller's to keep.
 */
export interface Env<Obs, Action> {
  readonly spec: EnvSpec;
  readonly observationSpace: Space<Obs>;
  readonly actionSpace: Space<Action>;
  reset(request?: ResetRequest): Reset<Obs>;
  /** Fails with `env.needs-reset` before the first reset and after an end. */
  step(action: Action): Step<Obs>;
  close(): void;
}

/** How long a caller is willing to wait. */
export interface Waiting {
  readonly signal?: AbortSignal;
}

/**
 * The same world when a step takes real time: behind RPC, or a live system that must settle before it can be read.
 * Each wait can be given up through its signal; what the world then did is unknown, so the next call must be a reset.
 *
 * ```ts
 * // A live service: the action is applied, the world settles, then it is observed.
 * const world: AsyncEnv<Float32Array, Float32Array> = {
 *   spec: { id: "CartService-v1" },
 *   observationSpace: box({ low: 0, high: 1, size: 3 }),
 *   actionSpace: box({ low: -1, high: 1, size: 1 }),
 *   async reset(_request, { signal } = {}) { return { obs: await observe(signal), info: {} }; },
 *   async step(action, { signal } = {}) {
 *     await actuate(action, signal);
 *     await clock.sleep(seconds(15), signal);
 *     const obs = await observe(signal);
 *     return { obs, reward: reward(obs), end: "no" };
 *   },
 *   async close() { await release(); },
 * };
 * ```
 *
 * Across processes, spaces travel through `spaceToJson` and values as the plain numbers of `Space.write`.
 */
export interface AsyncEnv<Obs, Action> {
  readonly spec: EnvSpec;
  readonly observationSpace: Space<Obs>;
  readonly actionSpace: Space<Action>;
  reset(request?: ResetRequest, waiting?: Waiting): Promise<Reset<Obs>>;
  step(action: Action, waiting?: Waiting): Promise<Step<Obs>>;
  close(): Promise<void>;
}

/**
 * What a vector environment does with a copy whose episode has ended.
 * - `next-step`: the ending step shows the last observation; the following step ignores the action and shows the new
 *   episode's first observation with reward 0 and no end. Learners must leave that transition out.
 * - `same-step`: the ending step already shows the new episode's first observation; the last one is in `finalObs`.
 * - `disabled`: the copy waits for `reset({ only })`; stepping it before is the failure `env.needs-reset`.
 */
export type Autoreset = "next-step" | "same-step" | "disabled";

/** The codes in `VectorEnv.ends`. */
export const END_CODE = { no: 0, terminated: 1, truncated: 2 } as const satisfies Record<End, number>;

export interface VectorReset extends ResetRequest {
  /** One byte per copy: resets only those with 1. Not together with a seed. */
  readonly only?: Uint8Array;
}

/**
 * Many copies of one environment, stepped together. The arrays below are the environment's own and are overwritten
 * by every step: read them in place, or copy what must last. On a functional core no step allocates.
 */
export interface VectorEnv {
  readonly spec: EnvSpec;
  readonly count: number;
  readonly observationSpace: Space<Float32Array>;
  readonly actionSpace: NumericSpace;
  readonly autoreset: Autoreset;
  /** [count × observation size]. */
  readonly obs: Float32Array;
  /** [count × observation size]; a copy's part is written in the step that ends its episode, in every mode. */
  readonly finalObs: Float32Array;
  readonly rewards: Float64Array;
  /** Per copy 0 (no), 1 (terminated) or 2 (truncated). */
  readonly ends: Uint8Array;
  /** Fills `obs`. Copy i draws from its own stream, derived from the seed and i. */
  reset(request?: VectorReset): void;
  /** Takes [count × action size] numbers; a discrete action is its index. */
  step(actions: Float32Array | Float64Array | Int32Array | Uint8Array): void;
  close(): void;
}
