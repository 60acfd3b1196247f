import { describe, expect, test } from "vitest";
import { parseWorkloadId, seconds, unwrap, type WorkloadId } from "../../src/base/index.ts";
import { FleetTraining, JointTraining, type Variant, variantNames, variants } from "../../src/control/agents/index.ts";
import { ensureController } from "../../src/control/fallbacks/index.ts";
import { type BadChoices, Fleet, usualBounds } from "../../src/control/tasks/functions/index.ts";
import { referenceKernels } from "../../src/learn/tensor/index.ts";
import {
  type FunctionProfile,
  type FunctionSpec,
  fluidServerlessWorld,
  functionMix,
  localInvokers,
  poissonPattern,
} from "../../src/sim/index.ts";

const invokers = localInvokers(2);
const step = seconds(10);
const id = (name: string): WorkloadId => unwrap(parseWorkloadId(name));

const specOf = (name: string, profile: FunctionProfile): FunctionSpec => ({
  id: id(name),
  profile,
  pattern: poissonPattern(profile, { invokers, functions: 4 }),
  initial: { shares: 1_024, memory: 512, containers: 10 },
});

const specs = functionMix(3).map((profile, i) => specOf(`f${i}`, profile));
const late = specOf("late", functionMix(4)[3] as FunctionProfile);

interface Parts {
  readonly badChoices: BadChoices;
  readonly functions: readonly FunctionSpec[];
}

const makeFleet = ({ badChoices = "masked", functions = specs }: Partial<Parts> = {}) =>
  new Fleet({
    id: "Test-v0",
    functions,
    badChoices,
    makeWorld: (rng, functions) => fluidServerlessWorld({ seed: rng.uint32(), invokers, functions, step }),
    controlStep: step,
    episodeSteps: 50,
  });

const train = (
  variant: Variant,
  parts: { readonly seed?: number; readonly ruled?: WorkloadId; readonly badChoices?: BadChoices } = {},
) =>
  new FleetTraining({
    fleet: makeFleet(parts.badChoices === undefined ? {} : { badChoices: parts.badChoices }),
    badChoices: parts.badChoices ?? "masked",
    variant,
    kernels: referenceKernels(),
    seed: parts.seed ?? 7,
    pool: { cores: 56, memory: 800_000 },
    bounds: usualBounds,
    groups: { names: ["even", "odd"], of: (workload) => (workload.endsWith("1") ? "odd" : "even") },
    rules: (workload) => (workload === parts.ruled ? ensureController() : undefined),
  });

describe("a fleet on a simulated platform", () => {
  const masking = variantNames.filter((name) => (variants[name] as Variant).algorithm === undefined);

  test.each(masking)("%s: all act, all learn, and what was proposed is done", (name) => {
    const training = train(variants[name]);
    const { agents, updates, reward } = training.episode({ learning: true });
    expect(agents.map(({ workload }) => workload)).toEqual(["f0", "f1", "f2"]);
    // One update of each, after the 50 steps of the episode.
    expect(updates).toBe(3);
    expect(Number.isFinite(reward)).toBe(true);
    for (const { decisions, asProposed } of agents) expect([decisions, asProposed]).toEqual([50, 50]);
  });

  test.each(["s-rl-dqn", "s-rl-ddpg"] as const)("%s: bad choices cost 1 and are not done, and it learns", (name) => {
    const training = train(variants[name], { badChoices: "penalised" });
    const before = training.learner(id("f0"))?.save() as Uint8Array;
    const episodes = [1, 2, 3].map(() => training.episode({ learning: true }));
    expect(training.learner(id("f0"))?.save()).not.toEqual(before);
    const done = episodes.flatMap(({ agents }) => agents);
    // Random choices undo the last one now and then.
    expect(done.some(({ asProposed }) => asProposed < 50)).toBe(true);
  });

  test("one policy decides for two or three at once, what it says is done, and four are too many", () => {
    const joint = (functions: readonly FunctionSpec[]) =>
      new JointTraining({ fleet: makeFleet({ functions }), kernels: referenceKernels(), seed: 7 });
    const training = joint(specs.slice(0, 2));
    // Seven choices each make 49, which follow seven features of each.
    expect(training.learner.shape).toMatchObject({ obs: 14 + 49, action: { kind: "discrete", n: 49 } });
    const { agents, updates } = training.episode({ learning: true });
    expect(updates).toBe(1);
    for (const { decisions, asProposed } of agents) expect([decisions, asProposed]).toEqual([50, 50]);
    expect(() => joint([...specs, late])).toThrow("too many to decide for at once");
  });

  test("same seed, same bytes; another seed, others", () => {
    const play = (seed: number): string => {
      const training = train(variants.simppo, { seed });
      const rewards = [1, 2].map(() => training.episode({ learning: true }).reward);
      const weights = training.learner(id("f1"))?.save() as Uint8Array;
      return `${rewards.join(" ")} ${Buffer.from(weights).toString("base64")}`;
    };
    const first = play(7);
    expect(play(7)).toBe(first);
    expect(play(8)).not.toBe(first);
  });

  test("one joins with the model of its kind, another leaves, and the rest goes on", () => {
    const training = train({ ...variants.simppo });
    for (let i = 0; i < 20; i++) training.episode({ steps: 50, learning: true });
    const base = training.learner(id("f0"))?.save() as Uint8Array;
    training.join(late);
    training.leave(id("f1"));
    expect(training.learner(id("late"))?.save()).toEqual(base);
    const { agents } = training.episode({ learning: true });
    expect(agents.map(({ workload }) => workload)).toEqual(["f0", "f2", "late"]);
    expect(training.coordinator.members().map(({ agent }) => agent)).toEqual(["f0", "f2", "late"]);
  });

  test("rules are members too: they act by their own and the others see them", () => {
    const training = train(variants.simppo, { ruled: id("f1") });
    const { agents, updates } = training.episode({ learning: true });
    expect(agents).toHaveLength(3);
    expect(updates).toBe(2);
    expect(training.learner(id("f1"))).toBeUndefined();
    // Of f0's others, f1 and f2, the mean SLO preservation is number 5: somebody is there.
    expect(unwrap(training.coordinator.globalState(id("f0")))[4]).toBeGreaterThan(0);
  });

  test("a controller that acts in turns serves as many as have time, the worst off first", () => {
    const turn = { takes: seconds(5), inTurn: true };
    const training = train({ ...variants["cpq-rl"], turn });
    const { agents } = training.episode({ learning: true });
    // Two turns of five seconds in a step of ten: of 3 × 50 possible decisions 100 are made.
    expect(agents.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(100);
  });
});
