import { expect, test } from "vitest";
import { failureOf, seededRng } from "../../base/index.ts";
import { cartPole } from "./classic/cart-pole.ts";
import { envIds, makeEnv } from "./registry.ts";
import type { NumericValue } from "./space.ts";
import { toAsync } from "./to-async.ts";

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
  } catch (thrown) {
    return failureOf(thrown)?.code;
  }
  return undefined;
};

test("one step of the cart by hand: the upright pole is pushed from under itself", () => {
  const env = makeEnv("CartPole-v1");
  env.reset({ options: { state: [0, 0, 0, 0] } });
  const { obs, reward, end } = env.step(1);
  // At rest and upright: temp = 10 / 1.1, angular acceleration = -temp / (0.5 (4/3 - 0.1/1.1)),
  // acceleration = temp - 0.05 × angular acceleration / 1.1; explicit Euler moves only the velocities.
  const temp = 10 / 1.1;
  const spin = -temp / (0.5 * (4 / 3 - 0.1 / 1.1));
  expect([...obs]).toEqual([0, Math.fround(0.02 * (temp - (0.05 * spin) / 1.1)), 0, Math.fround(0.02 * spin)]);
  expect({ reward, end }).toEqual({ reward: 1, end: "no" });
});

test("a hanging acrobot without torque stays where it is", () => {
  const env = makeEnv("Acrobot-v1");
  env.reset({ options: { state: [0, 0, 0, 0] } });
  const { obs, reward } = env.step(1);
  [1, 0, 1, 0, 0, 0].forEach((expected, i) => void expect(obs[i]).toBeCloseTo(expected, 6));
  expect(reward).toBe(-1);
});

test("the joints of the acrobot never turn faster than 4π and 9π", () => {
  const env = makeEnv("Acrobot-v1");
  env.reset({ options: { state: [0, 0, 100, -200] } });
  const { obs } = env.step(0);
  expect(Math.abs(obs[4]!)).toBeLessThanOrEqual(Math.fround(4 * Math.PI));
  expect(Math.abs(obs[5]!)).toBe(Math.fround(9 * Math.PI));
});

test("holding the pendulum upright and still costs nothing but the torque", () => {
  const env = makeEnv("Pendulum-v1");
  env.reset({ options: { state: [0, 0] } });
  expect(env.step(Float32Array.of(0)).reward).toBeCloseTo(0, 12);
  env.reset({ options: { state: [Math.PI, 0] } });
  // Hanging down: the angle is ±π; torque 2 costs 0.001 × 4.
  expect(env.step(Float32Array.of(2)).reward).toBeCloseTo(-(Math.PI ** 2) - 0.004, 12);
});

test.each(envIds())("%s: equally seeded copies roll out alike, and other seeds do not", (id) => {
  const rollOut = (seed: number): number[] => {
    const env = makeEnv(id);
    const rng = seededRng(1);
    const trace = [...env.reset({ seed }).obs];
    for (let t = 0; t < 300; t++) {
      const { obs, reward, end } = env.step(env.actionSpace.sample(rng));
      trace.push(...obs, reward);
      if (end !== "no") trace.push(...env.reset().obs);
    }
    return trace;
  };
  expect(rollOut(4)).toEqual(rollOut(4));
  expect(rollOut(4)).not.toEqual(rollOut(5));
});

