/** Single-agent PPO on one serverless function, and ENSURE on a platform of twelve: tasks, fallbacks and worlds together. */
import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, seconds, seededRng, unwrap } from "../../src/base/index.ts";
import { loadEnv } from "../../src/cli/environments/catalog.ts";
import { ensureController, ensureUtil } from "../../src/control/fallbacks/index.ts";
import { functionChoices, functionsPpo } from "../../src/control/tasks/functions/index.ts";
import { makeEnv } from "../../src/learn/env/index.ts";
import { Training } from "../../src/learn/rl/index.ts";
import { referenceKernels } from "../../src/learn/tensor/index.ts";
import {
  functionMix,
  type InvocationPattern,
  localInvokers,
  poissonPattern,
  serverlessWorld,
} from "../../src/sim/index.ts";

const id = "FunctionsFluid-v0";
const config = { function: "primes" };
const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Mean return of a policy over episodes that nothing was trained on. */
function returnOf(choose: (obs: Float32Array) => number): number {
  const env = makeEnv<Float32Array, number>(id, { config });
  const returns = Array.from({ length: 8 }, (_, episode) => {
    let { obs } = env.reset({ seed: 9_000 + episode });
    let sum = 0;
    for (let end = "no"; end === "no"; ) {
      const step = env.step(choose(obs));
      sum += step.reward;
      ({ obs, end } = step);
    }
    return sum;
  });
  return mean(returns);
}

test("PPO learns to scale a function: a quarter more than leaving it as it was, or than any choice at random", async () => {
  await loadEnv(id);
  const episodes = 120;
  const training = new Training({
    envId: id,
    envConfig: config,
    algorithm: { kind: "ppo", config: functionsPpo() },
    seed: 1_000,
    kernels: referenceKernels(),
    totalSteps: episodes * 50,
  });
  training.advance(episodes * 50);
  const learned = returnOf((obs) => unwrap(training.learner.act(obs, { explore: true })).action[0] as number);
  training.dispose();
  const held = returnOf(() => 0);
  const draws = seededRng(1_004);
  const random = returnOf((obs) => {
    const allowed = [...functionChoices.keys()].filter((choice) => (obs[7 + choice] as number) > 0.5);
    return allowed[draws.int(allowed.length)] as number;
  });
  process.stdout.write(
    `return of an episode: held ${held.toFixed(1)}, random ${random.toFixed(1)}, PPO ${learned.toFixed(1)}\n`,
  );
  expect(learned).toBeGreaterThan(1.25 * held);
  expect(learned).toBeGreaterThan(1.25 * random);
});

/** The same mean in every step: rules that look at the last step know the next. */
const steady = (pattern: InvocationPattern): InvocationPattern =>
  pattern.kind === "poisson" ? { kind: "flat", rate: pattern.most / 2 } : pattern;

test("ENSURE brings twelve functions that begin with one container each to where they are answered in time", () => {
  const invokers = localInvokers();
  const profiles = functionMix(12);
  const functions = profiles.map((profile, i) => ({
    id: unwrap(parseWorkloadId(`f${i}`)),
    profile,
    pattern: steady(poissonPattern(profile, { invokers, functions: 12 })),
    initial: { shares: 512, memory: 256, containers: 1 },
  }));
  /** Late or not answered at all, of all that came after two minutes; and containers at the end. */
  const run = (rules?: ReturnType<typeof ensureController>) => {
    const world = serverlessWorld({ seed: 1_003, invokers, functions, step: seconds(10) });
    const states = new Map(functions.map((one) => [one.id, rules?.start()]));
    const sums = { arrived: 0, missed: 0 };
    for (let step = 1; step <= 60; step++) {
      world.advance(seconds(10 * step));
      for (const { id: workload } of functions) {
        const truth = world.truth(workload);
        if (step > 12) {
          sums.arrived += truth.arrived;
          sums.missed += truth.late + truth.dropped + truth.refused + truth.killed;
        }
        const state = states.get(workload);
        if (rules === undefined || state === undefined) continue;
        const decided = rules.step(state, world.read(workload), milliseconds(world.now));
        states.set(workload, decided.state);
        unwrap(world.apply(workload, decided.want));
      }
    }
    return sums.missed / sums.arrived;
  };
  const [alone, ensured, relaxed] = [run(), run(ensureController()), run(ensureController(ensureUtil))];
  process.stdout.write(
    `missed: as they were ${(100 * alone).toFixed(0)} %, ENSURE ${(100 * ensured).toFixed(0)} %, ENSURE-Util ${(100 * relaxed).toFixed(0)} %\n`,
  );
  expect(alone).toBeGreaterThan(0.6);
  expect(ensured).toBeLessThan(0.1);
  expect(relaxed).toBeLessThan(0.1);
});
