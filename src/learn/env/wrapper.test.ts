import { describe, expect, test } from "vitest";
import { failureOf } from "../../base/index.ts";
import type { End, Env } from "./contract.ts";
import { buildVectorEnv } from "./make.ts";
import { makeEnv, makeVectorEnv } from "./registry.ts";
import { box, discrete } from "./space.ts";
import { type Wrapper, wrap } from "./wrapper.ts";
import { delayAction, delayObservation } from "./wrappers/delay.ts";
import { guardFinite } from "./wrappers/guard-finite.ts";
import { normalizeObservation, normalizeReward } from "./wrappers/normalize.ts";
import { type EpisodeSummary, recordEpisodes } from "./wrappers/record-episodes.ts";
import { rescaleAction } from "./wrappers/rescale-action.ts";
import { timeLimit } from "./wrappers/time-limit.ts";

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
  } catch (thrown) {
    return failureOf(thrown)?.code;
  }
  return undefined;
};

/** Shows the given observations one after the other (the first at reset), and pays the action it was given. */
function script(observations: readonly number[], { lastEnd = "no" as End } = {}): Env<Float32Array, Float32Array> {
  let t = 0;
  const show = (): Float32Array => Float32Array.of(observations[t] ?? Number.NaN);
  return {
    spec: { id: "Script-v0" },
    observationSpace: box({ low: -1000, high: 1000, size: 1 }),
    actionSpace: box({ low: [-10], high: [30] }),
    reset: () => {
      t = 0;
      return { obs: show(), info: { scripted: true } };
    },
    step: (action) => {
      t += 1;
      return { obs: show(), reward: action[0]!, end: t === observations.length - 1 ? lastEnd : "no" };
    },
    close: () => {},
  };
}

/** Observations and rewards of one pass with the given actions. */
function play(env: Env<Float32Array, Float32Array>, actions: readonly number[]) {
  const obs = [env.reset().obs[0]];
  const rewards: number[] = [];
  const ends: End[] = [];
  for (const action of actions) {
    const step = env.step(Float32Array.of(action));
    obs.push(step.obs[0]);
    rewards.push(step.reward);
    ends.push(step.end);
  }
  return { obs, rewards, ends };
}

describe("the time limit", () => {
  test("truncates, and never hides a termination in the same step", () => {
    expect(play(wrap(script([0, 1, 2, 3]), [timeLimit(3)]), [0, 0, 0]).ends).toEqual(["no", "no", "truncated"]);
    const ending = script([0, 1, 2, 3], { lastEnd: "terminated" });
    expect(play(wrap(ending, [timeLimit(3)]), [0, 0, 0]).ends).toEqual(["no", "no", "terminated"]);
  });
});

describe("normalising observations", () => {
  test("gives (x - mean) / deviation of what was seen so far", () => {
    const { obs } = play(wrap(script([4, 8]), [normalizeObservation({ epsilon: 0 })]), [0]);
    // The start counts as 1e-4 observations of mean 0 and variance 1. After the 4: mean 4/1.0001,
    // variance (1e-4 + 16 × 1e-4/1.0001) / 1.0001; Welford's two moments again for the 8.
    const n1 = 1.0001;
    const m1 = 4 / n1;
    const v1 = (1e-4 + (16 * 1e-4) / n1) / n1;
    expect(obs[0]).toBeCloseTo((4 - m1) / Math.sqrt(v1), 5);
    const n2 = 2.0001;
    const m2 = m1 + (8 - m1) / n2;
    const v2 = (v1 * n1 + ((8 - m1) ** 2 * n1) / n2) / n2;
    expect(obs[1]).toBeCloseTo((8 - m2) / Math.sqrt(v2), 5);
  });

  test("brings a long random stream to mean 0 and deviation 1", () => {
    const normalizer = normalizeObservation();
    const env = makeVectorEnv("Pendulum-v1", { count: 8, wrappers: [normalizer] });
    env.reset({ seed: 1 });
    for (let t = 0; t < 500; t++) env.step(new Float32Array(8).fill(Math.sin(t)));
    let sum = 0;
    let squares = 0;
    for (let t = 0; t < 500; t++) {
      env.step(new Float32Array(8).fill(Math.sin(t)));
      for (let row = 0; row < 8; row++) {
        sum += env.obs[3 * row + 2]!;
        squares += env.obs[3 * row + 2]! ** 2;
      }
    }
    expect(Math.abs(sum / 4000)).toBeLessThan(0.3);
    expect(squares / 4000).toBeGreaterThan(0.6);
    expect(squares / 4000).toBeLessThan(1.5);
  });

  test("saves its statistics as JSON, and a frozen copy with them shows the same world alike", () => {
    const trained = normalizeObservation({ clip: 5 });
    play(wrap(script([1, 5, 9, 2]), [trained]), [0, 0, 0]);
    trained.learning = false;
    const restored = normalizeObservation({ clip: 5 });
    restored.load(JSON.parse(JSON.stringify(trained.save())));
    restored.learning = false;
    const inOne = play(wrap(script([3, 900]), [trained]), [0]).obs;
    expect(play(wrap(script([3, 900]), [restored]), [0]).obs).toEqual(inOne);
    // 900 is far outside of what was seen: the clip holds.
    expect(inOne[1]).toBe(5);
    expect(restored.save()).toEqual(trained.save());
  });

  test("refuses statistics that do not fit", () => {
    const fresh = normalizeObservation();
    expect(codeOf(() => fresh.save())).toBe("env.bad-state");
    wrap(script([0]), [fresh]);
    expect(codeOf(() => fresh.load({ count: 1, mean: [0, 0], variance: [1, 1] }))).toBe("env.bad-state");
    expect(codeOf(() => fresh.load({ count: 1, mean: [Number.NaN], variance: [1] }))).toBe("env.bad-state");
    expect(codeOf(() => fresh.load({ count: 1, mean: [0], variance: [-1] }))).toBe("env.bad-state");
    expect(codeOf(() => makeEnv("CartPole-v1", { wrappers: [fresh] }))).toBe("env.bad-state");
  });
});

