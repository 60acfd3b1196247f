import { expect, test } from "vitest";
import { mebibytes, millicores } from "../../base/index.ts";
import { drawScene, openWorld } from "../../pretraining/index.ts";
import { lifeOf, play, total } from "./life.ts";
import { rulesOnly } from "./methods.ts";
import { priorDriver, rememberingCpu } from "./prior.ts";
import { openSetting } from "./setting.ts";

const EPISODES = 10;

test("over four hours of a simulated workload the capacity model is cheaper than rules with room to spare, and keeps the SLO", () => {
  const rules = {
    leastCpu: millicores(2_000),
    targetPercent: 30,
    leastReplicas: 2,
    leastMemory: mebibytes(512),
  };
  const drawn = drawScene({ seed: 1_003, slot: 0 });
  const setting = openSetting(drawn, { seed: 1_003, config: { alpha: 0.5, episodeSteps: 100, rules, trialHours: 1 } });
  const world = () => openWorld(setting.scene, { seed: 1_003, rung: "event" });
  const count = { next: () => undefined };
  const rulesCpu: number[] = [];
  const driver = rememberingCpu(rulesOnly(setting), rulesCpu);
  const ruled = lifeOf(play({ setting, world: world(), driver, episodes: EPISODES, count }), 0);
  const prior = priorDriver(setting, rulesCpu);
  const played = lifeOf(play({ setting, world: world(), driver: prior.driver, episodes: EPISODES, count }), 0);
  expect(total(played, "cost")).toBeLessThan(0.85 * total(ruled, "cost"));
  expect(total(played, "violations")).toBeLessThan(0.02 * 100 * EPISODES);
  expect(total(played, "oomKills")).toBe(0);
  const { steps, decisions, asProposed, lessCpu } = prior.conduct();
  expect(steps).toBe(100 * EPISODES);
  expect(rulesCpu.length).toBe(100 * EPISODES);
  expect(asProposed / decisions).toBeGreaterThan(0.9);
  expect(lessCpu / steps).toBeGreaterThan(0.5);
});
