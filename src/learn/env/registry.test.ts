import { expect, test } from "vitest";
import { failureOf } from "../../base/index.ts";
import { cartPole } from "./classic/cart-pole.ts";
import { dict, type ValueOf } from "./composite-space.ts";
import type { Env } from "./contract.ts";
import { envIds, envSpec, makeEnv, makeVectorEnv, registerEnv } from "./registry.ts";
import { box, discrete } from "./space.ts";

function failureFrom(call: () => unknown) {
  try {
    call();
  } catch (thrown) {
    return failureOf(thrown);
  }
  return undefined;
}

test("an unknown id suggests the nearest known one", () => {
  for (const near of ["cartpole-v1", "CartPole-v0", "CartPole", "CartPol-v1", "Cart-Pole-v1"]) {
    expect(failureFrom(() => makeEnv(near))).toMatchObject({
      code: "env.unknown-id",
      message: `there is no environment '${near}'; did you mean 'CartPole-v1'?`,
    });
  }
});

test("an id like nothing known lists what there is", () => {
  expect(failureFrom(() => makeVectorEnv("Humanoid-v4", { count: 1 }))?.message).toBe(
    "there is no environment 'Humanoid-v4'; known are Acrobot-v1, CartPole-v1, MountainCarContinuous-v0, Pendulum-v1; add your own with registerEnv",
  );
});

test("one's own environment is made by name, in both forms, with its config", () => {
  registerEnv({
    id: "HeavyCart-v0",
    maxSteps: 3,
    core: ({ bonus = 0 }) => ({ ...cartPole, reward: () => 1 + Number(bonus) }),
  });
  expect(envIds()).toContain("HeavyCart-v0");
  expect(envSpec("HeavyCart-v0")).toEqual({ id: "HeavyCart-v0", maxSteps: 3 });
  const env = makeEnv<Float32Array, number>("HeavyCart-v0", { config: { bonus: 4 } });
  env.reset();
  expect(env.step(0)).toMatchObject({ reward: 5, end: "no" });
  expect(env.step(0)).toMatchObject({ reward: 5, end: "no" });
  expect(env.step(0)).toMatchObject({ reward: 5, end: "truncated" });
  const many = makeVectorEnv("HeavyCart-v0", { count: 2, config: { bonus: 1 } });
  many.reset();
  many.step(Int32Array.of(0, 1));
  expect([...many.rewards]).toEqual([2, 2]);
});

test("an environment with parts in its observation is handed out as it is", () => {
  const space = dict({ load: box({ low: 0, high: 1, size: 1 }), replicas: discrete(10) });
  const obs: ValueOf<typeof space> = { load: Float32Array.of(0.5), replicas: 3 };
  const world: Env<typeof obs, number> = {
    spec: { id: "Parts-v0" },
    observationSpace: space,
    actionSpace: discrete(2),
    reset: () => ({ obs, info: {} }),
    step: () => ({ obs, reward: 0, end: "no" }),
    close: () => {},
  };
  registerEnv({ id: "Parts-v0", env: () => world });
  expect(makeEnv("Parts-v0")).toBe(world);
  // The vector form lays observations side by side, so it needs plain numbers.
  expect(failureFrom(() => makeVectorEnv("Parts-v0", { count: 2 }))?.code).toBe("env.unsupported-space");
});

test("the time limit can be changed and removed", () => {
  expect(makeEnv("Pendulum-v1", { maxSteps: 5 }).spec.maxSteps).toBe(5);
  const endless = makeEnv("Pendulum-v1", { maxSteps: "none" });
  expect(endless.spec).toEqual({ id: "Pendulum-v1" });
  endless.reset({ seed: 1 });
  for (let t = 0; t < 1000; t++) expect(endless.step(Float32Array.of(0)).end).toBe("no");
});

test.each([
  ["env.bad-id", () => registerEnv({ id: "NoVersion", core: () => cartPole })],
  ["env.duplicate-id", () => registerEnv({ id: "CartPole-v1", core: () => cartPole })],
  ["env.bad-entry", () => registerEnv({ id: "Empty-v0" })],
  ["env.count", () => makeVectorEnv("CartPole-v1", { count: 0 })],
  ["env.count", () => makeVectorEnv("CartPole-v1", { count: 1.5 })],
  ["env.config", () => makeEnv("CartPole-v1", { config: { gravity: 1 } })],
  ["env.options", () => makeEnv("CartPole-v1", { maxSteps: 0 })],
])("fails with %s", (code, call) => {
  expect(failureFrom(call)?.code).toBe(code);
});
