import { expect, test } from "vitest";
import { drawScene } from "../../pretraining/index.ts";
import { scenariosFor } from "../../sim/index.ts";
import { updateSeries } from "./updates.ts";

const scene = drawScene({ seed: 1_001, slot: 0 });
const applicable = scenariosFor(scene.application).map(({ name }) => name);

test("a series goes through all scenarios that apply, then takes payloads back", () => {
  const versions = updateSeries(scene, { seed: 1_001, count: 2 * applicable.length, pool: undefined });
  const names = versions.map(({ name }) => name);
  expect([...names.slice(0, applicable.length)].sort()).toEqual([...applicable].sort());
  expect(names.slice(applicable.length)).toEqual(names.slice(0, applicable.length).map((name) => `${name} undo`));
  // Two changes of the load later its level is what it was, and so are the payloads.
  const last = versions.at(-1);
  expect(last?.load.level).toBe(scene.load.level);
  expect(last?.application.phases).toEqual(scene.application.phases);
});

test("updates add up: each version keeps what those before changed", () => {
  const versions = updateSeries(scene, { seed: 1_002, count: applicable.length, pool: undefined });
  for (const [k, { name, application, load }] of versions.entries()) {
    const before = versions[k - 1] ?? scene;
    if (name === "load-pattern") {
      expect(application).toBe(before.application);
      expect(load.level).not.toBe(before.load.level);
    } else {
      expect(load).toBe(before.load);
      expect(application).not.toEqual(before.application);
    }
  }
});

test("a recorded load is taken from the pool's other level", () => {
  const low = { ...scene.load, id: "recorded-low", level: "low" as const };
  const pool = { high: [], low: [low] };
  const versions = updateSeries(scene, { seed: 1_001, count: applicable.length, pool });
  expect(scene.load.level).toBe("high");
  expect(versions.find(({ name }) => name === "load-pattern")?.load.id).toBe("recorded-low");
});
