import { expect, test } from "vitest";
import { referenceKernels } from "../learn/tensor/index.ts";
import { rlAcrobot } from "./rl-acrobot.ts";
import { rlCartPole } from "./rl-cartpole.ts";
import { rlMountainCar } from "./rl-mountaincar.ts";
import { rlPendulum } from "./rl-pendulum.ts";
import type { RlConfig, RlResult } from "./rl-training.ts";
import type { StudyJob, UnitResult } from "./study.ts";

const all = [rlCartPole, rlPendulum, rlAcrobot, rlMountainCar];

function jobOf(config: RlConfig, unit: string): StudyJob<RlConfig> {
  const { signal } = new AbortController();
  const model = () => new Uint8Array(0);
  return { seed: 1001, unit, config, kernels: referenceKernels(), progress: () => {}, signal, model };
}

/** The study's own config with everything that costs time made small. */
function tiny(config: RlConfig): RlConfig {
  const units = Object.entries(config.units).map(([name, unit]) => {
    const { algorithm } = unit;
    const small = { ...algorithm.config, hidden: [8] };
    return [name, { totalSteps: 400, algorithm: { kind: algorithm.kind, config: small } as typeof algorithm }];
  });
  return {
    ...config,
    checkpoints: 2,
    episodes: 1,
    finalEpisodes: 2,
    units: Object.fromEntries(units) as RlConfig["units"],
  };
}

for (const study of all) {
  test(`${study.id} trains every unit, gives plain JSON, and the same for the same seed`, async () => {
    const config = tiny(study.config({ quick: true }));
    for (const unit of study.units(config)) {
      const first = await study.runUnit(jobOf(config, unit));
      expect(first.curve.map((p) => p.steps)).toEqual([200, 400]);
      expect(JSON.parse(JSON.stringify(first))).toEqual(first);
      expect(await study.runUnit(jobOf(config, unit))).toEqual(first);
    }
  });

  test(`${study.id} evaluates at whole steps, with at least twenty episodes and ten seeds in a full run`, () => {
    const config = study.config({ quick: false });
    expect(study.seeds.full).toBeGreaterThanOrEqual(10);
    expect(config.episodes).toBeGreaterThanOrEqual(20);
    for (const { totalSteps } of Object.values(config.units)) expect(totalSteps % config.checkpoints).toBe(0);
    for (const { totalSteps } of Object.values(study.config({ quick: true }).units)) expect(totalSteps % 5).toBe(0);
  });
}

test("a run without options takes seeds that no setting failed or was chosen on", () => {
  for (const { seeds } of all) {
    const first = seeds.first ?? 1;
    expect(first).toBeGreaterThan(20);
    expect(first + seeds.full).toBeLessThan(1000);
  }
});

test("rows rest on the interval over seeds: one lucky seed does not make a claim hold", () => {
  const config = rlCartPole.config({ quick: false });
  const result = (final: number, reachedAt: number): RlResult => ({
    curve: [50_000, 100_000].map((steps) => ({ steps, mean: steps >= reachedAt ? 500 : 100 })),
    final,
  });
  const results = (finals: readonly number[], reachedAt: number): UnitResult<RlResult>[] =>
    ["ppo", "dqn"].flatMap((unit) =>
      finals.map((final, i) => ({ seed: i + 1, unit, result: result(final, reachedAt) })),
    );
  const good = rlCartPole.rows(results([500, 500, 499, 490, 500, 500, 500, 500, 500, 500], 50_000), config);
  expect(good.map((row) => [row.id, row.holds])).toEqual([
    ["ppo-final", true],
    ["ppo-steps", true],
    ["dqn-final", true],
    ["dqn-steps", true],
  ]);
  expect(good[1]?.ours).toMatchObject({ mean: 50_000, lo: 50_000, hi: 50_000, n: 10 });
  const mixed = rlCartPole.rows(results([500, 100, 100, 490, 500, 100, 500, 500, 100, 500], 300_000), config);
  expect(mixed.map((row) => row.holds)).toEqual([false, false, false, false]);
  // Never reached within 100,000 steps counts as 200,000.
  expect(mixed[1]?.ours.mean).toBe(200_000);
});

test("an aborted job stops", async () => {
  const config = tiny(rlCartPole.config({ quick: true }));
  const job = { ...jobOf(config, "dqn"), signal: AbortSignal.abort(new Error("stopped")) };
  await expect(rlCartPole.runUnit(job)).rejects.toThrow("stopped");
});
