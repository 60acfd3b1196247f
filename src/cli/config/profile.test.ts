import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { CodedError, mebibytes, seconds, unwrap } from "../../base/index.ts";
import { lifecycleOf } from "../../control/lifecycle/index.ts";
import { mostPerEpisode, profileLimits, profileTask } from "../../control/tasks/pods/index.ts";
import { loadProfiles, parseProfile } from "./profile.ts";
import { profileYaml } from "./profile-text.ts";

const least = [
  "workload: shop",
  "slo: { latency: { targetMs: 250 } }",
  "bounds:",
  "  replicas: { max: 12 }",
  "  cpu: { min: 100m, max: 4 }",
  "  memory: { min: 128Mi, max: 2Gi }",
];
/** The least profile with lines replaced (from 1) or added. */
function withLines(lines: Readonly<Record<number, string>>, ...added: readonly string[]): string {
  return [...least.map((line, index) => lines[index + 1] ?? line), ...added, ""].join("\n");
}
function refusalOf(text: string): { readonly code: string; readonly message: string } {
  try {
    parseProfile(text, "shop.yaml");
  } catch (thrown) {
    if (thrown instanceof CodedError) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error("it was accepted");
}

describe("a profile", () => {
  test("says little and means a lot", () => {
    expect(parseProfile(withLines({}), "shop.yaml")).toEqual({
      workload: "shop",
      slo: { kind: "latency", quantile: 0.99, target: 250 },
      objective: "cost",
      attainment: 0.99,
      bounds: {
        replicas: { min: 1, max: 12 },
        cpu: { min: 100, max: 4000 },
        memory: { min: mebibytes(128), max: mebibytes(2048) },
      },
      guard: {
        step: {
          replicas: { absolute: 4, relative: 1, down: 1 },
          cpu: { absolute: 250, relative: 1, down: 0.5 },
          memory: { absolute: mebibytes(128), relative: 1, down: 0.5 },
        },
        cooldown: {
          replicas: { up: 0, down: seconds(60) },
          cpu: { up: 0, down: seconds(60) },
          memory: { up: 0, down: seconds(60) },
        },
        disruption: { members: 12, window: seconds(600) },
      },
      utilisation: { cpu: 1, memory: 1 },
      reward: {
        alpha: 0.5,
        headroom: 0.05,
        switchCost: 0.5,
        thresholds: {
          online: { kind: "absolute", value: 0 },
          serving: { kind: "absolute", value: 0 },
          deviation: { kind: "absolute", value: 50 },
        },
      },
      bootstrap: true,
      stakes: "normal",
      risk: 0,
      // The careful way round: nothing is carried out until somebody says so.
      mode: "recommend",
      controlStep: seconds(15),
      episodeSteps: 100,
    });
  });

  test("by the paper's reward has thresholds relative to the fallback, as it has where there is a shared model", () => {
    const thresholds = {
      online: { kind: "fallback", times: 1, plus: 0 },
      serving: { kind: "fallback", times: 1.05, plus: 0 },
      deviation: { kind: "fallback", times: 1.5, atLeast: 5 },
    };
    for (const line of ["objective: paper", "sharedModel: runs/pool-200"])
      expect(parseProfile(withLines({}, line), "shop.yaml")).toMatchObject({
        objective: "paper",
        reward: { thresholds },
      });
  });

  test("may want the least energy, the least carbon or a mix, all judged by what they save", () => {
    const online = { kind: "absolute", value: 0 };
    expect(parseProfile(withLines({}, "objective: energy"), "shop.yaml")).toMatchObject({
      objective: "energy",
      reward: { thresholds: { online } },
    });
    expect(parseProfile(withLines({}, "objective: carbon", "carbonIntensity: 380"), "shop.yaml")).toMatchObject({
      objective: "carbon",
      carbonIntensity: [380],
      reward: { thresholds: { online } },
    });
    // Who gives weights means them.
    const hours = Array.from({ length: 24 }, (_, hour) => 200 + hour);
    const mixed = parseProfile(
      withLines({}, "weights: { cost: 1, carbon: 0.5 }", `carbonIntensity: [${hours}]`),
      "shop.yaml",
    );
    expect(mixed).toMatchObject({
      objective: "weights",
      weights: { cost: 1, energy: 0, carbon: 0.5 },
      carbonIntensity: hours,
    });
    expect(parseProfile(profileYaml(mixed), "again.yaml")).toEqual(mixed);
  });

  test("may say the paper's thresholds, a throughput, and all else", () => {
    const text = withLines(
      { 2: "slo: { throughput: { targetPerSecond: 100 } }" },
      "objective: paper",
      "attainment: 0.995",
      "utilisation: { cpu: 0.8 }",
      "reward:",
      "  { alpha: 0.7, headroom: 0, switchCost: 0, thresholds: { online: 130, serving: { belowConverged: 5 }, deviation: 5 } }",
      "bootstrap: false",
      "stakes: high",
      "risk: 2",
      "mode: act",
      "controlStepSeconds: 30",
    );
    expect(parseProfile(text, "shop.yaml")).toMatchObject({
      slo: { kind: "throughput", target: 100 },
      objective: "paper",
      attainment: 0.995,
      utilisation: { cpu: 0.8, memory: 1 },
      reward: {
        alpha: 0.7,
        headroom: 0,
        switchCost: 0,
        thresholds: {
          online: { kind: "absolute", value: 130 },
          serving: { kind: "converged", below: 5 },
          deviation: { kind: "absolute", value: 5 },
        },
      },
      bootstrap: false,
      stakes: "high",
      risk: 2,
      mode: "act",
      controlStep: 30_000,
    });
    expect(parseProfile(withLines({ 2: "slo: none" }), "shop.yaml").slo).toEqual({ kind: "none" });
  });

  test.each([
    { written: "{ min: 0.1, max: 2 }", means: { min: 100, max: 2000 } },
    { written: '{ min: "250m", max: "1.5" }', means: { min: 250, max: 1500 } },
  ])("gives CPU as $written", ({ written, means }) => {
    expect(parseProfile(withLines({ 5: `  cpu: ${written}` }), "shop.yaml").bounds.cpu).toEqual(means);
  });

  test.each([
    { written: "{ min: 1000000, max: 1G }", means: { min: 1e6, max: 1e9 } },
    { written: "{ min: 64Ki, max: 1.5Gi }", means: { min: 65_536, max: 1.5 * 2 ** 30 } },
  ])("gives memory as $written", ({ written, means }) => {
    expect(parseProfile(withLines({ 6: `  memory: ${written}` }), "shop.yaml").bounds.memory).toEqual(means);
  });

  test.each([
    [],
    ["objective: paper", "reward: { thresholds: { online: 130, serving: { belowConverged: 5 }, deviation: 5 } }"],
    ["attainment: 0.9999", "mode: act"],
    ["reward: { thresholds: { serving: { timesFallback: 0.9, plus: 3 }, deviation: { timesFallback: 2 } } }"],
    ["controlStepSeconds: 7.5", "utilisation: { cpu: 0.7 }", "stakes: high", "episodeSteps: 40"],
    ["bootstrap: false", "reward: { thresholds: { serving: 60 } }"],
    ["sharedModel: runs/pool-200", "stakes: high"],
    ["guard: { cpu: { step: 100m, up: 0.5, cooldownDownSeconds: 300 }, disruption: { pods: 3, windowMinutes: 5 } }"],
  ])("printed with all that was left out is the same profile (%#)", (...added) => {
    const sized = {
      2: "slo: { latency: { quantile: 0.999, targetMs: 12.5 } }",
      6: "  memory: { min: 1000001, max: 3Gi }",
    };
    for (const text of [withLines({}, ...added), withLines(sized, ...added), withLines({ 2: "slo: none" }, ...added)]) {
      const profile = parseProfile(text, "shop.yaml");
      expect(parseProfile(profileYaml(profile), "printed.yaml")).toEqual(profile);
    }
  });

  test("is frozen to the last leaf", () => {
    const profile = parseProfile(withLines({}), "shop.yaml");
    expect(() => {
      (profile.bounds.cpu as { max: number }).max = 9;
    }).toThrow(TypeError);
  });
});

describe("refused with line, field and reason:", () => {
  test.each([
    {
      what: "a threshold that no episode can reach",
      text: withLines({}, "objective: paper", "reward:", "  thresholds:", "    online: 250"),
      says: "shop.yaml:10: reward.thresholds.online can never be met: an episode earns at most 200, and 250 is asked for",
    },
    {
      what: "the same by shorter episodes",
      text: withLines({}, "episodeSteps: 50", "reward: { thresholds: { serving: 60 } }"),
      says: "shop.yaml:8: reward.thresholds.serving can never be met: an episode earns at most 50, and 60 is asked for",
    },
    {
      what: "a lead over the fallback that nobody can have",
      text: withLines({}, "reward: { thresholds: { serving: { timesFallback: 1, plus: 101 } } }"),
      says: "shop.yaml:7: reward.thresholds.serving can never be met: an episode earns at most 100, and 101 more than the fallback is asked for",
    },
    {
      what: "rewards that may not vary",
      text: withLines({}, "reward:", "  thresholds: { deviation: 0 }"),
      says: "shop.yaml:8: reward.thresholds.deviation can never be met: rewards under a changing load always vary, give more than 0",
    },
    {
      what: "a policy that has to have converged before it acts",
      text: withLines({}, "reward: { thresholds: { online: { belowConverged: 5 } } }"),
      says: "shop.yaml:7: reward.thresholds.online cannot be relative to a converged policy",
    },
    {
      what: "a life without the fallback, with a threshold (the usual one) that only the fallback could give",
      text: withLines({}, "objective: paper", "bootstrap: false"),
      says: "shop.yaml:8: bootstrap cannot be false while the serving threshold is relative to the fallback",
    },
    {
      what: "the same, with a deviation that only the fallback could give",
      text: withLines(
        {},
        "bootstrap: false",
        "reward: { thresholds: { serving: 30, deviation: { timesFallback: 2 } } }",
      ),
      says: "shop.yaml:7: bootstrap cannot be false while the deviation is relative to the fallback alone",
    },
    {
      what: "an on-policy learner that would have to learn from the fallback",
      text: withLines({}, "bootstrap: true", "learner: { kind: ppo }"),
      says: "shop.yaml:7: bootstrap must be false here: the learner 'ppo' learns from its own steps only",
    },
    {
      what: "an on-policy learner that would be retrained while the fallback acts",
      text: withLines(
        {},
        "stakes: high",
        "learner: { kind: ppo }",
        "bootstrap: false",
        "reward: { thresholds: { serving: 30 } }",
      ),
      says: "shop.yaml:7: stakes must be normal here: the learner 'ppo' learns from its own steps only",
    },
    {
      what: "a shared model that was trained for another reward",
      text: withLines({}, "objective: cost", "sharedModel: runs/pool-200"),
      says: "shop.yaml:7: objective must be paper where there is a sharedModel",
    },
    {
      what: "a risk beside the error budget",
      text: withLines({}, "risk: 2"),
      says: "shop.yaml:7: risk must be left out where the objective is cost",
    },
    {
      what: "carbon without a grid",
      text: withLines({}, "objective: carbon"),
      says: "carbonIntensity must be given where carbon counts: grams of CO2 per kWh, one number or 24",
    },
    {
      what: "a grid for half of a day",
      text: withLines({}, "objective: carbon", "carbonIntensity: [400, 300]"),
      says: "shop.yaml:8: carbonIntensity must be grams of CO2 per kWh, one number or 24",
    },
    {
      what: "a grid that is a word",
      text: withLines({}, "objective: carbon", "carbonIntensity: clean"),
      says: "shop.yaml:8: carbonIntensity must be grams of CO2 per kWh: one number, or a list of 24",
    },
    {
      what: "weights beside an objective of its own",
      text: withLines({}, "objective: energy", "weights: { cost: 1 }"),
      says: "shop.yaml:8: weights must be left out where the objective is energy",
    },
    {
      what: "weights of nothing",
      text: withLines({}, "weights: { cost: 0 }"),
      says: "shop.yaml:7: weights must be numbers of 0 or more, and one of them more than 0",
    },
    {
      what: "an SLO that is never missed",
      text: withLines({}, "attainment: 1"),
      says: "shop.yaml:7: attainment is not valid:",
    },
    {
      what: "none of what the fallback earns",
      text: withLines({}, "reward: { thresholds: { online: { timesFallback: 0, plus: 9 } } }"),
      says: "shop.yaml:7: reward.thresholds.online must be a factor of more than 0, and is 0 times what the fallback earns",
    },
    {
      what: "bounds the wrong way round",
      text: withLines({ 5: "  cpu: { min: 4, max: 100m }" }),
      says: "shop.yaml:5: bounds.cpu.max must be at least min, which is 4000, and is 100",
    },
    {
      what: "an amount that is none",
      text: withLines({ 6: "  memory: { min: 128Mi, max: lots }" }),
      says: "shop.yaml:6: bounds.memory.max must be memory in bytes, or with a unit such as 512Mi or 2G, found 'lots'",
    },
    {
      what: "less than a millicore",
      text: withLines({ 5: "  cpu: { min: 0.0001, max: 1 }" }),
      says: "shop.yaml:5: bounds.cpu.min must be CPU in cores or millicores, such as 1.5 or 250m, found '0.0001'",
    },
    {
      what: "a quantile of everything",
      text: withLines({ 2: "slo: { latency: { quantile: 1, targetMs: 250 } }" }),
      says: "shop.yaml:2: slo.latency.quantile is not valid: expected number to be <=0.99999",
    },
    {
      what: "a target that nothing can keep",
      text: withLines({ 2: "slo: { latency: { quantile: 0.99, targetMs: 5e-324 } }" }),
      says: "shop.yaml:2: slo.latency.targetMs is not valid: expected number to be >=0.01",
    },
    {
      what: "two SLOs at once",
      text: withLines({ 2: "slo: { latency: { targetMs: 250 }, throughput: { targetPerSecond: 3 } }" }),
      says: "shop.yaml:2: slo must be 'none', or one of",
    },
    {
      what: "an SLO of another kind",
      text: withLines({ 2: "slo: fast" }),
      says: "shop.yaml:2: slo must be 'none', or one of",
    },
    {
      what: "a name that cannot be one",
      text: withLines({ 1: "workload: ../shop" }),
      says: "shop.yaml:1: workload must be a name:",
    },
    {
      what: "a mode that does not exist",
      text: withLines({}, "mode: yolo"),
      says: "shop.yaml:7: mode is not valid:",
    },
    {
      what: "nothing said about bounds",
      text: "workload: shop\nslo: none\n",
      says: "shop.yaml:1: bounds is not valid: expected object, received undefined",
    },
  ])("$what", ({ text, says }) => {
    const { code, message } = refusalOf(text);
    expect(code).toBe("config.invalid");
    expect(message).toContain(says);
    expect(message.split("\n")).toHaveLength(1);
  });

  test("a key that is misspelt, with the right one", () => {
    expect(refusalOf(withLines({}, "reward:", "  aplha: 0.7"))).toEqual({
      code: "config.unknown-key",
      message: "shop.yaml:8: unknown key 'aplha' in 'reward'; did you mean 'alpha'?",
    });
    expect(refusalOf(withLines({}, "booststrap: true")).message).toContain("did you mean 'bootstrap'?");
    expect(refusalOf(withLines({ 2: "slo: { latency: { percentile: 99, targetMs: 250 } }" }))).toEqual({
      code: "config.unknown-key",
      message: "shop.yaml:2: unknown key 'percentile' in 'slo.latency'; its keys are quantile, targetMs",
    });
  });

  test("every problem, not just the first", () => {
    const { message } = refusalOf(withLines({ 2: "slo: fast" }, "mode: yolo", "stakes: none"));
    expect(message.split("\n").map((line) => line.slice(0, 12))).toEqual([
      "shop.yaml:2:",
      "shop.yaml:8:",
      "shop.yaml:7:",
    ]);
  });
});

test("its parts are what the task, the guard and the lifecycle take", () => {
  const profile = parseProfile(
    withLines({}, "stakes: high", "reward: { alpha: 0.7, headroom: 0.1 }", "episodeSteps: 50"),
    "shop.yaml",
  );
  const task = unwrap(profileTask(profile));
  expect(task).toMatchObject({ alpha: 0.7, headroom: 0.1, switchCost: 0.5, slo: profile.slo, episodeSteps: 50 });
  expect(task).toMatchObject({ features: "modelled", actions: "residual", objective: "cost", attainment: 0.99 });
  const byCarbon = { ...profile, objective: "carbon", carbonIntensity: [400] } as const;
  expect(unwrap(profileTask(byCarbon))).toMatchObject({
    actions: "residual",
    objective: "carbon",
    carbonIntensity: [400],
  });
  expect(unwrap(profileTask({ ...profile, objective: "paper" }))).toMatchObject({
    features: "extended",
    actions: "demand",
  });
  const { knobs } = unwrap(profileLimits(profile));
  expect(knobs[1]).toMatchObject({
    name: "cpu",
    step: { absolute: 250, up: 1, down: 0.5 },
    cooldown: { down: 60_000 },
  });
  expect(Object.fromEntries(knobs.map(({ name, bounds }) => [name, bounds]))).toEqual(profile.bounds);
  const maxReward = mostPerEpisode(profile);
  expect(unwrap(lifecycleOf(profile, { maxReward }))).toMatchObject({
    stakes: "high",
    mode: "recommend",
    maxReward: 50,
  });
});

test("whatever thresholds are asked for, the check accepts none that the lifecycle would refuse", () => {
  const amount = fc.oneof(fc.integer({ min: -20, max: 260 }), fc.constantFrom(0, 0.5, 200));
  const level = fc.oneof(
    amount,
    fc.record({ timesFallback: amount, plus: amount }),
    fc.record({ belowConverged: amount }),
  );
  const spread = fc.oneof(amount, fc.record({ timesFallback: amount, atLeast: amount }));
  const thresholds = fc.record({ online: level, serving: level, deviation: spread }, { requiredKeys: [] });
  const outcomes = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(fc.boolean(), thresholds, (bootstrap, asked) => {
      const text = withLines({}, `bootstrap: ${bootstrap}`, `reward: { thresholds: ${JSON.stringify(asked)} }`);
      let profile: ReturnType<typeof parseProfile>;
      try {
        profile = parseProfile(text, "shop.yaml");
      } catch (thrown) {
        outcomes.refused += 1;
        const lines = (thrown as CodedError).message.split("\n");
        for (const line of lines) expect(line).toMatch(/^shop\.yaml:[78]: (?:bootstrap|reward\.thresholds\.\w+)/);
        return;
      }
      outcomes.accepted += 1;
      expect(lifecycleOf(profile, { maxReward: mostPerEpisode(profile) })).toMatchObject({ ok: true });
    }),
    { numRuns: 300 },
  );
  expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(20);
});

test("two profiles of one workload are refused, with both places", () => {
  const cwd = temporaryFolder("profile");
  writeFileSync(join(cwd, "a.yaml"), withLines({}));
  writeFileSync(join(cwd, "b.yaml"), `# a copy\n${withLines({})}`);
  expect(loadProfiles(["a.yaml"], cwd)).toMatchObject([{ file: "a.yaml", profile: { workload: "shop" } }]);
  expect(() => loadProfiles(["a.yaml", "b.yaml"], cwd)).toThrow(
    "b.yaml:2: workload 'shop' has a profile in a.yaml already; keep one of the two",
  );
});

test("the example of the guide is the one in examples/, and is accepted", () => {
  const example = readFileSync("examples/shop-profile.yaml", "utf8");
  expect(parseProfile(example, "examples/shop-profile.yaml").workload).toBe("shop");
  expect(readFileSync("docs/guide/profile.md", "utf8")).toContain(example.slice(example.indexOf("workload:")));
});
