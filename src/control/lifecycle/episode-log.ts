/**
 * Episodes as an agent keeps them: the running one's accounts, and the steps of the newest ones.
 * Owns: the counts, what becomes of them at the end, and which episodes are kept for estimates.
 * Not here: what follows from a score (lifecycle.ts).
 */
import type { Transition } from "../../learn/rl/index.ts";
import type { ShadowStep } from "./decision.ts";
import type { EpisodeScore, ShadowScore } from "./state.ts";

/** Plain data: it is saved with the agent. */
export interface EpisodeCounts {
  /** Steps begun, whether or not anything came of them. */
  steps: number;
  /** Steps whose reward is known. */
  known: number;
  reward: number;
  violations: number;
  usual: number;
  learner: number;
  faults: number;
  cost: number;
  fallbackCost: number;
  shadow: { steps: number; failures: number; trips: number; risky: number; distance: number };
}

const freshCounts = (): EpisodeCounts => ({
  steps: 0,
  known: 0,
  reward: 0,
  violations: 0,
  usual: 0,
  learner: 0,
  faults: 0,
  cost: 0,
  fallbackCost: 0,
  shadow: { steps: 0, failures: 0, trips: 0, risky: 0, distance: 0 },
});

export interface EpisodeLogOptions {
  /** Steps of an episode. */
  readonly length: number;
  /** Share of the rewards that have to be known for an episode to count. */
  readonly minKnown: number;
  /** Episodes of the fallback that are kept whole. */
  readonly keep: number;
}

export interface EpisodeLogState {
  readonly episode: number;
  readonly counts: EpisodeCounts;
  readonly kept: readonly (readonly Transition[])[];
}

export interface EndedEpisode {
  /** undefined when too little of it was seen. */
  readonly score: EpisodeScore | undefined;
  readonly shadow: ShadowScore | null;
  readonly steps: number;
  readonly known: number;
}

export class EpisodeLog {
  readonly #options: EpisodeLogOptions;
  #episode = 0;
  #counts = freshCounts();
  #current: Transition[] = [];
  #kept: readonly (readonly Transition[])[] = [];

  constructor(options: EpisodeLogOptions) {
    this.#options = options;
  }

  /** Every step of the running episode has been begun. */
  get isFull(): boolean {
    return this.#counts.steps >= this.#options.length;
  }

  /** Violations of the running episode beyond what the fallback would have had. */
  get excess(): number {
    return this.#counts.violations - this.#counts.usual;
  }

  /** Newest episodes in which the fallback acted. */
  get kept(): readonly (readonly Transition[])[] {
    return this.#kept;
  }

  begin(by: "learner" | "fault" | "other"): { readonly episode: number; readonly step: number } {
    const step = this.#counts.steps;
    this.#counts.steps += 1;
    if (by === "learner") this.#counts.learner += 1;
    if (by === "fault") this.#counts.faults += 1;
    return { episode: this.#episode, step };
  }

  /** `usual`: how often the fallback misses the SLO in such a step. */
  complete(
    transition: Transition,
    { isViolation, usual }: { readonly isViolation: boolean; readonly usual: number },
  ): void {
    this.#current.push(transition);
    this.#counts.known += 1;
    this.#counts.reward += transition.reward;
    this.#counts.usual += usual;
    if (isViolation) this.#counts.violations += 1;
  }

  /** What a step costs by the learner, as it was done or would be, and what it would cost by the fallback alone. */
  bill(cost: number, fallbackCost: number): void {
    this.#counts.cost += cost;
    this.#counts.fallbackCost += fallbackCost;
  }

  /** undefined: the learner had no wish to be looked at. */
  shadow(step: ShadowStep | undefined): void {
    const { shadow } = this.#counts;
    shadow.steps += 1;
    if (step === undefined) {
      shadow.failures += 1;
      return;
    }
    if (step.isTrip) shadow.trips += 1;
    if (step.isRisky) shadow.risky += 1;
    shadow.distance += step.distance;
  }

  end(): EndedEpisode {
    const counts = this.#counts;
    const score = scoreOf(counts, { episode: this.#episode, minKnown: this.#options.minKnown });
    // After a restart an episode goes on with its accounts, but without the steps before: of its last step none is left.
    if (score?.learnerShare === 0 && this.#current.length > 0)
      this.#kept = [...this.#kept, this.#current].slice(-this.#options.keep);
    this.#episode += 1;
    this.#counts = freshCounts();
    this.#current = [];
    return { score, shadow: shadowOf(counts), steps: counts.steps, known: counts.known };
  }

  /** The steps of the running episode are not in it: they are learned from already, and its accounts go on. */
  state(): EpisodeLogState {
    return { episode: this.#episode, counts: structuredClone(this.#counts), kept: this.#kept };
  }

  restore({ episode, counts, kept }: EpisodeLogState): void {
    this.#episode = episode;
    this.#counts = structuredClone(counts);
    this.#kept = kept.filter(({ length }) => length > 0);
    this.#current = [];
  }
}

/** Rewards that could not be known are taken for the mean of the others. */
function scoreOf(
  { steps, known, reward, violations, usual, learner, faults, cost, fallbackCost }: EpisodeCounts,
  { episode, minKnown }: { readonly episode: number; readonly minKnown: number },
): EpisodeScore | undefined {
  if (known === 0 || known < minKnown * steps) return undefined;
  const whole = steps / known;
  return {
    episode,
    reward: reward * whole,
    violations: violations * whole,
    usual: usual * whole,
    learnerShare: learner / steps,
    faultShare: faults / steps,
    steps,
    cost,
    fallbackCost,
  };
}

function shadowOf({ shadow }: EpisodeCounts): ShadowScore | null {
  const { steps, failures, distance } = shadow;
  if (steps === 0) return null;
  const compared = steps - failures;
  return { ...shadow, distance: compared > 0 ? distance / compared : 0 };
}