test.each([
  ["CartPole-v1", [-0.05, -0.05, -0.05, -0.05], [0.05, 0.05, 0.05, 0.05]],
  ["Pendulum-v1", [-1, -1, -1], [1, 1, 1]],
  ["MountainCarContinuous-v0", [-0.6, 0], [-0.4, 0]],
  [
    "Acrobot-v1",
    [Math.cos(0.1), -Math.sin(0.1), Math.cos(0.1), -Math.sin(0.1), -0.1, -0.1],
    [1, Math.sin(0.1), 1, Math.sin(0.1), 0.1, 0.1],
  ],
] as const)("%s starts anywhere in its published range", (id, low, high) => {
  const env = makeEnv(id);
  env.reset({ seed: 2 });
  const least = [...low].fill(Number.POSITIVE_INFINITY);
  const most = [...low].fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < 2000; i++) {
    env.reset().obs.forEach((x, j) => {
      least[j] = Math.min(least[j]!, x);
      most[j] = Math.max(most[j]!, x);
    });
  }
  low.forEach((bound, j) => {
    const width = high[j]! - bound;
    expect(least[j]).toBeGreaterThanOrEqual(bound - 1e-7);
    expect(most[j]).toBeLessThanOrEqual(high[j]! + 1e-7);
    // 2000 draws come within a hundredth of both ends, except with a chance below 1e-8.
    expect(least[j]! - bound).toBeLessThanOrEqual(width / 100 + 1e-7);
    expect(high[j]! - most[j]!).toBeLessThanOrEqual(width / 100 + 1e-7);
  });
});

test("observations are the caller's to keep", () => {
  const env = makeEnv("CartPole-v1");
  const first = env.reset({ seed: 1 }).obs;
  const copy = first.slice();
  const second = env.step(1).obs;
  env.step(0);
  expect(first).toEqual(copy);
  expect(second).not.toBe(first);
});

test("calls out of order fail and say what to do", () => {
  const env = makeEnv("CartPole-v1", { maxSteps: 1 });
  expect(codeOf(() => env.step(0))).toBe("env.needs-reset");
  env.reset();
  expect(env.step(0).end).toBe("truncated");
  expect(codeOf(() => env.step(0))).toBe("env.needs-reset");
  env.reset();
  env.close();
  env.close();
  expect(codeOf(() => env.step(0))).toBe("env.closed");
  expect(codeOf(() => env.reset())).toBe("env.closed");
});

test("wrong actions and options fail and leave the episode running", () => {
  const cart = makeEnv("CartPole-v1");
  cart.reset();
  expect(codeOf(() => cart.step(2))).toBe("space.mismatch");
  expect(codeOf(() => cart.step(0.5))).toBe("space.mismatch");
  expect(cart.step(1).end).toBe("no");
  const arm = makeEnv("Pendulum-v1");
  arm.reset();
  expect(codeOf(() => arm.step(Float32Array.of(Number.NaN)))).toBe("space.mismatch");
  expect(codeOf(() => arm.step(new Float32Array(2)))).toBe("space.mismatch");
  expect(codeOf(() => arm.step([0] as unknown as Float32Array))).toBe("space.mismatch");
  expect(arm.step(Float32Array.of(0)).end).toBe("no");
  expect(codeOf(() => arm.reset({ options: { sate: [0, 0] } }))).toBe("env.options");
  expect(codeOf(() => arm.reset({ options: { state: [0] } }))).toBe("env.options");
  expect(codeOf(() => arm.reset({ options: { state: [0, Number.NaN] } }))).toBe("env.options");
});

test("the functional core is pure: a question from any state leaves everything as it was", () => {
  const state = Float64Array.of(0.1, -0.2, 0.03, 0.4);
  const ask = (push: number): number[] => {
    const next = new Float64Array(4);
    cartPole.transition({ state, action: Float64Array.of(push), next, rng: seededRng(0) });
    return [...next];
  };
  const left = ask(0);
  ask(1);
  expect(ask(0)).toEqual(left);
  expect([...state]).toEqual([0.1, -0.2, 0.03, 0.4]);
});

test("as an AsyncEnv it gives the same steps, and an aborted call does nothing", async () => {
  const near = makeEnv("CartPole-v1");
  const far = toAsync<Float32Array, NumericValue>(makeEnv("CartPole-v1" as string));
  expect((await far.reset({ seed: 3 })).obs).toEqual(near.reset({ seed: 3 }).obs);
  await expect(far.step(0, { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
  expect(await far.step(1)).toEqual(near.step(1));
  await far.close();
  await expect(far.step(1)).rejects.toMatchObject({ code: "env.closed" });
});
