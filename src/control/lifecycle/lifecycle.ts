/**
 * The lifecycle manager: AWARE's Algorithm 1, and the gates around it. START READING HERE.
 * Owns: which stage follows from which evidence, and the events that say so.
 * Not here: what is asked at each gate (judge.ts), who acts in this very step (health.ts), doing it (agent.ts).
 *
 *   INITIALIZED ─ bootstrap ─► OFFLINE ─ avg(R) ≥ T_online ─► ONLINE ─ avg ≥ T_serving and std ≤ T_var ─► SERVING
 *        └─────── no ──────────────────────────────────────►         ◄─ avg < T_serving or std > T_var ──────┘
 *
 * An agent that has a shared policy to begin with (AWARE, section 3.2) begins ONLINE too, unless stakes are high.
 * With `noGates` this is the paper's algorithm and nothing else. With gates, OFFLINE → ONLINE asks for more, ONLINE →
 * SERVING waits for the canary, and a learner that makes things worse goes back to OFFLINE, where the fallback acts.
 * The paper does not say which rewards are recent: here they are the last `window` episodes of the same training, so
 * that the fallback's rewards never speak for the learner; SERVING begins with the window that earned it.
 */
import type { Ms } from "../../base/index.ts";
import { assertNever } from "../../base/index.ts";
import type { Band } from "./band.ts";
import {
  allHold,
  FEWEST_STEPS,
  judgeCanary,
  judgeConduct,
  judgeOnline,
  judgeServing,
  judgeWorth,
  keepsBudget,
  needsLevel,
  nextExcess,
  thresholdLevel,
  windowOf,
} from "./judge.ts";
import type { LifecycleProfile } from "./profile.ts";
import type {
  AgentState,
  Canary,
  EpisodeScore,
  Evidence,
  Judgement,
  LifecycleEvent,
  OfflineCause,
  OnlineCause,
  StageMove,
  StateOf,
} from "./state.ts";
import { withNewest } from "./state.ts";

export interface LifecycleStep {
  readonly state: AgentState;
  readonly events: readonly LifecycleEvent[];
}

/** The range of action coordinates is 2 wide: a band of that width forbids nothing. */
export const WHOLE_BAND = 2;
/** Of an episode's steps: below it, the episode says little about the learner. */
const MOSTLY = 0.5;
/** Moves that a state remembers: months of a life that goes as it should, and no burden on every save. */
const HISTORY_KEPT = 100;
/** More than a window, because violations are rarer than rewards. */
const fallbackMemory = (profile: LifecycleProfile) => Math.max(20, profile.window);

export function lifecycleStep(profile: LifecycleProfile, state: AgentState, evidence: Evidence): LifecycleStep {
  const begun = state.stage === "INITIALIZED" ? begin(profile, state, evidence) : { state, events: [] };
  const step = judge(profile, begun.state, evidence);
  const events = [...begun.events, ...step.events];
  const alarm = outOfReach(profile, { before: state, after: step.state, at: evidence.at });
  return { state: step.state, events: alarm ? [...events, alarm] : events };
}

function judge(profile: LifecycleProfile, state: AgentState, evidence: Evidence): LifecycleStep {
  switch (evidence.kind) {
    case "start":
      return { state, events: [] };
    case "learner-lost":
      return loseLearner(profile, state, evidence);
    case "candidate":
      return takeCandidate(profile, state, evidence);
    case "estimate":
      // An estimate of a policy that already acts is of no use: its own rewards are known.
      if (state.stage !== "OFFLINE") return { state, events: [] };
      return tryOnline(profile, { ...state, estimate: { score: evidence.score, age: 0 } }, evidence.at);
    case "episode":
      return judgeEpisode(profile, { ...state, episodes: state.episodes + 1 }, evidence);
    case "fallback-fails":
      return rescue(profile, state, evidence.at);
    case "operator":
      return followOperator(profile, state, evidence);
    default:
      return assertNever(evidence);
  }
}

