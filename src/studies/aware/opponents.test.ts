import { describe, expect, test } from "vitest";
import { milliseconds } from "../../base/index.ts";
import { bounds, drawScene, openWorld } from "../../pretraining/index.ts";
import { opponentDriver, opponentStart, opponents } from "./opponents.ts";

describe.each(opponents.map((opponent) => [opponent.id, opponent] as const))("%s", (_, opponent) => {
  const scene = drawScene({ seed: 1_002, slot: 0 });
  const initial = opponentStart(scene, opponent);

  test("begins with the developer's requests: twice the memory that a full pod is thought to need", () => {
    const { cpu, leastReplicas } = opponent;
    const memory = Math.min(2 * scene.initial.memory, bounds.memory.max);
    expect(initial).toEqual({ replicas: Math.max(scene.initial.replicas, leastReplicas), cpu, memory });
  });

  test("changes replicas and nothing else, never below its least", () => {
    // Twelve times as much as it was drawn with, so that there is something to do.
    const load = { ...scene.load, perMinute: scene.load.perMinute.map((rate) => 12 * rate) };
    const busy = { ...scene, load };
    const world = openWorld(busy, { seed: 5, rung: "fluid", initial });
    const driver = opponentDriver(busy, opponent);
    const seen = new Set<number>();
    for (let step = 0; step < 240; step++) {
      const { workload } = scene;
      const have = world.allocation(workload);
      seen.add(have.replicas);
      expect([have.cpu, have.memory]).toEqual([initial.cpu, initial.memory]);
      world.apply(driver.decide({ reading: world.read(workload), have, nodes: world.nodes(workload), now: world.now }));
      world.advance(milliseconds(world.now + 15_000));
    }
    expect(seen.size).toBeGreaterThan(1);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(opponent.leastReplicas);
  });
});
