import { expect, test } from "vitest";
import { checkEnv, type Env, envIds, makeEnv } from "../../learn/env/index.ts";
import { knownEnvs, loadEnv } from "./catalog.ts";

test("every environment that is listed can be loaded and made", async () => {
  for (const { id } of knownEnvs()) {
    await loadEnv(id);
    expect(makeEnv(id).spec.id).toBe(id);
  }
});

test("a classic environment loads nothing else", async () => {
  const before = envIds();
  await loadEnv("CartPole-v1");
  expect(envIds()).toEqual(before);
});

test.each(["AutoscaleFluid-v0", "Mitigation-v0", "FunctionsFluid-v0", "FunctionsEvent-v0"])(
  "%s is a sound environment",
  async (id) => {
    await loadEnv(id);
    const make = () => makeEnv<unknown, unknown>(id) as Env<unknown, unknown>;
    expect(checkEnv(make, { steps: 10 })).toEqual([]);
  },
);