describe("normalising rewards", () => {
  test("divides by the deviation of the discounted return, and forgets the return at a reset", () => {
    const normalizer = normalizeReward({ discount: 0.5, epsilon: 0 });
    const env = wrap(script([0, 0, 0]), [normalizer]);
    const first = play(env, [8, 4]).rewards;
    // Returns so far: 8, then 8/2 + 4 = 8. After the first: variance (1e-4 + 64e-4/1.0001) / 1.0001.
    const n1 = 1.0001;
    const m1 = 8 / n1;
    const v1 = (1e-4 + (64 * 1e-4) / n1) / n1;
    expect(first[0]).toBeCloseTo(8 / Math.sqrt(v1), 6);
    const n2 = 2.0001;
    const m2 = m1 + (8 - m1) / n2;
    const v2 = (v1 * n1 + ((8 - m1) ** 2 * n1) / n2) / n2;
    expect(first[1]).toBeCloseTo(4 / Math.sqrt(v2), 6);
    // A new episode: the return is 2 again, not 8/2 + 2.
    const n3 = 3.0001;
    const v3 = (v2 * n2 + ((2 - m2) ** 2 * n2) / n3) / n3;
    expect(play(env, [2]).rewards[0]).toBeCloseTo(2 / Math.sqrt(v3), 6);
  });
});

describe("recording episodes", () => {
  test("sums rewards and counts steps, per copy, and keeps the latest", () => {
    const told: EpisodeSummary[] = [];
    const recorder = recordEpisodes({ keep: 2, onEnd: (episode) => told.push(episode) });
    const env = buildVectorEnv(
      { id: "Script-v0", env: () => script([0, 0, 0, 0], { lastEnd: "terminated" }), maxSteps: 2 },
      { count: 2, wrappers: [recorder] },
    );
    env.reset();
    for (let t = 0; t < 4; t++) env.step(Float32Array.of(t, 10));
    expect(recorder.finished).toBe(4);
    expect(told[0]).toEqual({ row: 0, return: 0 + 1, length: 2, end: "truncated" });
    expect(recorder.episodes).toEqual([
      { row: 0, return: 2 + 3, length: 2, end: "truncated" },
      { row: 1, return: 10 + 10, length: 2, end: "truncated" },
    ]);
  });

  test("records the raw rewards when it is inside of normalisation", () => {
    const recorder = recordEpisodes();
    play(wrap(script([0, 0], { lastEnd: "terminated" }), [recorder, normalizeReward()]), [7]);
    expect(recorder.episodes[0]?.return).toBe(7);
  });
});

describe("rescaling actions", () => {
  test("maps the ends and the middle of [-1, 1] to those of the environment, and cuts what is beyond", () => {
    const env = wrap(script([0, 0, 0, 0, 0, 0]), [rescaleAction()]);
    expect(env.actionSpace.describe()).toBe("a Float32Array of 1 number within [-1] to [1]");
    expect(play(env, [-1, 0, 1, 5, -5]).rewards).toEqual([-10, 10, 30, 30, -10]);
  });

  test("does not make sense for choices", () => {
    expect(codeOf(() => makeEnv("CartPole-v1", { wrappers: [rescaleAction()] }))).toBe("env.unsupported-space");
    expect(codeOf(() => rescaleAction({ low: 1, high: 1 }))).toBe("env.options");
  });
});

