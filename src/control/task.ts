/**
 * The contract of a task: all that an agent, its loop and its training know of what they manage. START READING HERE.
 * Owns: the types. Not here: the tasks (tasks/, one folder each), what an agent does with them (lifecycle/).
 *
 * A task is pure: equal arguments give equal answers, and what it remembers between two looks is plain data that the agent
 * keeps for it. Simulators, studies and the live loop use the same functions, so training and serving cannot drift apart.
 */
import type { Reach, Setting } from "../act/index.ts";
import type { Ms, Reason, Result, WorkloadId } from "../base/index.ts";
import type { FallbackWish } from "./fallback.ts";

/** What every reading says, whatever else is in it. */
export interface TaskReading {
  readonly workload: WorkloadId;
  /** When the newest measurement in it was taken. */
  readonly at: Ms;
}

/** What a policy is shown; a task adds what it needs to decode, reward and judge. */
export interface Seen {
  readonly values: Float32Array;
  /** What the next look needs of this one. Plain data. */
  readonly memory: unknown;
  /** What policy and critic see beside the observation (an embedding). */
  readonly actorContext?: Float32Array;
  /** What only the critic sees, in training (the state of all others). */
  readonly criticContext?: Float32Array;
}

export interface Task<R extends TaskReading, S extends Setting, O extends Seen = Seen> {
  /** Stable: shared models and saved state are checked against it. */
  readonly name: string;
  /** Between two decisions. */
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  /** Of an observation. */
  readonly observationSize: number;
  /** Of an action, whose numbers are from −1 to 1 unless there are choices. */
  readonly actionSize: number;
  /** An action is the number of one of so many choices, from 0. Absent: it is numbers. */
  readonly choices?: number;
  readonly freshMemory: unknown;

  /** Whatever a telemetry source handed over is unknown until this accepts it. */
  parse(arrived: unknown): Result<R>;
  encode(reading: R, context: EncodeContext): Result<O>;
  /** What an action means, given what was seen. NaN stays NaN, for the guard to refuse. */
  decode(action: ArrayLike<number>, seen: O): S;
  /** The action that a setting is, whoever chose it: what a fallback did and what the guard left can be learned from. */
  encodeSetting(setting: S, seen: O): Float32Array;
  reward(seen: O, step: RewardedStep<S>): number;

  /** Whether it knows enough of this workload for a policy to act on. Absent: always. Until then the fallback acts. */
  isReady?(seen: O): boolean;
  /** Whether the objective has been missed by far for minutes, and its model has a cure to try that the fallback has not. Absent: never. */
  isFailing?(seen: O): boolean;
  /** Why the decoded action is what it is, where the task has a model of its own to say so. */
  reasons?(seen: O): readonly Reason[];
  /** How much of the objective its model expects to be used up under a setting; null where it cannot tell. */
  expectedNearness?(setting: S, seen: O): number | null;
  /** Whether the objective was missed. */
  isMissed(seen: O): boolean;
  /** How much of the objective is used up: 1 is at its limit. */
  nearness(seen: O): number;
  /** Comparable between steps, in any unit. */
  loadOf(seen: O): number;
  /** Whether one setting grants less of anything than another. */
  givesLess(one: S, than: S): boolean;
  /** Of a control step at the time of what was seen, in any unit; for comparisons. */
  costOf(setting: S, seen: O): number;
  /** What a setting lacks of the fallback's. Absent: `givesLess`, felt at once. */
  shortfall?(given: S, fallback: S): Shortfall;
  /** Whether something happened that a latent shortfall brings about. */
  isHarmed?(reading: R): boolean;
  /** Members that have not got the setting, though it is meant for all; undefined where there are none, or nobody can tell. */
  laggards?(want: S, context: LaggardContext<R, S>): readonly string[] | undefined;
  /** Where the fallback has to be shown more than what is there; absent where settings do not change what is measured. */
  readonly alone?: AsIfAlone<R, S>;
  readonly shield?: Shield<R, S, O>;
  /** Work on what it remembers that is too slow for a tick. Absent: none. */
  readonly advisor?: Advisor;
}

