import { expect, test } from "vitest";
import {
  phaseOf,
  plainApplication,
  shop,
  simpleWorld,
  steadyLoad,
} from "../../../../test/fixtures/sim/simple-cluster.ts";
import { bytes, cores, mebibytes, milliseconds, seconds, unwrap } from "../../../base/index.ts";
import { CounterHistory } from "./counters.ts";
import { MetricsPipeline } from "./pipeline.ts";

const sampleAt = (at: number) => ({ at, pods: [], ingress: null });

test("a sample is known only after its delay, and then the newest", () => {
  const pipeline = new MetricsPipeline({ delay: seconds(15) });
  for (const at of [5_000, 20_000, 35_000]) pipeline.add(sampleAt(at));
  expect([19_999, 20_000, 34_999, 50_000].map((now) => pipeline.newest(now)?.at)).toEqual([
    undefined,
    5_000,
    5_000,
    35_000,
  ]);
});

test("a rate is taken over the window, from the point at its old end", () => {
  const history = new CounterHistory(30_000);
  history.add(0, [0]);
  expect(history.rates()).toBeNull();
  history.add(15_000, [150]);
  expect(history.rates()).toEqual([10]);
  history.add(30_000, [150]);
  expect(history.rates()).toEqual([5]);
  history.add(45_000, [600]);
  expect(history.rates()).toEqual([15]);
});

test("counters keep their own values when the list they were given in is used again", () => {
  const history = new CounterHistory(30_000);
  const values = [0, 0];
  for (let at = 0; at <= 60_000; at += 15_000) {
    values[0] = at / 100;
    values[1] = at / 50;
    history.add(at, values);
  }
  expect(history.rates()).toEqual([10, 20]);
});

test("a reading is between a delay and a delay and an interval old", () => {
  const world = simpleWorld();
  world.advance(seconds(60));
  const ages = new Set<number>();
  for (let at = 60_000; at < 120_000; at += 500) {
    world.advance(milliseconds(at));
    ages.add(world.now - world.read(shop).at);
  }
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(15_000);
  expect(Math.max(...ages)).toBeLessThan(30_000);
  expect(ages.size).toBeGreaterThan(20);
});

test("what a reading says is what was the case when it was taken", () => {
  const world = simpleWorld({ load: { ...steadyLoad(0), perMinute: Float64Array.of(100, 0, 0, 0) } });
  world.advance(seconds(60));
  // 100/s of 10 ms: a whole core of 64.
  const busy = world.read(shop);
  expect(busy.use.cpu).toBeGreaterThan(0.9 / 64);
  expect(busy.use.cpu).toBeLessThan(1.1 / 64);
  expect(busy.offered).toBeGreaterThan(90);
  expect(busy.completed).toBeGreaterThan(90);
  expect([busy.failed, busy.pods[0]?.memory]).toEqual([0, 64 * 1_048_576]);
  expect(busy.use.memory).toBe(64 / 1_024);
  // Ten seconds after the load has gone, the reading still knows nothing of it.
  world.advance(seconds(70));
  expect(world.read(shop).offered).toBeGreaterThan(90);
  world.advance(seconds(125));
  expect(world.read(shop)).toMatchObject({ offered: 0, completed: 0, use: { cpu: 0 } });
});

test("limits and counts come from the API server and are never late", () => {
  const world = simpleWorld({ initial: { replicas: 1, cpu: cores(1), memory: mebibytes(256) } });
  world.advance(seconds(60));
  unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 2, cpu: cores(2), memory: mebibytes(512) } }));
  const podsOf = ({ pods }: ReturnType<typeof world.read>) =>
    pods.map(({ cpuLimit, cpu, resize }) => [cpuLimit, cpu === null, resize]);
  const reading = world.read(shop);
  expect(reading.spec).toEqual({ replicas: 2, cpu: 2_000, memory: 512 * 1_048_576 });
  // A pod that starts has the new size; one that runs has it when its limits are written.
  expect(podsOf(reading)).toEqual([
    [1_000, false, "in-progress"],
    [2_000, true, undefined],
  ]);
  world.advance(seconds(60.41));
  expect(podsOf(world.read(shop))[0]).toEqual([2_000, false, undefined]);
});

