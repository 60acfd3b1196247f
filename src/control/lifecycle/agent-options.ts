/**
 * What an agent is made of.
 * Owns: the parts it is given, its settings and their defaults. Not here: what it does with them (agent.ts).
 */
import type { GuardLimits, Setting } from "../../act/index.ts";
import type { Ms, Result, WorkloadId } from "../../base/index.ts";
import { milliseconds } from "../../base/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Learner, NoiseConfig, Transition } from "../../learn/rl/index.ts";
import type { Fallback, Seen, Task, TaskReading } from "../index.ts";
import type { LifecycleProfile } from "./profile.ts";
import type { OffPolicyScore } from "./state.ts";

/** What the policy would earn in an episode, from episodes that others acted in. Slow: never called in a tick. */
export type Estimator = (
  learner: Pick<Learner, "act" | "shape">,
  episodes: readonly (readonly Transition[])[],
) => Result<OffPolicyScore>;

export interface AgentSettings {
  /** Exploration while ONLINE: the process, for how many steps a push is held, how it fades over one training. */
  readonly noise: NoiseConfig;
  readonly holdNoise: number;
  readonly fade: { readonly episodes: number; readonly to: number };
  /** ONLINE episodes over which the generative constraint is let go. */
  readonly annealEpisodes: number;
  /** OFFLINE episodes between two estimates. */
  readonly estimateEvery: number;
  /** Newest episodes kept for estimates and for refilling the replay of a learner made anew. */
  readonly keepEpisodes: number;
  /** Share of an episode's rewards that have to be known for it to count. */
  readonly minKnown: number;
  /** Corrections that count as a trip. Steps and cool-downs do not: slowing a policy down is the guard's daily work. */
  readonly tripRules: readonly string[];
  /** Proposals over which the trip rate is taken. */
  readonly tripWindow: number;
  readonly slowAfter: Ms;
  readonly retryAfter: number;
}

export const agentDefaults: AgentSettings = Object.freeze<AgentSettings>({
  // Table 2 of the paper: normal noise of 0.2. Its decay of 10⁻⁶ a step is none within a life.
  noise: { kind: "gaussian", sigma: 0.2 },
  // Five minutes: longer than start-up, the metrics' delay and the SLO's window together.
  holdNoise: 20,
  fade: { episodes: 100, to: 0.25 },
  annealEpisodes: 50,
  estimateEvery: 5,
  keepEpisodes: 20,
  minKnown: 0.8,
  tripRules: ["bounds", "budget", "capacity"],
  tripWindow: 40,
  slowAfter: milliseconds(100),
  retryAfter: 20,
});

export interface AgentOptions<R extends TaskReading, S extends Setting, O extends Seen, F> {
  readonly workload: WorkloadId;
  /** Task and profile are read at every use: an owner who hands over an object with getters can change SLO and mode. */
  readonly task: Task<R, S, O>;
  readonly profile: LifecycleProfile;
  readonly limits: GuardLimits;
  readonly fallback: Fallback<F, R, S>;
  /** Attempt 0 is the first; a later one is asked for when a policy was lost, and should have another seed. */
  createLearner(attempt: number): Learner;
  /**
   * The model that its first policy is from, where its owner named one; `createLearner` makes learners of it. A failure
   * says why it cannot be used: the agent tells so, and begins as if none had been named.
   */
  readonly shared?: Result<SharedModel>;
  /** Without one the gate of estimates never opens. */
  readonly estimator?: Estimator;
  readonly settings?: Partial<AgentSettings>;
  /** Of exploration; the learner has its own. */
  readonly seed: number;
  /** A clock that never goes back, to notice a slow learner. Without it nothing is timed. */
  readonly stopwatch?: () => Ms;
  /** Whether a person has stopped it: then the fallback acts and nothing is learned or counted. */
  readonly isPaused?: () => boolean;
}
