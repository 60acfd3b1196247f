import { expect, test } from "vitest";
import { milliseconds, unwrap } from "../../base/index.ts";
import { whilePaused } from "./health.ts";
import { lifecycleStep } from "./lifecycle.ts";
import type { OperatorContext } from "./operator.ts";
import { operatorProblem } from "./operator.ts";
import { defaultGates, parseLifecycleProfile } from "./profile.ts";
import { loadLifecycle, saveLifecycle } from "./saved.ts";
import type { AgentState, EpisodeScore, Evidence } from "./state.ts";
import { freshAgentState } from "./state.ts";

const profile = unwrap(parseLifecycleProfile({ window: 2, gates: defaultGates }));
const at = milliseconds(7);
const wish = (kind: "promote" | "roll-back"): Evidence => ({ kind: "operator", at, wish: kind, detail: "Ada said so" });

const episode = (number: number, reward: number): EpisodeScore => ({
  episode: number,
  reward,
  violations: 0,
  usual: 0,
  learnerShare: 0,
  faultShare: 0,
  steps: 100,
  cost: 0,
  fallbackCost: 0,
});
const ended = (score: EpisodeScore): Evidence => ({ kind: "episode", at, score, shadow: null });
const acted = (number: number, reward: number): Evidence => ended({ ...episode(number, reward), learnerShare: 1 });

/** OFFLINE, with the fallback's level measured over the window of two. */
const offline = [ended(episode(0, 150)), ended(episode(1, 150))].reduce(
  (state: AgentState, evidence) => lifecycleStep(profile, state, evidence).state,
  freshAgentState,
);
const next = (state: AgentState, evidence: Evidence): AgentState => lifecycleStep(profile, state, evidence).state;

test("a person's word takes an agent one stage up, and says whose word it was", () => {
  const { state, events } = lifecycleStep(profile, offline, wish("promote"));
  expect(state).toMatchObject({ stage: "ONLINE", because: "operator", canary: { kind: "trial", band: 0.2 } });
  expect(events).toEqual([
    {
      kind: "transition",
      at,
      from: "OFFLINE",
      to: "ONLINE",
      because: "operator",
      evidence: [{ gate: "operator", holds: true, found: null, asked: null, about: "Ada said so" }],
    },
  ]);
  expect(next(state, wish("promote")).stage).toBe("SERVING");
});

test("an agent that was promoted to SERVING is judged when it has a window of its own, not before", () => {
  const serving = next(next(offline, wish("promote")), wish("promote"));
  const once = next(serving, acted(2, 10));
  expect(once.stage).toBe("SERVING");
  // Twice 10 is a mean of 10, far below the fallback's 150.
  expect(next(once, acted(3, 10))).toMatchObject({ stage: "ONLINE", because: "retraining" });
});

test("a rollback by hand counts as none of the learner's and asks for no wait", () => {
  const online = next(offline, wish("promote"));
  const back = next(online, wish("roll-back"));
  expect(back).toMatchObject({ stage: "OFFLINE", because: "operator", rollbacks: 0, wait: 0 });
});

test("a wish that leads nowhere changes nothing", () => {
  const serving = next(next(offline, wish("promote")), wish("promote"));
  expect(lifecycleStep(profile, serving, wish("promote"))).toEqual({ state: serving, events: [] });
  expect(lifecycleStep(profile, offline, wish("roll-back"))).toEqual({ state: offline, events: [] });
});

test("stages that a person chose survive a restart", () => {
  const online = next(offline, wish("promote"));
  for (const state of [online, next(online, wish("roll-back"))])
    expect(unwrap(loadLifecycle(saveLifecycle(state)))).toEqual(state);
});

const well: OperatorContext = { profile, state: offline, isWell: true, isReady: true, isPaused: false };

test.each<[string, "promote" | "roll-back", Partial<OperatorContext>, RegExp]>([
  ["before the first step", "promote", { state: freshAgentState }, /has not begun/],
  ["beyond the highest", "promote", { state: next(next(offline, wish("promote")), wish("promote")) }, /highest stage/],
  ["with too little known of the workload", "promote", { isReady: false }, /too little was seen of the workload/],
  ["with a learner that is not well", "promote", { isWell: false }, /not well/],
  ["of a paused agent", "promote", { isPaused: true }, /resume it first/],
  ["before the fallback's level is known", "promote", { state: { ...offline, fallback: [] } }, /0 of the 2 episodes/],
  ["where the fallback acts", "roll-back", {}, /nothing to roll back in OFFLINE/],
])("a promotion or rollback %s is refused with the reason", (_, kind, context, reason) => {
  const problem = operatorProblem(kind, { ...well, ...context });
  expect(problem?.code).toBe("lifecycle.operator");
  expect(problem?.message).toMatch(reason);
});

test("what can be followed is not refused", () => {
  expect(operatorProblem("promote", well)).toBeUndefined();
  const online = next(offline, wish("promote"));
  expect(operatorProblem("roll-back", { ...well, state: online, isWell: false, isPaused: true })).toBeUndefined();
});

test("a paused agent lets the fallback act, except where nobody acts at all", () => {
  expect(whilePaused({ who: "learner", why: "serving" })).toEqual({ who: "fallback", why: "paused" });
  const nobody = { who: "nobody", why: "recommend-only" } as const;
  expect(whilePaused(nobody)).toBe(nobody);
});