test("a pod that is stopping is no longer part of a reading, nor of the use over limits", () => {
  const application = plainApplication({ phases: [phaseOf(1, { wait: 25_000 })] });
  const world = simpleWorld({
    application,
    initial: { replicas: 2, cpu: cores(1), memory: mebibytes(128) },
    metrics: { delay: milliseconds(0), interval: seconds(1), window: seconds(5) },
  });
  world.advance(seconds(60));
  // Both hold 64 of 128 MiB; the smaller limit of the one that stays shows that it alone is counted.
  unwrap(world.apply({ kind: "set", workload: shop, set: { replicas: 1 } }));
  unwrap(world.apply({ kind: "set", workload: shop, set: { cpu: cores(1), memory: mebibytes(256) } }));
  world.advance(seconds(62));
  const { pods, use } = world.read(shop);
  expect([pods.map(({ pod }) => pod), use.memory]).toEqual([["shop-0"], 0.25]);
});

test("samples go missing as often as they are told to, and are null then", () => {
  const world = simpleWorld({
    initial: { replicas: 2, cpu: cores(1), memory: mebibytes(256) },
    metrics: { missing: 0.3 },
  });
  let [pods, ingress, looks] = [0, 0, 0];
  for (let at = 60; at < 15_000; at += 15) {
    world.advance(seconds(at));
    const reading = world.read(shop);
    looks++;
    pods += reading.pods.filter(({ cpu }) => cpu === null).length / 2;
    if (reading.latency === null) {
      ingress++;
      expect([reading.offered, reading.completed, reading.failed]).toEqual([null, null, null]);
    }
  }
  // Four standard errors of a share of 0.3 among a thousand.
  expect(Math.abs(pods / looks - 0.3)).toBeLessThan(0.06);
  expect(Math.abs(ingress / looks - 0.3)).toBeLessThan(0.06);
});

test("rates of pods are off by as much as they are told to be, and right on average", () => {
  const world = simpleWorld({ load: steadyLoad(20), metrics: { noise: 0.2 } });
  const clean = simpleWorld({ load: steadyLoad(20) });
  const ratios: number[] = [];
  for (let at = 60; at < 6_000; at += 15) {
    for (const each of [world, clean]) each.advance(seconds(at));
    ratios.push((world.read(shop).pods[0]?.cpu ?? 0) / (clean.read(shop).pods[0]?.cpu ?? 1));
  }
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length;
  const deviation = Math.sqrt(logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / logs.length);
  // Four standard errors of 396 draws; a lognormal of mean 1 has its median at −σ²/2.
  expect(Math.abs(deviation - 0.2)).toBeLessThan(0.03);
  expect(Math.abs(mean + 0.02)).toBeLessThan(0.04);
});

test("before anything has been measured, everything measured is null", () => {
  const { use, latency, offered, pods } = simpleWorld().read(shop);
  expect([use, latency, offered, pods[0]?.cpu]).toEqual([
    { cpu: null, memory: null, io: null, network: null },
    null,
    null,
    null,
  ]);
});

test("the working set is base, requests and as much of the cache as fits", () => {
  const memory = { base: mebibytes(64), perRequest: mebibytes(1), cache: mebibytes(100), missPenalty: 1 };
  const inUse = (limit: number): number => {
    const application = plainApplication({ phases: [phaseOf(0, { wait: 1e9 })], threads: 10, queue: 0, memory });
    const world = simpleWorld({ application, initial: { replicas: 1, cpu: cores(1), memory: mebibytes(limit) } });
    world.advance(seconds(60));
    return (world.read(shop).pods[0]?.memory ?? 0) / bytes(1_048_576);
  };
  expect([inUse(1_000), inUse(120)]).toEqual([174, 120]);
});
