import { expect, test } from "vitest";
import { applicationPool } from "../../pretraining/index.ts";
import { type AdaptationChoices, scenesOf, unitsOf } from "./adaptation.ts";
import { awareConfig } from "./config.ts";

const adaptation: AdaptationChoices = {
  source: 1,
  groups: { split: 4, "held-out": 1 },
  perGroup: { split: 5, "held-out": 5 },
  episodes: 1,
  still: 1,
  level: { window: 1, level: 1, within: 0.03 },
};
const scenes = (seed: number, group: number) => scenesOf({ seed, pool: "split", group, adaptation, loads: undefined });

test("a seed meets twenty different applications that nothing was trained on, each group from a known one", () => {
  const { known, unseen } = applicationPool("split");
  const groups = [0, 1, 2, 3].map((group) => scenes(7, group));
  const met = groups.flatMap((group) => group.unseen.map(({ application }) => application));
  expect(new Set(met.map(({ id }) => id)).size).toBe(20);
  expect(met.every((application) => unseen.includes(application))).toBe(true);
  expect(groups.every(({ source }) => known.includes(source.application))).toBe(true);
  expect(new Set(groups.flatMap((group) => group.unseen.map(({ workload }) => workload))).size).toBe(20);
  // Five each of high loads with and without a neighbour in kind: every fourth is to serve a throughput.
  const throughput = groups.flatMap((group) => group.unseen.filter(({ slo }) => slo.kind === "throughput"));
  expect(throughput).toHaveLength(5);
});

test("scenes are the same for a seed and differ between seeds", () => {
  expect(scenes(7, 2)).toEqual(scenes(7, 2));
  const ids = (seed: number) => scenes(seed, 2).unseen.map(({ application }) => application.id);
  expect(ids(7)).not.toEqual(ids(8));
});

test("each group is a job of its own", () => {
  const units = unitsOf({ ...awareConfig({ quick: true }), adaptation });
  expect(units).toEqual(["split/0", "split/1", "split/2", "split/3", "held-out/0"]);
});
