import { describe, expect, test } from "vitest";
import {
  idealNode,
  oneBigPod,
  phaseOf,
  plainApplication,
  shop,
  simpleWorld,
  steadyLoad,
} from "../../../../test/fixtures/sim/simple-cluster.ts";
import { cores, mebibytes, milliseconds, seconds } from "../../../base/index.ts";
import type { Application } from "../workloads/index.ts";

/** Equally likely sizes that are the quantiles of an exponential distribution of mean 1. */
const exponentialSizes = Array.from({ length: 2_000 }, (_, i) => -Math.log(1 - (i + 0.5) / 2_000));

interface Station {
  readonly application: Application;
  readonly perSecond: number;
  readonly nodeCores?: number;
}

/** Mean requests in the system: looked at every 97 ms, which nothing in it is in step with. */
function meanInside({ application, perSecond, nodeCores = 64 }: Station, hours: number): number {
  const world = simpleWorld({
    application,
    load: steadyLoad(perSecond),
    nodes: [idealNode("only", { cpu: cores(nodeCores) })],
    initial: { ...oneBigPod, cpu: cores(nodeCores) },
    metrics: { missing: 0, sloWindow: milliseconds(1) },
    seed: 3,
  });
  let sum = 0;
  let looks = 0;
  for (let at = 60_000; at < hours * 3_600_000; at += 97) {
    world.advance(milliseconds(at));
    sum += world.truth(shop).inFlight;
    looks++;
  }
  return sum / looks;
}

const relativeError = (ours: number, theory: number): number => Math.abs(ours - theory) / theory;

describe("queues that theory knows", () => {
  test("M/G/1 with processor sharing: ρ/(1−ρ) in the system, whatever the sizes look like", () => {
    // One core, threads for everybody, sizes of a lognormal with sigma 1.
    const application = plainApplication({ phases: [phaseOf(20)], sigma: 1 });
    const inside = meanInside({ application, perSecond: 35, nodeCores: 1 }, 2);
    expect(relativeError(inside, 0.7 / 0.3)).toBeLessThan(0.05);
  });

  test("M/G/1 first come, first served: Pollaczek and Khinchine's waiting time", () => {
    const application = plainApplication({ phases: [phaseOf(20)], sigma: 0.8, threads: 1 });
    const rate = 0.03;
    const secondMoment = 20 * 20 * Math.exp(0.8 ** 2);
    const theory = rate * (20 + (rate * secondMoment) / (2 * (1 - 0.6)));
    expect(relativeError(meanInside({ application, perSecond: 30 }, 2), theory)).toBeLessThan(0.05);
  });

  test("M/M/3: Erlang's C", () => {
    const application = plainApplication({ phases: [phaseOf(60)], sizes: exponentialSizes, threads: 3 });
    // Offered load a = 40/s · 60 ms = 2.4 of 3 servers.
    const a = 2.4;
    const last = (a ** 3 / 6) * (3 / (3 - a));
    const waits = last / (1 + a + a ** 2 / 2 + last);
    const theory = a + (waits * a) / (3 - a);
    expect(relativeError(meanInside({ application, perSecond: 40 }, 2), theory)).toBeLessThan(0.05);
  });

  test("waiting for something else than the CPU delays nobody: M/G/∞", () => {
    const application = plainApplication({ phases: [phaseOf(0, { wait: 250 })], sigma: 1 });
    expect(relativeError(meanInside({ application, perSecond: 20 }, 1), 5)).toBeLessThan(0.03);
  });

  test("CPU used is work done: arrivals times work, over the processor's speed", () => {
    const world = simpleWorld({
      application: plainApplication({ phases: [phaseOf(10), phaseOf(30, { width: 4, wait: 5 })] }),
      load: steadyLoad(50),
    });
    world.advance(seconds(600));
    const { completed, cpuUsed } = world.truth(shop);
    expect(completed).toBeGreaterThan(29_000);
    expect(relativeError(cpuUsed, completed * 0.04)).toBeLessThan(0.001);
  });
});

describe("the quota", () => {
  /** Latencies at a percentile of requests that are alone in a pod with 0.2 cores. */
  const lonelyLatency = (quantile: number, width = 1): number => {
    const world = simpleWorld({
      application: plainApplication({ phases: [phaseOf(60, { width })] }),
      load: steadyLoad(0.2),
      initial: { replicas: 1, cpu: cores(0.2), memory: mebibytes(256) },
      slo: { kind: "latency", quantile, target: seconds(1) },
      metrics: { missing: 0, sloWindow: seconds(1e9), interval: seconds(10_000) },
    });
    world.advance(seconds(40_000));
    return world.truth(shop).latency ?? Number.NaN;
  };

  test("60 ms of CPU with 0.2 cores takes 140 to 220 ms, by where in a period it begins", () => {
    // Begun u ms into a period. Up to u = 80 it gets its 20 ms there and in each of the next two, and is done 20 ms into
    // the third: 220 − u. Later than that the first period gives less, a fourth one the rest, and it takes 220.
    // u is uniform, so four fifths lie evenly between 140 and 220 (the median is 190) and one fifth at 220. The few that
    // are not alone after all take longer.
    expect(lonelyLatency(0.0005)).toBeGreaterThan(139);
    expect(lonelyLatency(1)).toBeGreaterThan(220);
    expect(lonelyLatency(0.5)).toBeGreaterThan(185);
    expect(lonelyLatency(0.5)).toBeLessThan(195);
    expect(lonelyLatency(0.9)).toBeCloseTo(220, 1);
  });

  test("four threads spend the same quota four times faster and gain little", () => {
    // 15 ms of wall time, 5 ms of them in each of three periods.
    expect(lonelyLatency(0.9, 4)).toBeLessThan(220);
    expect(lonelyLatency(0.9, 4)).toBeGreaterThan(190);
  });
});
