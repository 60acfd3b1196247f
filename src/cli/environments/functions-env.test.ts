import { afterEach, expect, test, vi } from "vitest";
import { DATASETS_VARIABLE, locateDataset } from "../../adapters/datasets/index.ts";
import type { Env } from "../../learn/env/index.ts";
import { functionsEntry } from "./functions-env.ts";

const [OUT, IN, CONTAINERS] = [5, 6, 6] as const;
const make = async (config: Record<string, unknown>) =>
  (await functionsEntry("fluid")).env?.(config) as Env<Float32Array, number>;

afterEach(() => {
  vi.unstubAllEnvs();
});

test("in the paper's arm, undoing the last choice does nothing and costs 1", async () => {
  const run = async (second: number) => {
    const env = await make({ badChoices: "penalised" });
    env.reset({ seed: 1_000 });
    const first = env.step(OUT);
    return { first, next: env.step(second) };
  };
  const [held, undone] = [await run(0), await run(IN)];
  expect(undone.next.obs[CONTAINERS]).toBe(undone.first.obs[CONTAINERS]);
  // The same world, the same setting: what is earned differs by the penalty.
  expect(undone.next.obs).toEqual(held.next.obs);
  expect(undone.next.reward).toBeCloseTo(held.next.reward - 1, 12);
});

test("by default the same is masked: it is in the observation that it may not be done", async () => {
  const env = await make({});
  env.reset({ seed: 1_000 });
  expect([...env.step(OUT).obs.slice(7)]).toEqual([1, 1, 1, 1, 1, 1, 0]);
});

test("without the data set, only recorded rates are refused, and the sentence says what to get", async () => {
  vi.stubEnv(DATASETS_VARIABLE, "");
  await expect(make({ pattern: "recorded" })).rejects.toThrow("azure-functions-2019");
  expect((await make({})).reset({ seed: 1_000 }).obs).toHaveLength(14);
});

test.skipIf(!locateDataset("azure-functions-2019").ok)(
  "recorded rates are heavy-tailed: most steps are quiet",
  async () => {
    const env = await make({ pattern: "recorded", function: "html-gen" });
    env.reset({ seed: 1_000 });
    const cpu = Array.from({ length: 50 }, () => env.step(0).obs[1] as number).sort((a, b) => a - b);
    expect(cpu[25]).toBeLessThan(0.3);
    expect(cpu[49]).toBeGreaterThan(3 * (cpu[25] as number));
  },
);

test("settings that are not known are refused by name", async () => {
  await expect(make({ functoin: "primes" })).rejects.toThrow("FunctionsFluid-v0");
});
