import fc from "fast-check";
import { expect, test } from "vitest";
import { milliseconds, unwrap } from "../../base/index.ts";
import { lifecycleStep } from "./lifecycle.ts";
import { parseLifecycleProfile } from "./profile.ts";
import { loadLifecycle, saveLifecycle } from "./saved.ts";
import type { AgentState, Evidence } from "./state.ts";
import { freshAgentState } from "./state.ts";

const profile = unwrap(parseLifecycleProfile({ window: 2 }));
const at = milliseconds(0);

/** A state of every stage, reached and not made up. */
function lives(): AgentState[] {
  const shadow = { steps: 100, failures: 0, trips: 0, risky: 0, distance: 0 };
  const fallback = {
    episode: 1,
    reward: 130,
    violations: 2,
    usual: 2,
    learnerShare: 0,
    faultShare: 0,
    steps: 100,
    cost: 3,
    fallbackCost: 4,
  };
  const learner = { ...fallback, reward: 150, violations: 0, learnerShare: 1 };
  const estimate = { mean: 150, lower: 140, upper: 160, gainMean: 20, gainLower: 10, method: "by hand", episodes: 3 };
  const story: Evidence[] = [
    { kind: "start", at },
    ...new Array<Evidence>(3).fill({ kind: "episode", at, score: fallback, shadow }),
    { kind: "estimate", at, score: estimate },
    ...new Array<Evidence>(7).fill({ kind: "episode", at, score: learner, shadow: null }),
  ];
  const states = [freshAgentState];
  for (const evidence of story) states.push(lifecycleStep(profile, states.at(-1) as AgentState, evidence).state);
  return states;
}

test("every stage comes back from its text as it was", () => {
  const states = lives();
  expect(new Set(states.map(({ stage }) => stage))).toEqual(new Set(["INITIALIZED", "OFFLINE", "ONLINE", "SERVING"]));
  for (const state of states) expect(unwrap(loadLifecycle(saveLifecycle(state)))).toEqual(state);
});

const codeOf = (text: string) => {
  const loaded = loadLifecycle(text);
  return loaded.ok ? "accepted" : loaded.failure.code;
};

test("a state of another version is refused by its own name", () => {
  expect(codeOf(saveLifecycle(freshAgentState).replace('"schema":3', '"schema":1'))).toBe("lifecycle.schema");
});

test.each([
  "",
  "null",
  "[]",
  "{}",
  '{"schema":3}',
  '{"schema":3,"state":{"stage":"RETIRED"}}',
  '{"schema":3,"state":null}',
])("what is no state is refused: %s", (text) => {
  expect(codeOf(text)).toBe("lifecycle.corrupt");
});

test("any field taken away or turned into another kind is noticed", () => {
  for (const state of lives()) {
    const fields = Object.keys(state);
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(undefined, "x", { odd: 1 }), (field, value) => {
        const altered = { ...state, [field]: value };
        expect(codeOf(JSON.stringify({ schema: 3, state: altered }))).toBe("lifecycle.corrupt");
      }),
      { numRuns: 30 },
    );
  }
});

test("a stage with what belongs to another is refused", () => {
  const serving = lives().at(-1) as AgentState;
  const odd = { ...serving, canary: { kind: "passed" } };
  expect(codeOf(JSON.stringify({ schema: 3, state: odd }))).toBe("lifecycle.corrupt");
});

test("a stage that its own moves do not lead to is refused", () => {
  const serving = lives().at(-1) as AgentState;
  const cut = { ...serving, history: serving.history.slice(0, -1) };
  const loaded = loadLifecycle(JSON.stringify({ schema: 3, state: cut }));
  expect(loaded).toMatchObject({
    failure: {
      code: "lifecycle.corrupt",
      message: expect.stringContaining("in SERVING, but the last of its moves led to ONLINE"),
    },
  });
});
