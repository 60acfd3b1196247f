import { describe, expect, test } from "vitest";
import { mebibytes, millicores } from "../../base/index.ts";
import { drawScene, openWorld, type Scene, taskOf } from "../../pretraining/index.ts";
import { applyScenario, costOf, scenariosFor } from "../../sim/index.ts";
import { type BoundLife, BoundSearch } from "./bound.ts";
import { type CapacityTable, cpuFor, measureCapacity, memoryFor } from "./capacity.ts";
import { type Driver, driveEpisode } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";
import { measureRules } from "./measure-rules.ts";
import { rulesOf, startedWith } from "./rules.ts";

const EPISODES = 3;
const STEPS = 100;

const lifeOn = (scene: Scene, rest: Partial<BoundLife> = {}): BoundLife => ({
  scene,
  task: taskOf(scene, { alpha: 0.5, episodeSteps: STEPS }),
  seed: 77,
  rung: "event",
  episodes: EPISODES,
  counts: [2],
  ...rest,
});

describe("a capacity table", () => {
  const table: CapacityTable = {
    replicas: 2,
    kept: [
      { cpu: 100, rate: 0 },
      { cpu: 200, rate: 10 },
      { cpu: 400, rate: 30 },
    ],
    workingSet: 0,
  };

  test("gives the smallest size that bears a rate, in proportion between two that were measured", () => {
    expect(cpuFor(table, 0)).toBe(100);
    // 100 millicores bear nothing, so nothing between 100 and 200 is known to.
    expect(cpuFor(table, 1)).toBe(200);
    expect(cpuFor(table, 10)).toBe(200);
    // Half of the way from 10 to 30 requests/s.
    expect(cpuFor(table, 20)).toBe(300);
    expect(cpuFor(table, 31)).toBe(400);
  });

  test("bears no less with larger pods, and sees at least the software itself in memory", () => {
    const scene = drawScene({ seed: 1_002, slot: 1, days: "varied" });
    const { kept, workingSet } = measureCapacity(scene, {
      seed: 77,
      rung: "event",
      replicas: 2,
      mostRate: 20,
      peakRate: 10,
    });
    kept.forEach(({ rate }, i) => {
      expect(rate).toBeGreaterThanOrEqual(kept[i - 1]?.rate ?? 0);
    });
    expect(kept.at(-1)?.rate).toBeGreaterThan(0);
    expect(workingSet).toBeGreaterThan(scene.application.memory.base);
  });

  test("memory is what was seen and a margin, within the bounds", () => {
    expect(memoryFor(mebibytes(100))).toBe(mebibytes(115));
    expect(memoryFor(mebibytes(1))).toBe(mebibytes(64));
    expect(memoryFor(mebibytes(3_000))).toBe(mebibytes(2_048));
  });
});

test("what never moves costs what it reserves, to the cent: the integral of its cores and bytes at list prices", () => {
  const scene = drawScene({ seed: 1_002, slot: 3, days: "varied" });
  const search = new BoundSearch(lifeOn(scene), EPISODES * STEPS);
  const found = search.constant(EPISODES * STEPS);
  if (found === undefined) throw new Error("with every step forgiven there is one");
  const memory = found.truths.reduce((sum, { memoryLimit }) => sum + memoryLimit, 0);
  const seconds = EPISODES * STEPS * 15;
  const expected = costOf({
    coreSeconds: (found.replicas * found.level * seconds) / 1_000,
    byteSeconds: memory,
    disruptions: 0,
  });
  expect(found.cost).toBeCloseTo(expected, 9);
});

test("a driver's bill is what its pods held, step by step, whatever it did to their sizes", () => {
  const scene = drawScene({ seed: 1_002, slot: 1, days: "varied" });
  const { workload } = scene;
  const initial = { replicas: 2, cpu: millicores(1_000), memory: mebibytes(512) };
  const world = openWorld(scene, { seed: 5, rung: "event", initial });
  // Up and down at every step, by in-place resizes that take 0.41 s in which the larger size is held.
  let step = 0;
  const sizes = [1_000, 2_000, 500, 3_000];
  const driver: Driver = {
    decide: () => {
      step += 1;
      const set = { cpu: millicores(sizes[step % sizes.length] as number) };
      return { kind: "set", workload, set };
    },
  };
  const truth = driveEpisode({ scene, world, driver, task: taskOf(scene, { episodeSteps: 40 }) });
  let coreSeconds = 0;
  for (let i = 1; i <= 40; i++) {
    const now = sizes[i % sizes.length] as number;
    const before = sizes[(i - 1) % sizes.length] as number;
    coreSeconds += (2 * (Math.max(now, before) * 0.41 + now * (15 - 0.41))) / 1_000;
  }
  expect(truth.cpuLimit).toBeCloseTo(coreSeconds, 6);
  const byteSeconds = 2 * mebibytes(512) * 40 * 15;
  expect(truth.cost).toBeCloseTo(costOf({ coreSeconds, byteSeconds, disruptions: 0 }), 9);
});

describe.each([
  [1_002, 1, 3],
  [1_004, 3, 2],
])("on scene %i/%i with %i pods", (seed, slot, pods) => {
  const drawn = drawScene({ seed, slot, days: "varied" });
  const rules = measureRules(drawn, { seed: 9_000_000, trialHours: 1 });
  const scene = startedWith(drawn, rules);
  const life = lifeOn(scene, { counts: [pods] });
  const world = openWorld(scene, { seed: life.seed, rung: life.rung });
  const driver = rulesDriver(scene, rulesOf(scene, rules));
  const played = Array.from({ length: EPISODES }, () => driveEpisode({ scene, world, driver, task: life.task }));
  const cost = played.reduce((sum, truth) => sum + truth.cost, 0);
  const violations = played.reduce((sum, truth) => sum + truth.violations, 0);

  test("the clairvoyant costs less than the rules at no more misses, kills nothing, and is the same again", () => {
    const limit = Math.max(violations, 6);
    const found = new BoundSearch(life, limit).schedule(limit);
    if (found === undefined) throw new Error("the bound keeps what the rules keep");
    expect(found.cost).toBeLessThanOrEqual(cost);
    expect(found.violations).toBeLessThanOrEqual(limit);
    expect(found.truths.reduce((sum, { oomKills }) => sum + oomKills, 0)).toBe(0);
    expect(new BoundSearch(life, limit).schedule(limit)).toEqual(found);
  });

  test("a stricter limit costs no less", () => {
    const search = new BoundSearch(life, 30);
    const [strict, loose] = [search.schedule(3), search.schedule(30)];
    expect(loose).toBeDefined();
    if (strict && loose) expect(loose.cost).toBeLessThanOrEqual(strict.cost);
  });
});

test("through an update the schedule knows what each version bears", () => {
  const scene = drawScene({ seed: 1_004, slot: 3, days: "varied" });
  const [scenario] = scenariosFor(scene.application).filter(({ payload }) => payload !== null);
  if (scenario === undefined) throw new Error("this application has a payload");
  const { application = scene.application } = applyScenario(scene, scenario);
  const versions = [{ episode: 2, application, load: scene.load }];
  const limit = EPISODES * STEPS;
  const plain = new BoundSearch(lifeOn(scene), limit).schedule(6);
  const updated = new BoundSearch(lifeOn(scene, { versions }), limit).schedule(6);
  expect(plain).toBeDefined();
  expect(updated?.violations ?? 0).toBeLessThanOrEqual(6);
  // Heavier in the third episode.
  expect(updated?.cost ?? Number.POSITIVE_INFINITY).toBeGreaterThan(plain?.cost ?? 0);
});
