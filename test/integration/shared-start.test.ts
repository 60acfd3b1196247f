/**
 * A workload that nobody has seen, on the fluid world: an agent that begins with a shared policy against one that begins
 * with nothing, in the same hours with the same requests. Both act from their first step on, with nothing around them, so
 * that what they earn is their policies' own.
 */
import { beforeAll, expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { millicores, unwrap } from "../../src/base/index.ts";
import type { LifecycleProfile } from "../../src/control/lifecycle/index.ts";
import { noGates } from "../../src/control/lifecycle/index.ts";
import { noShield } from "../../src/control/tasks/pods/index.ts";
import { openSharedModel, type SharedModel } from "../../src/learn/meta/index.ts";
import { bounds, drawMember, openWorld, taskOf } from "../../src/pretraining/index.ts";
import { agentDriver } from "../../src/studies/aware/agents.ts";
import { driveEpisode } from "../../src/studies/aware/drive.ts";
import { rulesOf } from "../../src/studies/aware/rules.ts";
import { smallModelBytes } from "../fixtures/meta/small-model.ts";

const kernels = loadKernels();
const EPISODES = 2;
const SCENES = [0, 1, 2];

let shared: SharedModel;
beforeAll(async () => {
  shared = unwrap(openSharedModel(await smallModelBytes(), kernels));
}, 120_000);

/** From the first step on, and never good enough to stop learning. */
const profile: Partial<LifecycleProfile> = {
  bootstrap: false,
  gates: noGates,
  serving: { kind: "absolute", value: 200 },
  deviation: { kind: "absolute", value: 1 },
};

function earned(index: number, begins: { readonly shared?: SharedModel }): number {
  const { scene } = drawMember({ seed: 5, part: "unseen", index });
  const task = taskOf(scene);
  // Nobody asks them here: they act for nobody, and no level is relative to them.
  const fallback = rulesOf(scene, {
    leastCpu: millicores(500),
    targetPercent: 60,
    leastReplicas: 1,
    leastMemory: bounds.memory.min,
  });
  const driver = agentDriver({ scene, task, fallback, kernels, seed: 77, profile, shield: noShield, ...begins });
  const world = openWorld(scene, { seed: 900 + index, rung: "fluid" });
  let sum = 0;
  for (let episode = 0; episode < EPISODES; episode++) sum += driveEpisode({ scene, world, driver, task }).reward;
  driver.dispose();
  return sum / EPISODES;
}

test("in its first episodes it earns more with a policy of others than with none, on workloads that neither has seen", () => {
  const pairs = SCENES.map((index) => ({ with: earned(index, { shared }), without: earned(index, {}) }));
  for (const pair of pairs) expect(pair.with).toBeGreaterThan(pair.without);
  const mean = (of: "with" | "without") => pairs.reduce((sum, pair) => sum + pair[of], 0) / pairs.length;
  // 200 is the most.
  expect(mean("with") - mean("without")).toBeGreaterThan(10);
  expect(earned(0, { shared })).toBe(pairs[0]?.with);
});