/**
 * Lines 4 to 9. Whoever has a shared policy to begin with need not learn from the fallback first, unless stakes are high.
 * Whoever was to have one and has none begins as everybody does: nobody lets a policy act that knows nothing, which is
 * what a profile without bootstrapping would mean then.
 */
function begin(profile: LifecycleProfile, state: AgentState, start: Evidence): LifecycleStep {
  const { at } = start;
  const shared = start.kind === "start" ? start.shared : undefined;
  const policy = (holds: boolean, about: string): Judgement[] => [
    { gate: "policy", holds, found: null, asked: null, about },
  ];
  const online = (because: OnlineCause, evidence: readonly Judgement[]) =>
    moved(state, enterOnline(profile, state, because), { at, because, evidence });
  const offline = (evidence: readonly Judgement[]) =>
    moved(state, enterOffline(profile, state, "bootstrap"), { at, because: "bootstrap", evidence });
  if (shared === "unusable") return offline(policy(false, "the shared policy to begin with cannot be used"));
  if (shared === "ready" && profile.stakes === "normal")
    return online("shared-policy", policy(true, "there is a shared policy to begin with, and stakes are not high"));
  const evidence = policy(profile.bootstrap, "the profile asks for bootstrapping");
  return profile.bootstrap ? offline(evidence) : online("no-bootstrap", evidence);
}

/** One episode of so many, until the fallback's level is known. */
const MEASURE_EVERY = 3;

/**
 * Whether the fallback acts in this episode although the learner may: one that began with a shared policy never saw the
 * fallback act, and thresholds, canary and rollback are relative to what that earns and misses on this very workload.
 */
export function isMeasuring(profile: LifecycleProfile, state: AgentState): boolean {
  if (state.stage !== "ONLINE" || state.because !== "shared-policy" || !needsLevel(profile)) return false;
  return state.fallback.length < profile.window && state.episodes % MEASURE_EVERY === MEASURE_EVERY - 1;
}

function judgeEpisode(
  profile: LifecycleProfile,
  state: AgentState,
  evidence: Extract<Evidence, { kind: "episode" }>,
): LifecycleStep {
  switch (state.stage) {
    case "INITIALIZED":
      return { state, events: [] };
    case "OFFLINE":
      return tryOnline(profile, recordOffline(profile, state, evidence), evidence.at);
    case "ONLINE":
    case "SERVING":
      return judgeLearner(profile, state, evidence);
    default:
      return assertNever(state);
  }
}

function recordOffline(
  profile: LifecycleProfile,
  state: StateOf<"OFFLINE">,
  { score, shadow }: Extract<Evidence, { kind: "episode" }>,
): StateOf<"OFFLINE"> {
  return {
    ...state,
    recent: withNewest(state.recent, score, profile.window),
    fallback: score.learnerShare === 0 ? withNewest(state.fallback, score, fallbackMemory(profile)) : state.fallback,
    wait: Math.max(0, state.wait - 1),
    shadow: shadow === null ? state.shadow : withNewest(state.shadow, shadow, profile.gates.shadow?.episodes ?? 1),
    estimate: state.estimate && { ...state.estimate, age: state.estimate.age + 1 },
  };
}

/** Lines 10 to 13. */
function tryOnline(profile: LifecycleProfile, state: StateOf<"OFFLINE">, at: Ms): LifecycleStep {
  const evidence = judgeOnline(profile, state);
  if (!allHold(evidence)) return { state, events: [] };
  const because = profile.gates.byModel ? "model-ready" : "earned";
  return moved(state, enterOnline(profile, state, because), { at, because, evidence });
}

/**
 * A fallback that misses the objective for minutes has no claim to go on, however little is known of the learner: it acts at once,
 * where its proposals are a model's. Not where it was rolled back for its own faults, or by a person.
 */