describe("delays", () => {
  test("an observation arrives late, and the first one stands in until then", () => {
    const env = wrap(script([1, 2, 3, 4, 5]), [delayObservation(2)]);
    expect(play(env, [0, 0, 0, 0]).obs).toEqual([1, 1, 1, 2, 3]);
    // Nothing of an episode leaks into the next.
    expect(play(env, [0, 0, 0]).obs).toEqual([1, 1, 1, 2]);
  });

  test("an action arrives late, and idling stands in until then", () => {
    const env = wrap(script([0, 0, 0, 0, 0]), [delayAction(2)]);
    expect(play(env, [5, 6, 7, 8]).rewards).toEqual([0, 0, 5, 6]);
    expect(play(env, [9, 9, 9]).rewards).toEqual([0, 0, 9]);
    const busy = wrap(script([0, 0, 0]), [delayAction(1, { idle: [4] })]);
    expect(play(busy, [5, 6]).rewards).toEqual([4, 5]);
  });

  test("need whole steps and an idle action that fits", () => {
    expect(codeOf(() => delayObservation(0))).toBe("env.options");
    expect(codeOf(() => makeEnv("CartPole-v1", { wrappers: [delayAction(1, { idle: [2] })] }))).toBe("env.options");
  });
});

describe("the guard against NaN", () => {
  test("stops at the first observation that is not finite, says where, and lets the next episode run", () => {
    const env = wrap(script([0, 1, Number.NaN]), [guardFinite()]);
    env.reset();
    env.step(Float32Array.of(0));
    let message = "";
    try {
      env.step(Float32Array.of(0));
    } catch (thrown) {
      expect(failureOf(thrown)?.code).toBe("env.not-finite");
      message = failureOf(thrown)?.message ?? "";
    }
    expect(message).toMatch(/^copy 0 gave the observation NaN in component 0 after 2 step/);
    expect(codeOf(() => env.step(Float32Array.of(0)))).toBe("env.needs-reset");
    env.reset();
    expect(env.step(Float32Array.of(0)).obs[0]).toBe(1);
  });

  test("also watches the first observation and the reward", () => {
    expect(codeOf(() => wrap(script([Number.NaN]), [guardFinite()]).reset())).toBe("env.not-finite");
    const paysNothingReal: Wrapper = {
      name: "bad-reward",
      attach: () => ({
        advance: (_row, outcome) => {
          outcome.reward = Number.POSITIVE_INFINITY;
        },
      }),
    };
    const env = wrap(script([0, 0]), [paysNothingReal, guardFinite()]);
    env.reset();
    expect(codeOf(() => env.step(Float32Array.of(0)))).toBe("env.not-finite");
  });
});

test("one's own wrapper is a few hooks, and works on one environment and on many alike", () => {
  // Pays nothing but a penalty for the episode's end.
  const fearful: Wrapper = {
    name: "fearful",
    attach: () => ({
      advance: (_row, outcome) => {
        outcome.reward = outcome.end === "terminated" ? -1 : 0;
      },
    }),
  };
  const one = makeEnv("CartPole-v1", { wrappers: [fearful] });
  const many = makeVectorEnv("CartPole-v1", { count: 1, autoreset: "disabled", wrappers: [fearful] });
  one.reset({ seed: 1 });
  many.reset({ seed: 1 });
  for (let end: End = "no"; end === "no"; ) {
    const step = one.step(1);
    end = step.end;
    many.step(Int32Array.of(1));
    expect(step.reward).toBe(end === "terminated" ? -1 : 0);
    expect(many.rewards[0]).toBe(step.reward);
  }
});

test("the first wrapper is the innermost", () => {
  const add = (amount: number): Wrapper => ({
    name: "add",
    attach: () => ({
      advance: (_row, outcome) => {
        outcome.reward = outcome.reward * 10 + amount;
      },
    }),
  });
  expect(play(wrap(script([0, 0]), [add(1), add(2)]), [0]).rewards).toEqual([12]);
});

test("a wrapped environment passes on the world's reset info, and refuses worlds that are not numeric", () => {
  expect(wrap(script([0]), [guardFinite()]).reset().info).toEqual({ scripted: true });
  const odd = {
    ...script([0]),
    observationSpace: discrete(3) as unknown as ReturnType<typeof script>["observationSpace"],
  };
  expect(codeOf(() => wrap(odd, [guardFinite()]))).toBe("env.unsupported-space");
});
