import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureOf, seededRng } from "../../base/index.ts";
import { cartPole } from "./classic/cart-pole.ts";
import type { Autoreset, VectorEnv } from "./contract.ts";
import type { Core } from "./core.ts";
import { buildEnv, buildVectorEnv } from "./make.ts";
import { makeEnv, makeVectorEnv } from "./registry.ts";
import { box, discrete } from "./space.ts";

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
  } catch (thrown) {
    return failureOf(thrown)?.code;
  }
  return undefined;
};

/**
 * A counter, so that every number in a test is known: starts at 100 times the episode's number, goes up by one per step,
 * pays what it shows, and terminates when told to (action 1).
 */
function counter(): Core {
  let episode = 0;
  return {
    observationSpace: box({ low: 0, high: 1e6, size: 1 }),
    actionSpace: discrete(2),
    stateSize: 2,
    initial(state) {
      episode += 1;
      state[0] = 100 * episode;
      state[1] = 0;
    },
    transition({ state, action, next }) {
      next[0] = state[0]! + 1;
      next[1] = action[0]!;
    },
    observe(state, obs) {
      obs[0] = state[0]!;
    },
    reward: ({ next }) => next[0]!,
    isTerminal: (state) => state[1] === 1,
  };
}

const two = (autoreset: Autoreset, maxSteps?: number): VectorEnv =>
  buildVectorEnv(
    { id: "Counter-v0", core: counter, ...(maxSteps === undefined ? {} : { maxSteps }) },
    { count: 2, autoreset },
  );

const seen = (env: VectorEnv) => ({ obs: [...env.obs], rewards: [...env.rewards], ends: [...env.ends] });

describe("autoreset", () => {
  test("same-step: the ending step shows the new episode, the last observation is in finalObs", () => {
    const env = two("same-step");
    env.reset();
    expect(seen(env)).toEqual({ obs: [100, 200], rewards: [0, 0], ends: [0, 0] });
    env.step(Int32Array.of(0, 1));
    expect(seen(env)).toEqual({ obs: [101, 300], rewards: [101, 201], ends: [0, 1] });
    expect(env.finalObs[1]).toBe(201);
    env.step(Int32Array.of(0, 0));
    expect(seen(env)).toEqual({ obs: [102, 301], rewards: [102, 301], ends: [0, 0] });
  });

  test("next-step: the ending step shows its last observation, the next one ignores the action and shows the first", () => {
    const env = two("next-step");
    env.reset();
    env.step(Int32Array.of(0, 1));
    expect(seen(env)).toEqual({ obs: [101, 201], rewards: [101, 201], ends: [0, 1] });
    env.step(Int32Array.of(0, 1));
    // The second copy's action 1 would have ended its episode; it was not taken.
    expect(seen(env)).toEqual({ obs: [102, 300], rewards: [102, 0], ends: [0, 0] });
    env.step(Int32Array.of(0, 0));
    expect(seen(env)).toEqual({ obs: [103, 301], rewards: [103, 301], ends: [0, 0] });
  });

  test("disabled: an ended copy refuses to step until it is reset, alone or with the others", () => {
    const env = two("disabled");
    env.reset();
    env.step(Int32Array.of(0, 1));
    expect(seen(env)).toEqual({ obs: [101, 201], rewards: [101, 201], ends: [0, 1] });
    expect(codeOf(() => env.step(Int32Array.of(0, 0)))).toBe("env.needs-reset");
    // The refused call moved nothing, not even the copy that was still running.
    expect(env.obs[0]).toBe(101);
    env.reset({ only: env.ends });
    expect(seen(env)).toEqual({ obs: [101, 300], rewards: [101, 0], ends: [0, 0] });
    env.step(Int32Array.of(0, 0));
    expect(seen(env)).toEqual({ obs: [102, 301], rewards: [102, 301], ends: [0, 0] });
  });

  test("a time limit shows as 2, a termination in the same step as 1", () => {
    const env = two("same-step", 2);
    env.reset();
    env.step(Int32Array.of(0, 0));
    env.step(Int32Array.of(0, 1));
    expect([...env.ends]).toEqual([2, 1]);
    expect([...env.finalObs]).toEqual([102, 202]);
    // The limit counts anew in the new episodes.
    env.step(Int32Array.of(0, 0));
    expect([...env.ends]).toEqual([0, 0]);
  });
});

test("a vector of one is the single environment", () => {
  const rng = seededRng(6);
  const one = makeVectorEnv("CartPole-v1", { count: 1, autoreset: "disabled" });
  const env = makeEnv("CartPole-v1");
  one.reset({ seed: 9 });
  expect(one.obs).toEqual(env.reset({ seed: 9 }).obs);
  for (let t = 0; t < 500; t++) {
    const action = rng.int(2);
    one.step(Int32Array.of(action));
    const step = env.step(action);
    expect(one.obs).toEqual(step.obs);
    expect(one.rewards[0]).toBe(step.reward);
    expect(["no", "terminated", "truncated"][one.ends[0]!]).toBe(step.end);
    if (step.end === "no") continue;
    one.reset();
    expect(one.obs).toEqual(env.reset().obs);
  }
});