/**
 * Work beside the loop on what a task remembers: seconds, and pure. The job is plain data, so that a thread can do it; what comes
 * of it is plain data too and part of the memory from then on, so it is saved with the agent.
 */
export interface Advisor {
  /** What is to be done now; undefined while nothing is due. Asked after every tick. `policy`: what the learner is, as bytes, while it does not act. */
  work(memory: unknown, policy?: () => Uint8Array): AdviceJob | undefined;
  /** Does it, wherever that is. */
  advise(config: unknown): unknown;
  /** The memory with what came of it; as it was where that is of no use. */
  advised(memory: unknown, advice: unknown): unknown;
  /**
   * A policy that came of it and is to act in place of the learner's, after the gates that any has to pass; it is saved as the
   * learner's, and not with the memory. Absent, or undefined: none.
   */
  policyIn?(advice: unknown): Uint8Array | undefined;
}

export interface AdviceJob {
  /** Known to the threads that do it. */
  readonly kind: string;
  readonly config: unknown;
}

export interface EncodeContext {
  readonly memory: unknown;
  readonly now: Ms;
  /** What the guard would leave now, knob by knob, so that every action can be mapped onto what will be done; absent where nobody can tell. */
  readonly reach?: Reach;
}

export interface RewardedStep<S> {
  /** What the step ran with. */
  readonly setting: S;
  /** What the step before ran with. */
  readonly previous: S;
  /** What there would have been if the fallback had been alone; absent where there is no fallback. */
  readonly fallback?: S;
}

/** Tasks of any kind, for those who only hand them on. */
// biome-ignore lint/suspicious/noExplicitAny: a task is contravariant in what it reads, so nothing narrower takes all of them
export type AnyTask = Task<any, any, any>;

export interface Shortfall {
  /** It is felt within the next steps. */
  readonly felt: boolean;
  /** It does nothing until it does harm. */
  readonly latent: boolean;
}

export interface LaggardContext<R, S> {
  readonly reading: R;
  readonly have: S;
  /** By knob: when the guard last let it change. */
  readonly changedAt: Readonly<Record<string, Ms>>;
}

/** The fallback at the side of a learner: what it would see and have by now if it had been alone. */
export interface AsIfAlone<R, S extends Setting> {
  /** The reading as it would be with the fallback's own setting. */
  reading(own: S, reading: R): R;
  /** The fallback's setting one step on. */
  after(before: S, wish: FallbackWish<S>): S;
  /** What is really in force where what was asked for may be newer. */
  found(reading: R, have: S): S;
}

/** What an agent knows from earlier steps. Plain data: it is saved. */
export interface Experience {
  /** Nearness as it usually is under the fallback. */
  readonly usualNearness: number;
  /** Steps that missed the objective beyond the fallback's level. */
  readonly excess: number;
  /** The share of steps that missed it lately, whoever acted. */
  readonly missedLately: number;
  /** Steps since there was last less of something than the step before. */
  readonly sinceShrink: number;
}

export interface Wish<R, S, O> {
  /** The learner's, within the canary's band. */
  readonly action: Float32Array;
  readonly seen: O;
  readonly reading: R;
  readonly have: S;
  /** What there would be if the fallback had been alone. */
  readonly fallback: S;
  readonly experience: Experience;
}

/** What keeps a learner from costing more than the fallback would, step by step. Rules of the task, outside the policy. */
export interface Shield<R, S, O> {
  /** What is left of a wish, and the rules that changed it. */
  shape(wish: Wish<R, S, O>): { readonly setting: S; readonly changed: readonly Reason[] };
  /** Whether it bounds wishes from above, so that a canary only needs to bound them from below. */
  readonly hasCeiling: boolean;
  /** The furthest that exploring may move a number of an action, and which numbers it may not lower near the limit. */
  readonly noise: { readonly limit: number; readonly upwards: readonly boolean[] } | null;
  /** Whether it is too near the objective's limit to try out less. */
  isNear(seen: O, usualNearness: number): boolean;
}
