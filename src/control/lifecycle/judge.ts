/**
 * The questions that Algorithm 1 and the gates ask, each answered with what was found and what was asked.
 * Owns: resolving thresholds, and one judgement per question. Not here: what follows from the answers (lifecycle.ts).
 */
import type { RewardThreshold } from "../index.ts";
import type { CanaryGate, Gates, LifecycleProfile, OffPolicyGate, RollbackGate, WorthGate } from "./profile.ts";
import type { AgentState, EpisodeScore, Judgement, StateOf } from "./state.ts";
import { deviationOf, fallbackLevel, meanOf } from "./state.ts";

/** The level in reward per episode; null while what it is relative to has not been measured. */
export function thresholdLevel(
  threshold: RewardThreshold,
  { profile, state }: { readonly profile: LifecycleProfile; readonly state: AgentState },
): number | null {
  switch (threshold.kind) {
    case "absolute":
      return threshold.value;
    case "fallback": {
      const level = fallbackLevel(state);
      return level !== null && level.episodes >= profile.window
        ? threshold.times * level.reward + threshold.plus
        : null;
    }
    case "converged":
      return (state.stage === "ONLINE" || state.stage === "SERVING") && state.best !== null
        ? state.best - threshold.below
        : null;
  }
}

function deviationLevel({ deviation }: LifecycleProfile, state: AgentState): number {
  if (deviation.kind === "absolute") return deviation.value;
  return Math.max(deviation.atLeast, deviation.times * (fallbackLevel(state)?.deviation ?? 0));
}

type Comparison = Pick<Judgement, "gate" | "found" | "asked" | "about">;

/** What is not known does not hold. */
const atLeast = (comparison: Comparison): Judgement => {
  const { found, asked } = comparison;
  return { ...comparison, holds: found !== null && asked !== null && found >= asked };
};
const atMost = (comparison: Comparison): Judgement => {
  const { found, asked } = comparison;
  return { ...comparison, holds: found !== null && asked !== null && found <= asked };
};

/** Mean and deviation of the window, null until it is full: a few lucky episodes are no level. */
export function windowOf(
  recent: readonly EpisodeScore[],
  window: number,
): { readonly mean: number; readonly deviation: number } | null {
  if (recent.length < window) return null;
  const rewards = recent.slice(-window).map(({ reward }) => reward);
  return { mean: meanOf(rewards), deviation: deviationOf(rewards) };
}

/** OFFLINE → ONLINE: Algorithm 1, line 11, and the gates beyond it. All have to hold. */
export function judgeOnline(profile: LifecycleProfile, state: StateOf<"OFFLINE">): readonly Judgement[] {
  const { gates, window } = profile;
  const asked = thresholdLevel(profile.online, { profile, state });
  const judgements: Judgement[] = [];
  if (gates.byModel) {
    // Its proposals are the model's, which the shadow below has watched.
  } else if (gates.offPolicy) {
    judgements.push(...judgeEstimate(gates.offPolicy, { profile, state, asked }));
  } else {
    const found = windowOf(state.recent, window)?.mean ?? null;
    judgements.push(atLeast({ gate: "reward", found, asked, about: `mean of the last ${window} recorded rewards` }));
  }
  if (gates.canary || comparesWithFallback(gates)) {
    const found = fallbackLevel(state)?.episodes ?? 0;
    const about = "episodes in which the fallback's level was measured";
    judgements.push(atLeast({ gate: "fallback-level", found, asked: window, about }));
  }
  if (gates.rollback) {
    judgements.push(atMost({ gate: "wait", found: state.wait, asked: 0, about: "episodes to wait after a rollback" }));
  }
  if (gates.worth) {
    // What goes wrong fast does not have to be proved: a few steps in the first minutes are enough to take over.
    const fallback = { episodes: state.recent, steps: 0 };
    judgements.push(judgeWorth(gates.worth, { recent: state.recent, fallback, dearer: 0 }));
  }
  return [...judgements, ...judgeShadow(profile, state)];
}

interface Compared {
  /** Episodes whose costs are compared. */
  readonly recent: readonly EpisodeScore[];
  /** Those in which the fallback acted, and the steps of them that it takes to say that it does not keep the budget. */
  readonly fallback: { readonly episodes: readonly EpisodeScore[]; readonly steps: number };
  readonly dearer: number;
}

/** Fewer steps say little about a share of one in a hundred. */
export const FEWEST_STEPS = 400;

/** Whether these episodes missed no more steps than the budget has. */
export function keepsBudget({ budget }: WorthGate, episodes: readonly EpisodeScore[]): boolean {
  let [missed, steps] = [0, 0];
  for (const one of episodes) {
    missed += one.violations;
    steps += one.steps;
  }
  return missed <= budget * steps;
}

/** Whether the learner is worth its cost: it is no dearer than the fallback, or the fallback does not keep the budget. */
export function judgeWorth({ budget }: WorthGate, { recent, fallback, dearer }: Compared): Judgement {
  const sum = (list: readonly EpisodeScore[], figure: (one: EpisodeScore) => number) =>
    list.reduce((total, one) => total + figure(one), 0);
  const steps = sum(fallback.episodes, (one) => one.steps);
  const missed = sum(fallback.episodes, ({ violations }) => violations) / Math.max(FEWEST_STEPS, steps);
  const usual = sum(recent, ({ fallbackCost }) => fallbackCost);
  const asked = 1 + dearer;
  const found = usual > 0 ? sum(recent, ({ cost }) => cost) / usual : null;
  const isMissing = steps >= fallback.steps && missed > budget;
  const about = "cost as a multiple of what the fallback's alone would be, where that keeps the error budget";
  return { gate: "worth", holds: isMissing || (found !== null && found <= asked), found, asked, about };
}