test("every copy follows the equations on its own, through ends and restarts, in every mode", () => {
  fc.assert(
    fc.property(
      fc.record({
        seed: fc.integer({ min: 0, max: 1e9 }),
        count: fc.integer({ min: 1, max: 5 }),
        autoreset: fc.constantFrom<Autoreset>("same-step", "next-step"),
      }),
      ({ seed, count, autoreset }) => {
        const env = makeVectorEnv("CartPole-v1", { count, autoreset });
        env.reset({ seed });
        // The oracle: the pure core, driven by hand, one copy at a time.
        const copies = Array.from({ length: count }, (_, row) => {
          const rng = seededRng(seed).fork(row);
          const state = new Float64Array(4);
          cartPole.initial(state, rng, {});
          return { rng, state, next: new Float64Array(4), ended: false };
        });
        const rng = seededRng(seed + 1);
        for (let t = 0; t < 60; t++) {
          const actions = Int32Array.from({ length: count }, () => rng.int(2));
          env.step(actions);
          copies.forEach((copy, row) => {
            const shown = Array.from(env.obs.subarray(4 * row, 4 * row + 4));
            if (copy.ended) {
              copy.ended = false;
              cartPole.initial(copy.state, copy.rng, {});
              expect(env.ends[row]).toBe(0);
            } else {
              cartPole.transition({ ...copy, action: Float64Array.of(actions[row]!) });
              copy.state.set(copy.next);
              const ended = cartPole.isTerminal(copy.state);
              expect(env.ends[row]).toBe(ended ? 1 : 0);
              if (ended) {
                const last = Array.from(env.finalObs.subarray(4 * row, 4 * row + 4));
                expect(last).toEqual(Array.from(copy.state, Math.fround));
                if (autoreset === "same-step") cartPole.initial(copy.state, copy.rng, {});
                else copy.ended = true;
              }
            }
            expect(shown).toEqual(Array.from(copy.state, Math.fround));
          });
        }
      },
    ),
    { numRuns: 20 },
  );
});

test("equally seeded vectors roll out alike; a copy's episodes do not depend on how many others there are", () => {
  const rollOut = (count: number): Float32Array => {
    const env = makeVectorEnv("CartPole-v1", { count });
    env.reset({ seed: 11 });
    const trace: number[] = [];
    for (let t = 0; t < 100; t++) {
      env.step(new Int32Array(count).fill(t % 2));
      trace.push(...env.obs.subarray(0, 8));
    }
    return Float32Array.from(trace);
  };
  expect(rollOut(2)).toEqual(rollOut(2));
  expect(rollOut(2)).toEqual(rollOut(7));
});

test("copies start differently from each other", () => {
  const env = makeVectorEnv("CartPole-v1", { count: 50 });
  env.reset({ seed: 0 });
  expect(new Set(Array.from({ length: 50 }, (_, row) => env.obs[4 * row])).size).toBe(50);
});

test("the buffers stay the same arrays for the whole life", () => {
  const env = makeVectorEnv("CartPole-v1", { count: 3 });
  const { obs, finalObs, rewards, ends } = env;
  env.reset({ seed: 1 });
  for (let t = 0; t < 200; t++) env.step(new Int32Array(3));
  expect(env).toMatchObject({ obs, finalObs, rewards, ends });
  expect(env.obs).toBe(obs);
});

test("a user's own environments run as a vector, each with its own seed", () => {
  const entry = { id: "Own-v0", env: () => makeEnv("Pendulum-v1") };
  const env = buildVectorEnv(entry, { count: 3 });
  env.reset({ seed: 5 });
  const starts = [0, 1, 2].map((row) => env.obs[3 * row]);
  expect(new Set(starts).size).toBe(3);
  expect(env.obs.subarray(0, 3)).toEqual(buildEnv(entry).reset({ seed: 5 }).obs);
  for (let t = 0; t < 199; t++) env.step(new Float32Array(3));
  expect([...env.ends]).toEqual([0, 0, 0]);
  env.step(new Float32Array(3));
  expect([...env.ends]).toEqual([2, 2, 2]);
  env.close();
  expect(codeOf(() => env.step(new Float32Array(3)))).toBe("env.closed");
});

test("wrong calls fail with their code and move nothing", () => {
  const env = makeVectorEnv("CartPole-v1", { count: 2 });
  expect(codeOf(() => env.step(new Int32Array(2)))).toBe("env.needs-reset");
  expect(codeOf(() => env.reset({ only: Uint8Array.of(1, 0) }))).toBe("env.options");
  env.reset({ seed: 1 });
  const before = [...env.obs];
  expect(codeOf(() => env.step(new Int32Array(3)))).toBe("space.mismatch");
  expect(codeOf(() => env.step(Int32Array.of(0, 2)))).toBe("space.mismatch");
  expect(codeOf(() => env.step(Float32Array.of(0, Number.NaN)))).toBe("space.mismatch");
  expect(codeOf(() => env.reset({ only: Uint8Array.of(1) }))).toBe("env.options");
  expect(codeOf(() => env.reset({ only: Uint8Array.of(1, 0), seed: 3 }))).toBe("env.options");
  expect([...env.obs]).toEqual(before);
  env.step(new Int32Array(2));
  expect([...env.obs]).not.toEqual(before);
});

test("after a world failed in the middle of a step, only a reset helps", () => {
  const fragile: Core = {
    ...counter(),
    transition({ state, action, next }) {
      if (action[0] === 1) throw new Error("the world broke");
      next.set(state);
    },
  };
  const env = buildVectorEnv({ id: "Fragile-v0", core: () => fragile }, { count: 2 });
  env.reset();
  expect(() => env.step(Int32Array.of(0, 1))).toThrow("the world broke");
  expect(codeOf(() => env.step(Int32Array.of(0, 0)))).toBe("env.needs-reset");
  env.reset();
  env.step(Int32Array.of(0, 0));
  expect([...env.ends]).toEqual([0, 0]);
});
