import { expect, test } from "vitest";
import { idealNode, plainApplication, shop, steadyLoad } from "../../../../test/fixtures/sim/simple-cluster.ts";
import type { Allocation } from "../../../act/index.ts";
import { cores, mebibytes, milliseconds, unwrap } from "../../../base/index.ts";
import { type EventClusterWorld, eventWorld } from "./event-world.ts";

const initial: Allocation = { replicas: 4, cpu: cores(1), memory: mebibytes(256) };

/** Four pods, two on each of two nodes that have room for four. */
const world = (load = 50): EventClusterWorld =>
  eventWorld({
    seed: 1,
    start: milliseconds(0),
    nodes: [idealNode("a", { cpu: cores(4) }), idealNode("b", { cpu: cores(4) })],
    workloads: [
      {
        id: shop,
        application: plainApplication(),
        load: steadyLoad(load),
        slo: { kind: "none" },
        initial,
        resize: "in-place",
      },
    ],
  });

const names = (of: EventClusterWorld) => of.read(shop).pods.map(({ pod }) => pod);
const ready = (of: EventClusterWorld) => of.read(shop).pods.filter(({ readyAt }) => readyAt !== null).length;
const advanceTo = (of: EventClusterWorld, ms: number) => of.advance(milliseconds(ms));

test("pods of a lost node are gone at once and start again on another, after the start-up of a node that knows them", () => {
  const cluster = world();
  advanceTo(cluster, 60_000);
  expect(cluster.homeOf(shop)).toBe("a");
  cluster.loseNode("a");
  expect([names(cluster), ready(cluster)]).toEqual([["shop-1", "shop-3", "shop-4", "shop-5"], 2]);
  // Half of ten seconds, where the image is there already.
  advanceTo(cluster, 64_990);
  expect(ready(cluster)).toBe(2);
  advanceTo(cluster, 65_010);
  expect(ready(cluster)).toBe(4);
  expect(cluster.homeOf(shop)).toBe("b");
  expect(cluster.nodes(shop).map(({ cpu }) => cpu)).toEqual([0, 4_000]);
});

test("what does not fit elsewhere waits until the node is back, and starts there as on a new one", () => {
  const cluster = world();
  unwrap(cluster.apply({ kind: "set", workload: shop, set: { replicas: 6 } }));
  advanceTo(cluster, 30_000);
  expect(ready(cluster)).toBe(6);
  cluster.loseNode("a");
  advanceTo(cluster, 60_000);
  expect([names(cluster).length, ready(cluster)]).toEqual([6, 4]);
  cluster.returnNode("a");
  // It lost its images too: the whole ten seconds for the first, and half of it for the second, which finds the image.
  advanceTo(cluster, 65_010);
  expect(ready(cluster)).toBe(5);
  advanceTo(cluster, 69_990);
  expect(ready(cluster)).toBe(5);
  advanceTo(cluster, 70_010);
  expect(ready(cluster)).toBe(6);
});

test("every request is accounted for, and only those on the lost node are lost", () => {
  // Ten milliseconds of work each: at 300 a second some are always under way.
  const cluster = world(300);
  advanceTo(cluster, 10_000);
  const before = cluster.truth(shop);
  cluster.loseNode("a");
  const after = cluster.truth(shop);
  expect(after.lost).toBeGreaterThan(0);
  expect(after.lost + after.inFlight).toBe(before.inFlight);
  advanceTo(cluster, 100_000);
  const later = cluster.truth(shop);
  expect(later.lost).toBe(0);
  const all = [before, after, later];
  const sum = (pick: (truth: typeof before) => number) => all.reduce((total, truth) => total + pick(truth), 0);
  expect(sum(({ completed, timedOut, dropped, lost }) => completed + timedOut + dropped + lost) + later.inFlight).toBe(
    sum(({ arrived }) => arrived),
  );
});

test("losing a node twice and returning one that is there change nothing; one that is not there is refused", () => {
  const [plain, twice] = [world(), world()];
  for (const cluster of [plain, twice]) {
    advanceTo(cluster, 20_000);
    cluster.loseNode("b");
  }
  twice.loseNode("b");
  twice.returnNode("a");
  for (const cluster of [plain, twice]) advanceTo(cluster, 60_000);
  expect(twice.truth(shop)).toEqual(plain.truth(shop));
  expect(() => plain.loseNode("c")).toThrow("there is no node c");
});