/** What the candidate would earn has to reach the threshold, and its lower bound to come near it. */
function judgeEstimate(
  { maxAgeEpisodes, margin }: OffPolicyGate,
  { profile, state, asked }: { profile: LifecycleProfile; state: StateOf<"OFFLINE">; asked: number | null },
): readonly Judgement[] {
  const { estimate } = state;
  const level = fallbackLevel(state);
  if (estimate === null || level === null || estimate.age > maxAgeEpisodes) {
    const about = "no estimate of the candidate's reward that is new enough";
    return [atLeast({ gate: "reward", found: null, asked, about })];
  }
  const { score } = estimate;
  // Where the fallback's level is the measure, so is the difference to it: both are from the same episodes.
  const isRelative = profile.online.kind === "fallback";
  const found = isRelative ? level.reward + score.gainMean : score.mean;
  const lower = isRelative ? level.reward + score.gainLower : score.lower;
  const about = `the candidate's estimated reward (${score.method}, ${score.episodes} episodes)`;
  return [
    atLeast({ gate: "reward", found, asked, about }),
    atLeast({
      gate: "reward",
      found: lower,
      asked: asked === null ? null : (1 - margin) * asked,
      about: `lower bound of ${about}, against the threshold less the margin`,
    }),
  ];
}

function judgeShadow({ gates: { shadow } }: LifecycleProfile, state: StateOf<"OFFLINE">): readonly Judgement[] {
  if (!shadow) return [];
  const runs = state.shadow.slice(-shadow.episodes);
  const sum = (figure: (run: (typeof runs)[number]) => number) => runs.reduce((total, run) => total + figure(run), 0);
  const steps = sum((run) => run.steps);
  const rateOf = (count: number) => (steps > 0 ? count / steps : null);
  const gate = "shadow";
  return [
    atLeast({ gate, found: runs.length, asked: shadow.episodes, about: "episodes in shadow" }),
    atMost({
      gate,
      found: rateOf(sum((r) => r.failures)),
      asked: shadow.maxFailureRate,
      about: "share without proposal",
    }),
    atMost({
      gate,
      found: rateOf(sum((r) => r.trips)),
      asked: shadow.maxTripRate,
      about: "share the guard would correct",
    }),
    atMost({
      gate,
      found: rateOf(sum((r) => r.risky)),
      asked: shadow.maxRiskyRate,
      about: "share that would shrink while the SLO is missed",
    }),
  ];
}

/** Mean and deviation against their thresholds: ONLINE → SERVING when both hold (line 15), back when one does not (line 19). */
export function judgeServing(profile: LifecycleProfile, state: StateOf<"ONLINE" | "SERVING">): readonly Judgement[] {
  const found = windowOf(state.recent, profile.window);
  const about = `of the last ${profile.window} episode rewards`;
  const asked = thresholdLevel(profile.serving, { profile, state });
  return [
    atLeast({ gate: "reward", found: found?.mean ?? null, asked, about: `mean ${about}` }),
    atMost({
      gate: "deviation",
      found: found?.deviation ?? null,
      asked: deviationLevel(profile, state),
      about: `deviation ${about}`,
    }),
  ];
}

/** An episode is clean that had no more violations than the fallback would have had, and earned about as much. */
export function judgeCanary(canary: CanaryGate, state: AgentState, score: EpisodeScore): readonly Judgement[] {
  const violations = atMost({
    gate: "canary",
    found: score.violations,
    asked: score.usual + canary.allowance,
    about: "steps of violation, against the fallback's at the same loads and the allowance",
  });
  const level = fallbackLevel(state);
  if (level === null) return [violations];
  const lacking = Math.max(canary.slack * level.reward, 2 * level.deviation);
  const about = "reward, against the fallback's level less the slack";
  return [violations, atLeast({ gate: "canary", found: score.reward, asked: level.reward - lacking, about })];
}

/** The excess at this moment: that of the ended episodes, and of the running one so far. */
export function excessNow(state: AgentState, running: number): number {
  return state.stage === "ONLINE" || state.stage === "SERVING" ? state.excess + running : 0;
}

/** Violations beyond the fallback's, summed; what was saved earlier counts only up to the credit. */
export function nextExcess(
  state: StateOf<"ONLINE" | "SERVING">,
  { score, credit }: { readonly score: EpisodeScore; readonly credit: number },
): number {
  return Math.max(-credit, state.excess + score.violations - score.usual);
}

/** What must go on holding while the learner acts; one that does not ends its turn. */
export function judgeConduct(
  rollback: RollbackGate,
  state: StateOf<"ONLINE" | "SERVING">,
  score: EpisodeScore,
): readonly Judgement[] {
  const excess = atMost({
    gate: "excess",
    found: state.excess,
    // The same every time: what it costs is bounded by the waits, which double. A smaller one ends turns by chance.
    asked: rollback.excess,
    about: "steps of violation beyond the fallback's level, since the learner took over",
  });
  return [
    ...(rollback.excess === null ? [] : [excess]),
    atMost({
      gate: "faults",
      found: score.faultShare,
      asked: rollback.maxFaultShare,
      about: "share of the episode in which the fallback stood in for a faulty learner",
    }),
  ];
}

/** Whether the learner's turn ends by what the fallback would have missed. */
const comparesWithFallback = ({ rollback }: Gates): boolean => rollback !== null && rollback.excess !== null;

/** Whether anything in this life is judged by what the fallback does. */
export const needsLevel = ({
  serving,
  deviation,
  gates,
}: Pick<LifecycleProfile, "serving" | "deviation" | "gates">): boolean =>
  serving.kind === "fallback" || deviation.kind === "fallback" || gates.canary !== null || comparesWithFallback(gates);

export const allHold = (judgements: readonly Judgement[]): boolean => judgements.every(({ holds }) => holds);