function rescue(profile: LifecycleProfile, state: AgentState, at: Ms): LifecycleStep {
  const { gates, mode } = profile;
  const mayBe = gates.byModel && gates.canary === null && mode === "act" && state.stage === "OFFLINE";
  if (!mayBe || (state.because !== "bootstrap" && state.because !== "not-worth")) return { state, events: [] };
  const about = "the fallback misses the objective by far, and more than it gives has not been tried";
  const evidence: Judgement[] = [{ gate: "worth", holds: true, found: null, asked: null, about }];
  return moved(state, enterOnline(profile, state, "fallback-fails"), { at, because: "fallback-fails", evidence });
}

function judgeLearner(
  profile: LifecycleProfile,
  before: StateOf<"ONLINE" | "SERVING">,
  { score, at }: Extract<Evidence, { kind: "episode" }>,
): LifecycleStep {
  const { rollback } = profile.gates;
  // The one that has just ended is counted already.
  const wasMeasured = isMeasuring(profile, { ...before, episodes: before.episodes - 1 }) && score.learnerShare === 0;
  const state = wasMeasured
    ? { ...before, fallback: withNewest(before.fallback, score, fallbackMemory(profile)) }
    : recordLearner(profile, before, score);
  const conduct = rollback ? judgeConduct(rollback, state, score) : [];
  if (!allHold(conduct)) {
    const next = enterOffline(profile, { ...state, rollbacks: state.rollbacks + 1 }, "rollback");
    return moved(state, next, { at, because: "rollback", evidence: conduct });
  }
  const { worth } = profile.gates;
  // A whole window: what a burst costs says little about a day. And where the SLO is missed with more than the fallback would give,
  // as after a release, the days in which it did with less are over.
  if (worth && state.recent.length >= profile.window && keepsBudget(worth, state.recent)) {
    // Before the fallback loses its claim it is given time to show that it keeps the budget: a start is no measure of it.
    const fallback = { episodes: state.fallback, steps: FEWEST_STEPS };
    const evidence = [judgeWorth(worth, { recent: state.recent, fallback, dearer: worth.dearer })];
    if (!allHold(evidence))
      return moved(state, enterOffline(profile, state, "not-worth"), { at, because: "not-worth", evidence });
  }
  if (state.stage === "SERVING") return trySettling(profile, state, at);
  const canary = moveCanary(profile, state, { score, at });
  const step = tryServing(profile, canary.state, at);
  return { state: step.state, events: [...canary.events, ...step.events] };
}

function recordLearner<S extends StateOf<"ONLINE" | "SERVING">>(
  { window, gates: { rollback } }: LifecycleProfile,
  state: S,
  score: EpisodeScore,
): S {
  // An episode that the fallback had to take over says nothing about the policy.
  if (score.learnerShare < MOSTLY) return state;
  const recent = withNewest(state.recent, score, window);
  const mean = windowOf(recent, window)?.mean ?? null;
  const best = mean === null ? state.best : Math.max(mean, state.best ?? mean);
  return { ...state, recent, best, excess: nextExcess(state, { score, credit: rollback?.credit ?? 0 }) };
}

function moveCanary(
  profile: LifecycleProfile,
  state: StateOf<"ONLINE">,
  { score, at }: { readonly score: EpisodeScore; readonly at: Ms },
): { readonly state: StateOf<"ONLINE">; readonly events: readonly LifecycleEvent[] } {
  const gate = profile.gates.canary;
  if (!gate || state.canary.kind === "passed" || score.learnerShare < MOSTLY) return { state, events: [] };
  // Nothing was risked, so nothing was shown.
  if (isUnmeasured(profile, state)) return { state, events: [] };
  const evidence = judgeCanary(gate, state, score);
  const isClean = allHold(evidence);
  const from = state.canary.band;
  const band = from * (isClean ? gate.widen : gate.narrow);
  const goal = profile.mode === "canary" ? gate.start : WHOLE_BAND;
  const isPassed = isClean && band >= goal;
  // However often it narrows, there is always something left to learn from.
  const kept = Math.max(band, gate.start / 4);
  const canary: Canary = isPassed ? { kind: "passed" } : { kind: "trial", band: Math.min(kept, goal) };
  return {
    state: { ...state, canary },
    events: [{ kind: "canary", at, from, to: canary.kind === "passed" ? null : canary.band, evidence }],
  };
}

