import { expect, test } from "vitest";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { mebibytes, millicores } from "../../base/index.ts";
import { autoscaleBcq } from "../../control/tasks/pods/index.ts";
import { drawScene, openWorld } from "../../pretraining/index.ts";
import type { AdaptationMethod, Ground, Prepared } from "./adaptation-methods.ts";
import { firm, practised, transfer, transferPlus, updateWork } from "./adaptation-methods.ts";
import { awareConfig } from "./config.ts";
import { play } from "./life.ts";
import type { DriverParts } from "./methods.ts";
import { openSetting } from "./setting.ts";

const base = awareConfig({ quick: true });
const config = {
  ...base,
  episodeSteps: 8,
  rules: { leastCpu: millicores(500), targetPercent: 50, leastReplicas: 1, leastMemory: mebibytes(64) },
};
const learner = { ...autoscaleBcq, hidden: [8], batch: 8 };
const count = { next: () => undefined };

const partsOf = (slot: number, seed = 5): DriverParts => ({
  setting: openSetting(drawScene({ seed: 5, slot }), { seed: 5, config }),
  agent: { ...base.agent, learner },
  kernels: loadKernels(),
  seed,
});

async function prepare(method: AdaptationMethod): Promise<Prepared> {
  const ground: Ground = { source: partsOf(0), pool: "split", rung: "fluid", episodes: 3, count };
  return method.prepare(ground);
}

interface Played {
  readonly learns: boolean;
  readonly episodes?: number;
  readonly seed?: number;
}

/** An episode or more on a new workload, and the policy before it. */
function anEpisode(prepared: Prepared, { learns, episodes = 1, seed = 5 }: Played) {
  const parts = partsOf(1, seed);
  const { setting } = parts;
  const driver = prepared.driver(parts, { learns });
  const before = driver.policy();
  const world = openWorld(setting.scene, { seed: 5, rung: "fluid" });
  const truths = play({ setting, world, driver, episodes, count });
  const outcome = { before, updates: driver.updates, truths };
  driver.dispose();
  return outcome;
}

test("an update's work is that of its passes through the networks", () => {
  // Table 1 has 9 features. Actor 9·2 + 2·3 = 24 weights, critics (9 + 3)·2 + 2·1 = 26; 3 rows of 4·24 + 10·26.
  const small = { learner: { ...autoscaleBcq, hidden: [2], batch: 3 } };
  expect(updateWork(small, "paper")).toBe(3 * (4 * 24 + 10 * 26));
  // An embedding of 5 is seen by both: 10 weights more each.
  expect(updateWork(small, "paper", 5)).toBe(3 * (4 * 34 + 10 * 36));
});

test("TL begins with the networks that were trained on the known workload, and with none of its steps", async () => {
  const [prepared, fresh] = [await prepare(transfer), await prepare(firm)];
  const [one, other] = [anEpisode(prepared, { learns: true }), anEpisode(prepared, { learns: true })];
  expect(one.before).toEqual(other.before);
  expect(one.before).not.toEqual(anEpisode(fresh, { learns: true }).before);
  // Measurements begin with the third reading, so 13 steps of 16 are known at the end, and from the eighth on it learns.
  // With the source's steps it would have learned from the first on.
  expect(one.updates).toBe(0);
  expect(anEpisode(prepared, { learns: true, episodes: 2 }).updates).toBe(6);
});

test("a policy that does not learn tries nothing out either: chance has no part in what it does", async () => {
  const prepared = await prepare(transfer);
  const once = anEpisode(prepared, { learns: false, episodes: 3 });
  expect(once.updates).toBe(0);
  expect(anEpisode(prepared, { learns: false, episodes: 3, seed: 6 }).truths).toEqual(once.truths);
  const learned = anEpisode(prepared, { learns: true, episodes: 3 });
  expect(learned.truths).not.toEqual(once.truths);
});

test("a policy that was trained tries out a quarter of what one does that begins", () => {
  const { agent } = partsOf(0);
  const { fade } = practised(agent).settings;
  // The agent's rule: all of it at the start, `to` of it after `episodes`.
  expect(fade).toEqual({ episodes: 0, to: 0.25 });
  expect(practised(agent)).toEqual({ ...agent, settings: { ...agent.settings, fade } });
});

test("TL+ sees more, costs more per update, and a policy of TL's does not fit it", async () => {
  const [plain, plus] = [await prepare(transfer), await prepare(transferPlus)];
  expect(plus.work.perUpdate).toBeGreaterThan(plain.work.perUpdate);
  expect(plus.work.perEpisode).toBeGreaterThan(0);
  expect(plain.work.perEpisode).toBe(0);
  expect(anEpisode(plus, { learns: true, episodes: 2 }).updates).toBe(6);
  const { before } = anEpisode(plain, { learns: false });
  expect(() => plus.driver(partsOf(1), { learns: false, policy: before })).toThrow(/does not belong to this learner/);
});
