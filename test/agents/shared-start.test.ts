import { beforeAll, describe, expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { err, failure, ok, unwrap } from "../../src/base/index.ts";
import { modelForTask } from "../../src/control/lifecycle/familiarity.ts";
import { bandOf, canaryBand } from "../../src/control/lifecycle/lifecycle.ts";
import { thresholdLevels } from "../../src/control/lifecycle/prospects.ts";
import { agentTrainingKinds } from "../../src/control/lifecycle/training-task.ts";
import { autoscaleLearner, podsTask, podsTaskName } from "../../src/control/tasks/pods/index.ts";
import {
  encodePretrained,
  openSharedModel,
  type PretrainedModel,
  type SharedModel,
} from "../../src/learn/meta/index.ts";
import type { Learner } from "../../src/learn/rl/index.ts";
import { tinyModel } from "../fixtures/meta/tiny-model.ts";
import type { RigOptions } from "./rig.ts";
import { fallbackWants, profile, Rig, task, workload } from "./rig.ts";

const kernels = loadKernels();
/** Of the rig's task. */
const EPISODE = 10;

let model: PretrainedModel;
let shared: SharedModel;
beforeAll(async () => {
  model = await tinyModel();
  shared = unwrap(openSharedModel(encodePretrained(model), kernels));
});

type Options = RigOptions;

function sharedRig(options: Options = {}, from: SharedModel = shared): Rig {
  return new Rig({
    shared: ok(from),
    createLearner: (attempt) => autoscaleLearner({ kernels, task, seed: 1 + attempt, shared: from }),
    ...options,
  });
}

/** Episodes of steps with training between them, and who acted in each of their last steps. */
function live(rig: Rig, episodes: number): string[] {
  return Array.from({ length: episodes }, () => {
    // No two are the same: what is seen twice is taken for remembered.
    rig.world.demand += 1;
    const ticks = rig.steps(EPISODE);
    rig.agent.train({ updates: 4 });
    return `${ticks.at(-1)?.who}: ${ticks.at(-1)?.why[0]?.rule}`;
  });
}

const told = (rig: Rig, name: string) => rig.events.filter((event) => event.name === name).map((e) => e.evidence);

describe("an agent with a shared model", () => {
  test("lets its policy act at once within canary, shield and guard, and says that it does not know the workload yet", () => {
    const rig = sharedRig();
    const [first] = rig.steps(1);
    expect(rig.path).toEqual(["INITIALIZED→ONLINE"]);
    expect(rig.agent.state.history[0]).toMatchObject({ because: "shared-policy", evidence: [{ holds: true }] });
    expect(first).toMatchObject({ who: "learner", stage: "ONLINE" });
    expect(first?.why.map(({ by, rule }) => `${by}: ${rule}`)).toEqual(
      expect.arrayContaining(["lifecycle: training", "canary: band", "domain-match: neutral-embedding"]),
    );
    expect(told(rig, "embedding")).toMatchObject([
      { state: "neutral", model: shared.identity, embedding: [], kin: [], why: expect.stringContaining("0 of the 3") },
    ]);
  });

  test("takes nothing away that the fallback would give before that was seen to act, and widens no band for it", () => {
    const rig = sharedRig();
    const ticks = rig.steps(2 * EPISODE);
    expect(ticks.every(({ who }) => who === "learner")).toBe(true);
    for (const { recommended } of ticks) {
      expect(recommended?.replicas).toBeGreaterThanOrEqual(fallbackWants.replicas);
      expect(recommended?.cpu).toBeGreaterThanOrEqual(fallbackWants.cpu);
      expect(recommended?.memory).toBeGreaterThanOrEqual(fallbackWants.memory);
    }
    expect(told(rig, "canary")).toEqual([]);
    expect(canaryBand(profile, rig.agent.state)).toBe(profile.gates.canary?.start);
    // Then it is measured, and the canary begins.
    live(rig, 3);
    expect(bandOf(profile, rig.agent.state, { hasCeiling: true }).below).toBeGreaterThan(0);
  });

  test("learns for high stakes who it works for from what the fallback does, which acts", () => {
    const rig = sharedRig({ profile: { ...profile, stakes: "high" } });
    expect(live(rig, 3)).toEqual(new Array(3).fill("fallback: bootstrapping"));
    live(rig, 1);
    const { familiarity } = rig.agent;
    expect(familiarity?.state).not.toBe("neutral");
    expect(familiarity?.embedding).toHaveLength(model.meta.embedding);
    expect(familiarity?.kin.map(({ name }) => name).sort()).toEqual(model.pool.map(({ name }) => name).sort());
  });

  test("lets the fallback act in every third episode until it knows what that earns", () => {
    const rig = sharedRig();
    const learner = "learner: training";
    const measuring = "fallback: measuring";
    // A window of two: two such episodes are enough.
    const acted = live(rig, 9).map((who) => (who.startsWith("learner") ? learner : who));
    expect(acted).toEqual([learner, learner, measuring, learner, learner, measuring, learner, learner, learner]);
    const levels = thresholdLevels(profile, rig.agent.state);
    expect(levels.fallback).toBeGreaterThan(0);
    expect(levels.serving).toBeCloseTo(1.05 * (levels.fallback ?? 0));
  });

  test("tells when the workload has become known or a stranger, once, and strangers in every decision", () => {
    const rig = sharedRig();
    live(rig, 8);
    const states = told(rig, "embedding").map((evidence) => (evidence as { state: string }).state);
    expect(states[0]).toBe("neutral");
    expect(states).toHaveLength(2);
    const [tick] = rig.steps(1);
    // Two applications are a pool in which hardly anybody is near enough to anybody.
    expect(rig.agent.familiarity?.state).toBe(states[1]);
    expect(tick?.why.some(({ rule }) => rule === "stranger")).toBe(states[1] === "stranger" && tick?.who === "learner");
  });

  test("goes back to the shared policy after a crash, and stays where it is", () => {
    let crash = false;
    const rig = sharedRig({
      createLearner: (attempt) => {
        const learner: Learner = autoscaleLearner({ kernels, task, seed: 1 + attempt, shared });
        const act = learner.act.bind(learner);
        learner.act = (obs, options) => {
          if (!crash) return act(obs, options);
          crash = false;
          throw new Error("a fault was injected");
        };
        return learner;
      },
    });
    rig.steps(3);
    crash = true;
    expect(rig.step()).toMatchObject({
      who: "fallback",
      why: expect.arrayContaining([{ by: "lifecycle", rule: "learner-crashed" }]),
    });
    expect(rig.step()).toMatchObject({ who: "learner", stage: "ONLINE" });
    expect(told(rig, "learner-restored")).toHaveLength(1);
  });

  test("does the same from the same seed", () => {
    const whole = () => {
      const rig = sharedRig();
      const ticks = Array.from({ length: 5 }, () => {
        const steps = rig.steps(EPISODE);
        rig.agent.train({ updates: 3 });
        return steps;
      });
      return { ticks, saved: Buffer.from(rig.agent.save({ resumable: true })).toString("base64") };
    };
    expect(whole()).toEqual(whole());
  });
});

describe("after a restart", () => {
  test("the embedding is as it was, and nobody is told again", () => {
    const rig = sharedRig();
    live(rig, 6);
    const again = sharedRig();
    unwrap(again.agent.load(rig.agent.save()));
    expect(again.agent.familiarity).toEqual(rig.agent.familiarity);
    expect(again.agent.familiarity?.state).not.toBe("neutral");
    again.world.now = rig.world.now;
    again.world.have = rig.world.have;
    const [next] = again.steps(1);
    expect(next?.stage).toBe("ONLINE");
    expect(told(again, "embedding")).toEqual([]);
    // The same wish, from the same policy under the same embedding.
    expect(next?.wished).toEqual(rig.step().wished);
  });

  test("a policy of another model is refused by name; the fallback acts, and a new policy begins from this one", () => {
    const rig = sharedRig();
    live(rig, 6);
    const other = unwrap(openSharedModel(encodePretrained({ ...model, pool: [...model.pool].reverse() }), kernels));
    const again = sharedRig({}, other);
    unwrap(again.agent.load(rig.agent.save()));
    again.world.now = rig.world.now;
    expect(again.step()).toMatchObject({ who: "fallback", why: [{ rule: "checkpoint-other-version" }] });
    const [refused] = told(again, "adoption-refused") as { code: string; message: string }[];
    expect(refused).toMatchObject({ code: "meta.other-model", message: expect.stringContaining(shared.identity) });
    again.step();
    expect(again.path).toEqual(["ONLINE→OFFLINE"]);
    // The learner made anew gets back what its agent kept, which is the fallback's.
    expect(again.agent.familiarity).toMatchObject({ model: other.identity });
  });
});

describe("a model that cannot be used", () => {
  const missing = failure("agent.shared-model-missing", "there is no such file");

  test("is said once, and the fallback acts, even where a profile asks for no bootstrapping", () => {
    for (const bootstrap of [true, false]) {
      const serving = { kind: "absolute", value: 18 } as const;
      const rig = new Rig({ shared: err(missing), profile: { ...profile, bootstrap, serving } });
      const ticks = rig.steps(3);
      expect(ticks.map(({ who }) => who)).toEqual(["fallback", "fallback", "fallback"]);
      expect(rig.path).toEqual(["INITIALIZED→OFFLINE"]);
      expect(told(rig, "shared-model-unusable")).toEqual([missing]);
      expect(rig.agent.familiarity).toBeNull();
    }
  });

  test("is one that was trained for another task, by its shapes or by its own words", () => {
    const fitOf = (changed: Partial<PretrainedModel>) => {
      const opened = unwrap(openSharedModel(encodePretrained({ ...model, ...changed }), kernels));
      return modelForTask(opened, podsTask(task));
    };
    expect(fitOf({}).ok).toBe(true);
    expect(fitOf({ task: podsTaskName(task) }).ok).toBe(true);
    expect(fitOf({ task: podsTaskName({ ...task, actions: "demand" }) })).toMatchObject({
      ok: false,
      failure: { code: "agent.shared-model", message: expect.stringContaining("actions as demand") },
    });
    expect(modelForTask(shared, podsTask({ ...task, features: "paper" }))).toMatchObject({
      ok: false,
      failure: { code: "agent.shared-model", message: expect.stringContaining("its policy sees 13 numbers") },
    });
  });
});

test("a thread that trains beside reads the trajectories, and the agent acts under what it found", () => {
  const untrained = (rig: Rig) => {
    for (let episode = 0; episode < 4; episode++) {
      rig.world.demand += 1;
      rig.steps(EPISODE);
    }
    rig.step();
    return rig;
  };
  const rig = untrained(sharedRig());
  expect(rig.agent.familiarity?.state).toBe("neutral");
  const run = Object.values(agentTrainingKinds().tasks)[0]!;
  const work = () => ({
    saved: rig.agent.save({ resumable: true }),
    workload,
    fallback: "scripted",
    updates: 5,
    sharedModel: rig.agent.sharedModel,
    estimate: null,
  });
  const context = { kernels, isCancelled: () => false, progress: () => undefined };
  const { policy } = run(work(), context) as { policy: Uint8Array };
  unwrap(rig.agent.adopt(policy));
  rig.step();
  const beside = rig.agent.familiarity;
  expect(beside?.state).not.toBe("neutral");
  // In place, the same trajectories give the same embedding.
  const inPlace = untrained(sharedRig());
  inPlace.agent.train({ updates: 5 });
  inPlace.step();
  expect(inPlace.agent.familiarity).toEqual(beside);
  // A second round finds the model open already.
  expect((run(work(), context) as { updates: number }).updates).toBe(5);
});