/** Lines 14 to 17. */
function tryServing(profile: LifecycleProfile, state: StateOf<"ONLINE">, at: Ms): LifecycleStep {
  const canary: Judgement = {
    gate: "canary",
    holds: state.canary.kind === "passed",
    found: state.canary.kind === "trial" ? state.canary.band : null,
    asked: null,
    about: "the canary is over",
  };
  const evidence = [...judgeServing(profile, state), ...(profile.gates.canary ? [canary] : [])];
  if (!allHold(evidence)) return { state, events: [] };
  return moved(state, enterServing(state), { at, because: "converged", evidence });
}

function enterServing(state: StateOf<"ONLINE">): StateOf<"SERVING"> {
  const { episodes, fallback, rollbacks, history, recent, best, excess } = state;
  return { stage: "SERVING", episodes, fallback, rollbacks, history, recent, best, excess };
}

/**
 * A person's word stands in for the gates of one transition; everything that watches the learner afterwards stays. A
 * rollback by hand is no verdict on the learner, so nothing has to be waited for. Whether the wish makes sense is asked
 * before (operator.ts).
 */
function followOperator(
  profile: LifecycleProfile,
  state: AgentState,
  { at, wish, detail }: Extract<Evidence, { kind: "operator" }>,
): LifecycleStep {
  const evidence: Judgement[] = [{ gate: "operator", holds: true, found: null, asked: null, about: detail }];
  const told = { at, because: "operator", evidence };
  if (wish === "roll-back") {
    if (state.stage !== "ONLINE" && state.stage !== "SERVING") return { state, events: [] };
    return moved(state, enterOffline(profile, state, "operator"), told);
  }
  if (state.stage === "OFFLINE") return moved(state, enterOnline(profile, state, "operator"), told);
  if (state.stage === "ONLINE") return moved(state, enterServing(state), told);
  return { state, events: [] };
}

/** Lines 18 to 21; for high stakes the retraining happens OFFLINE, while the fallback acts (section 3.3). */
function trySettling(profile: LifecycleProfile, state: StateOf<"SERVING">, at: Ms): LifecycleStep {
  // Fewer than a window only where a person promoted it: there is nothing to judge by yet.
  if (state.recent.length < profile.window) return { state, events: [] };
  const evidence = judgeServing(profile, state);
  if (allHold(evidence)) return { state, events: [] };
  const next =
    profile.stakes === "high" ? enterOffline(profile, state, "retraining") : enterOnline(profile, state, "retraining");
  return moved(state, next, { at, because: "retraining", evidence });
}

function loseLearner(
  profile: LifecycleProfile,
  state: AgentState,
  { at, detail }: Extract<Evidence, { kind: "learner-lost" }>,
): LifecycleStep {
  if (state.stage === "INITIALIZED") return { state, events: [] };
  const evidence: Judgement[] = [{ gate: "policy", holds: false, found: null, asked: null, about: detail }];
  const next = enterOffline(profile, state, "learner-lost");
  // Already OFFLINE: nobody has to step back, but what was known of the lost policy is void.
  if (state.stage === "OFFLINE") return { state: { ...state, shadow: [], estimate: null }, events: [] };
  return moved(state, next, { at, because: "learner-lost", evidence });
}

/** It begins in shadow, as any does. The rules are as they were, so what is known of them stays. */
function takeCandidate(
  profile: LifecycleProfile,
  state: AgentState,
  { at, detail }: Extract<Evidence, { kind: "candidate" }>,
): LifecycleStep {
  if (state.stage === "INITIALIZED") return { state, events: [] };
  if (state.stage === "OFFLINE") return { state: { ...state, shadow: [], estimate: null }, events: [] };
  const evidence: Judgement[] = [{ gate: "policy", holds: false, found: null, asked: null, about: detail }];
  return moved(state, enterOffline(profile, state, "candidate"), { at, because: "candidate", evidence });
}

