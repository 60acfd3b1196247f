import { describe, expect, test } from "vitest";
import type { LifecycleProfile } from "./profile.ts";
import { defaultGates, lifecycleOf, modelGates, paperProfile, parseLifecycleProfile } from "./profile.ts";

test("the defaults and the paper's setting can be kept", () => {
  expect(parseLifecycleProfile().ok).toBe(true);
  expect(parseLifecycleProfile(paperProfile).ok).toBe(true);
});

describe("what can never happen is refused in one sentence that names it", () => {
  const canary = defaultGates.canary as NonNullable<typeof defaultGates.canary>;
  const rollback = defaultGates.rollback as NonNullable<typeof defaultGates.rollback>;
  test.each<[string, Partial<LifecycleProfile>]>([
    ["online can never be met: an episode earns at most 200, and 201", { online: { kind: "absolute", value: 201 } }],
    ["serving must be a number, and is NaN", { serving: { kind: "absolute", value: Number.NaN } }],
    ["serving must be a factor of more than 0, and is 0 times", { serving: { kind: "fallback", times: 0, plus: 0 } }],
    [
      "serving can never be met: it asks for more than the policy's own best, by 1",
      { serving: { kind: "converged", below: -1 } },
    ],
    ["before the learner acts there is none", { online: { kind: "converged", below: 5 } }],
    ["never acts and is never measured", { bootstrap: false }],
    [
      "the deviation is relative to the fallback alone",
      {
        bootstrap: false,
        serving: { kind: "absolute", value: 130 },
        deviation: { kind: "fallback", times: 2, atLeast: 0 },
      },
    ],
    ["deviation can never be kept: a deviation is 0 or more, and -1", { deviation: { kind: "absolute", value: -1 } }],
    ["and is 0 times the fallback's and at least 0", { deviation: { kind: "fallback", times: 0, atLeast: 0 } }],
    ["window is 1", { window: 1 }],
    ["earn is 0", { maxReward: 0 }],
    ["maxTripRate is 2", { maxTripRate: 2 }],
    ["0 episodes old", { gates: { ...defaultGates, offPolicy: { maxAgeEpisodes: 0, margin: 0 } } }],
    ["may lie 2 of the threshold", { gates: { ...defaultGates, offPolicy: { maxAgeEpisodes: 1, margin: 2 } } }],
    ["band of 3", { gates: { ...defaultGates, canary: { ...canary, start: 3 } } }],
    ["widens by 1:", { gates: { ...defaultGates, canary: { ...canary, widen: 1 } } }],
    ["narrows by 0:", { gates: { ...defaultGates, canary: { ...canary, narrow: 0 } } }],
    ["forgives -1", { gates: { ...defaultGates, canary: { ...canary, allowance: -1 } } }],
    ["lack -1", { gates: { ...defaultGates, canary: { ...canary, slack: -1 } } }],
    ["are -1, 10 and 5", { gates: { ...defaultGates, rollback: { ...rollback, excess: -1 } } }],
  ])("%s", (words, options) => {
    const parsed = parseLifecycleProfile(options);
    expect(parsed).toMatchObject({ ok: false, failure: { code: "lifecycle.profile" } });
    expect(parsed.ok ? "" : parsed.failure.message).toContain(words);
  });
});

test("an owner's profile becomes the life it asks for, with the reward of its own episodes", () => {
  const owners = {
    bootstrap: true,
    stakes: "high",
    mode: "canary",
    reward: {
      thresholds: {
        online: { kind: "absolute", value: 70 },
        serving: { kind: "converged", below: 5 },
        deviation: { kind: "absolute", value: 6 },
      },
    },
  } as const;
  expect(lifecycleOf(owners, { maxReward: 100, window: 4 })).toMatchObject({
    ok: true,
    value: { stakes: "high", mode: "canary", maxReward: 100, window: 4, online: { value: 70 }, gates: defaultGates },
  });
  const greedy = { thresholds: { ...owners.reward.thresholds, online: { kind: "absolute", value: 130 } as const } };
  expect(lifecycleOf({ ...owners, reward: greedy }, { maxReward: 100 }).ok).toBe(false);
});

test("an owner's attainment is what the fallback has to keep, and canary mode stays near the fallback", () => {
  const { worth, canary } = modelGates({ mode: "act", attainment: 0.999 });
  expect(worth?.budget).toBeCloseTo(0.001, 12);
  expect(canary).toBeNull();
  expect(modelGates({ mode: "canary", attainment: 0.99 }).canary).toEqual(defaultGates.canary);
});
