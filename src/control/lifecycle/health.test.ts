import { expect, test } from "vitest";
import { unwrap } from "../../base/index.ts";
import type { Health, TakeoverReason } from "./health.ts";
import { goodHealth, isLearnerFault, mayAct, takeoverReasons, troubleOf } from "./health.ts";
import { parseLifecycleProfile } from "./profile.ts";
import type { AgentState } from "./state.ts";
import { freshAgentState } from "./state.ts";

const profile = unwrap(parseLifecycleProfile());
const { episodes, fallback, rollbacks, history } = freshAgentState;
const known = { episodes, fallback, rollbacks, history };
const offline: AgentState = {
  ...known,
  stage: "OFFLINE",
  because: "bootstrap",
  recent: [],
  wait: 0,
  shadow: [],
  estimate: null,
};
const serving: AgentState = { ...known, stage: "SERVING", recent: [], best: null, excess: 0 };
const online: AgentState = { ...serving, stage: "ONLINE", because: "earned", canary: { kind: "passed" } };

const troubles: readonly [TakeoverReason, Partial<Health>][] = [
  ["workload-vanished", { workload: "vanished" }],
  ["allocation-unknown", { allocation: "unknown" }],
  ["clock-jumped", { clock: "jumped" }],
  ["telemetry-stale", { telemetry: "stale" }],
  ["telemetry-unusable", { telemetry: "unusable" }],
  ["model-learning", { model: "learning" }],
  ["checkpoint-missing", { checkpoint: "missing" }],
  ["checkpoint-corrupt", { checkpoint: "corrupt" }],
  ["checkpoint-other-version", { checkpoint: "other-version" }],
  ["learner-crashed", { learner: "crashed" }],
  ["learner-slow", { learner: "slow" }],
  ["output-not-finite", { learner: "not-finite" }],
  ["guard-trips", { guardTripRate: 0.51 }],
];

test("a learner in good health acts while it trains and while it serves", () => {
  expect(mayAct(profile, online, goodHealth)).toEqual({ who: "learner", why: "training" });
  expect(mayAct(profile, serving, goodHealth)).toEqual({ who: "learner", why: "serving" });
});

test.each(troubles)("%s lets the fallback act in the same step, by that name", (why, trouble) => {
  for (const state of [online, serving])
    expect(mayAct(profile, state, { ...goodHealth, ...trouble })).toEqual({ who: "fallback", why });
});

test("the table of troubles is complete", () => {
  expect(troubles.map(([reason]) => reason)).toEqual(takeoverReasons);
});

test("a trip rate at the limit is allowed, and one that is no number is not", () => {
  expect(troubleOf({ ...goodHealth, guardTripRate: 0.5 }, profile)).toBeUndefined();
  expect(troubleOf({ ...goodHealth, guardTripRate: Number.NaN }, profile)).toBe("guard-trips");
});

test("the learner is not blamed for the world", () => {
  const both: Health = { ...goodHealth, telemetry: "stale", learner: "crashed" };
  expect(mayAct(profile, serving, both).why).toBe("telemetry-stale");
  expect(takeoverReasons.filter(isLearnerFault)).toHaveLength(7);
});

test("OFFLINE the fallback acts and says why, whatever the health", () => {
  expect(mayAct(profile, offline, goodHealth)).toEqual({ who: "fallback", why: "bootstrapping" });
  const high = { ...offline, because: "retraining" } as const;
  expect(mayAct(profile, high, goodHealth).why).toBe("retraining");
  expect(mayAct(profile, freshAgentState, goodHealth).why).toBe("not-started");
});

test("in recommend mode nobody acts in any stage", () => {
  for (const state of [freshAgentState, offline, online, serving])
    expect(mayAct({ ...profile, mode: "recommend" }, state, goodHealth).who).toBe("nobody");
});