function enterOffline(profile: LifecycleProfile, state: AgentState, because: OfflineCause): StateOf<"OFFLINE"> {
  const { episodes, rollbacks, history } = state;
  const { rollback } = profile.gates;
  const wait = rollback && because === "rollback" ? rollback.wait * 2 ** (rollbacks - 1) : 0;
  const unknown = { recent: [], shadow: [], estimate: null };
  // The level is measured anew: if the workload had not changed, the learner would not be here again. Who is only too dear
  // is here for no such reason, and what is known of the fallback stays.
  const fallback = because === "not-worth" || because === "candidate" ? state.fallback : [];
  return { stage: "OFFLINE", because, episodes, rollbacks, history, wait, fallback, ...unknown };
}

function enterOnline(profile: LifecycleProfile, state: AgentState, because: OnlineCause): StateOf<"ONLINE"> {
  const { episodes, fallback, rollbacks, history } = state;
  const gate = profile.gates.canary;
  const canary: Canary = gate ? { kind: "trial", band: gate.start } : { kind: "passed" };
  // What was saved or spent before goes on counting: the promise is over the whole life.
  const excess = state.stage === "SERVING" ? state.excess : 0;
  return { stage: "ONLINE", because, episodes, fallback, rollbacks, history, recent: [], best: null, canary, excess };
}

function moved(
  from: AgentState,
  to: AgentState,
  { at, because, evidence }: { readonly at: Ms; readonly because: string; readonly evidence: readonly Judgement[] },
): LifecycleStep {
  const move: StageMove = { at, from: from.stage, to: to.stage, because, evidence };
  const state = { ...to, history: withNewest(from.history, move, HISTORY_KEPT) };
  return { state, events: [{ kind: "transition", ...move }] };
}

/** A threshold that follows the fallback's level may rise above what an episode can earn: then somebody has to know. */
function outOfReach(
  profile: LifecycleProfile,
  { before, after, at }: { readonly before: AgentState; readonly after: AgentState; readonly at: Ms },
): LifecycleEvent | undefined {
  const beyond = (state: AgentState): readonly Judgement[] =>
    (["online", "serving"] as const).flatMap((name) => {
      const found = thresholdLevel(profile[name], { profile, state });
      if (found === null || found <= profile.maxReward) return [];
      const about = `the ${name} threshold, against the most that an episode can earn`;
      return [{ gate: "reward", holds: false, found, asked: profile.maxReward, about }];
    });
  const evidence = beyond(after);
  return evidence.length > beyond(before).length ? { kind: "threshold-out-of-reach", at, evidence } : undefined;
}

/** How far from the fallback the learner may go now, in action coordinates. */
export function canaryBand(profile: LifecycleProfile, state: AgentState): number {
  const gate = profile.gates.canary;
  if (!gate) return WHOLE_BAND;
  if (state.stage === "ONLINE" && state.canary.kind === "trial") return state.canary.band;
  return profile.mode === "canary" ? gate.start : WHOLE_BAND;
}

/**
 * A shared policy acts before anybody saw the fallback act on this workload, so nobody knows yet how much memory is used at
 * most or how near the SLO usually is. Until then it takes nothing away that the fallback would give.
 */
const isUnmeasured = ({ gates }: LifecycleProfile, state: AgentState): boolean =>
  gates.canary !== null && state.stage === "ONLINE" && state.because === "shared-policy" && state.fallback.length === 0;

/**
 * The same, each way. A canary takes little away; what it may give more is the ceiling's business: where the fallback
 * misses the SLO, a narrow band above it would only prolong that. Who asked for canary mode asked for near, both ways.
 */
export function bandOf(
  profile: LifecycleProfile,
  state: AgentState,
  { hasCeiling }: { readonly hasCeiling: boolean },
): Band {
  const below = isUnmeasured(profile, state) ? 0 : canaryBand(profile, state);
  return { below, above: hasCeiling && profile.mode !== "canary" ? WHOLE_BAND : below };
}
