import { expect, test } from "vitest";
import type { Limits, Ms, Ratio } from "../../../base/index.ts";
import type { InstanceReading, RequestReading } from "../../../observe/telemetry/index.ts";
import { decodeMitigation, encodeLimits, type MitigationMove, wantedLimits } from "./action.ts";
import { compositionOf, encodeMitigation, offeredOf, sloMaintenanceOf, workloadChangeOf } from "./observation.ts";
import { mitigationReward } from "./reward.ts";
import { UseMemory } from "./use-memory.ts";

const all = (value: number): Limits => ({ cpu: value, memory: value, llc: value, io: value, network: value });
const used = (value: number) => all(value) as { [R in keyof Limits]: Ratio };

const instance = (change: Partial<InstanceReading> = {}): InstanceReading => ({
  instance: "text-0",
  service: "text",
  node: "n",
  at: 0 as Ms,
  isReady: true,
  limits: all(4),
  lower: all(1),
  upper: all(32),
  threads: 16,
  use: used(0.5),
  counters: null,
  ...change,
});
type Change = Partial<MitigationMove> & { readonly instance?: InstanceReading };
const move = ({ instance: own = instance(), ...change }: Change = {}): MitigationMove => {
  const memory = new UseMemory();
  memory.note([own]);
  return {
    kind: "headroom",
    limits: own.limits,
    lower: own.lower,
    upper: own.upper,
    threads: own.threads,
    use: own.use,
    used: memory.peakOf(own),
    deployed: all(1),
    room: all(100),
    replicas: 1,
    sloMaintenance: 1,
    ...change,
  };
};
/** What is decoded for five times the same number, or five numbers. */
const decoded = (action: number | readonly number[], change: Change = {}) =>
  decodeMitigation(typeof action === "number" ? new Array<number>(5).fill(action) : action, move(change));

test("SM is the SLO over the latency, capped at 1, and the uncapped ratio for whoever asks", () => {
  expect(sloMaintenanceOf(100, 200)).toBe(0.5);
  expect(sloMaintenanceOf(100, 50)).toBe(1);
  expect(sloMaintenanceOf(100, 50, { cap: Number.POSITIVE_INFINITY })).toBe(2);
  // Nothing was answered.
  expect(sloMaintenanceOf(100, null)).toBeLessThan(0.05);
});

test("WC is the ratio of arrival rates, and 1 where there is nothing to compare", () => {
  expect(workloadChangeOf(300, 200)).toBe(1.5);
  expect(workloadChangeOf(300, null)).toBe(1);
  expect(workloadChangeOf(300, 0)).toBe(1);
  const reading = (offered: number) => ({ offered }) as RequestReading;
  expect(offeredOf([reading(20), reading(30)])).toBe(50);
  expect(offeredOf([])).toBeNull();
});

test("RC tells mixes apart by their tenths, the first type's highest, and lies between 0 and 1", () => {
  // Shares 0.5 and 0.5 are the digits 5 and 5 of at most 9 and 9: 55 / 99.
  expect(compositionOf([10, 10])).toBeCloseTo(55 / 99, 12);
  expect(compositionOf([30, 10])).toBeCloseTo(72 / 99, 12);
  expect(compositionOf([7, 0])).toBeCloseTo(90 / 99, 12);
  expect(compositionOf([0, 0])).toBe(0);
});

test("an agent sees eight numbers, in the order of Table 3.2", () => {
  const use = { cpu: 0.1, memory: 0.2, llc: 0.3, io: 0.4, network: 0.5 };
  const seen = encodeMitigation({ sloMaintenance: 0.5, workloadChange: 1.25, composition: 0.75, use });
  expect([...seen].map((x) => Number(x.toFixed(6)))).toEqual([0.5, 0.25, 0.75, 0.1, 0.2, 0.3, 0.4, 0.5]);
  // A hundredfold rise is as good as threefold.
  expect(encodeMitigation({ sloMaintenance: 1, workloadChange: 100, composition: 0, use })[1]).toBe(2);
});

test("the reward is α of SM for every resource and the rest of utilisation, so higher SM is better", () => {
  // 0.8 · 0.5 · 5 + 0.2 · (5 · 0.4) = 2 + 0.4.
  expect(mitigationReward({ sloMaintenance: 0.5, use: all(0.4) }, 0.8)).toBeCloseTo(2.4, 12);
  expect(mitigationReward({ sloMaintenance: 1, use: all(0.4) }, 0.8)).toBeCloseTo(4.4, 12);
  // More than all of a limit cannot be used, whatever noise says.
  expect(mitigationReward({ sloMaintenance: 1, use: all(1.1) }, 0.8)).toBeCloseTo(5, 12);
});

test("as printed, the five numbers are places between the lower and the upper limit", () => {
  const wanted = wantedLimits([1, -1, 0, 5, -5], move({ kind: "limits" }));
  expect(wanted.cpu).toBeCloseTo(32, 9);
  // A little below the lower limit, so that fewer containers can be asked for.
  expect(wanted.memory).toBeCloseTo(0.9, 9);
  // Half way, by factors: √(0.9 · 32).
  expect(wanted.llc).toBeCloseTo(Math.sqrt(0.9 * 32), 9);
  expect(wanted.io).toBeCloseTo(32, 9);
  expect(wanted.network).toBeCloseTo(0.9, 9);
});

test("as headroom, they are factors on what is used: 2 of 4 are, so 2.8 to 8 are granted", () => {
  const wanted = wantedLimits([1, -1, 0, 0, 0], move());
  expect(wanted.cpu).toBeCloseTo(8, 9);
  expect(wanted.memory).toBeCloseTo(2.8, 9);
  expect(wanted.io).toBeCloseTo(2 * Math.sqrt(1.4 * 4), 9);
  // A cache is always full, so its least is what it has: 2 · √(1 · 4).
  expect(wanted.llc).toBeCloseTo(4, 9);
});

test("while an SLO is broken use tells too little: by so much as the latency is over it, at most four times", () => {
  const down = [-1, -1, -1, -1, -1];
  // 2 of 4 cores are used, so 2 · 2 · 1.4; of what means tell late, all 4 may be: 4 · 2 · 1.4.
  expect(wantedLimits(down, move({ sloMaintenance: 0.5 })).cpu).toBeCloseTo(5.6, 9);
  expect(wantedLimits(down, move({ sloMaintenance: 0.5 })).io).toBeCloseTo(11.2, 9);
  expect(wantedLimits(down, move({ sloMaintenance: 0.1 })).cpu).toBeCloseTo(11.2, 9);
  // Where it is known what it lacks, the rest is as ever: 2 · 1.4.
  const known = wantedLimits(down, move({ sloMaintenance: 0.5, lacking: ["io"] }));
  expect([known.cpu, known.io]).toEqual([expect.closeTo(2.8, 9), expect.closeTo(11.2, 9)]);
  // As printed there is no such thing.
  expect(wantedLimits(down, move({ kind: "limits", sloMaintenance: 0.5 })).cpu).toBeCloseTo(0.9, 9);
});

test("limits are kept between lower and upper, and cores below threads", () => {
  const top = decoded(1, { instance: instance({ limits: all(20), use: used(0.9), threads: 24 }) });
  expect(top.setting).toEqual({ cpu: 24, memory: 32, llc: 32, io: 32, network: 32, replicas: 1 });
  expect(decoded(-1, { instance: instance({ use: used(0.1) }) }).setting).toEqual({ ...all(1), replicas: 1 });
});

test("bandwidth and cache are not taken back below what the container was deployed with; cores are, and the printed way does", () => {
  const idle = { instance: instance({ use: used(0.1) }), deployed: all(2.5) };
  expect(decoded(-1, idle).setting).toEqual({ ...all(2.5), cpu: 1, replicas: 1 });
  expect(decoded(-1, { ...idle, kind: "limits" }).setting).toEqual({ ...all(1), replicas: 1 });
});

test("changes within the noise of telemetry are not made", () => {
  // 4 · 0.7 · 1.4 = 3.92 of 4, and of the cache all 4.
  const still = decoded(-1, { instance: instance({ use: { ...used(0.7), llc: 1 as Ratio } }) });
  expect(still.setting).toEqual({ ...all(4), replicas: 1 });
});

test("what is no number stays none, for the guard to refuse", () => {
  expect(decoded([0, Number.NaN, 0, 0, 0]).setting.memory).toBeNaN();
});

test("what the node has not left is replaced by one more container, and the rest is set all the same", () => {
  const short = instance({ use: { ...used(0.5), io: 1 as Ratio } });
  const { setting, oversubscribed } = decoded([-1, -1, -1, 1, -1], {
    instance: short,
    room: { ...all(100), io: 6 },
    sloMaintenance: 0.5,
    replicas: 2,
  });
  expect(oversubscribed).toEqual(["io"]);
  // 4 + 6: all that the node has. Nothing is taken from who is to blame.
  expect(setting).toMatchObject({ replicas: 3, io: 10, cpu: expect.closeTo(5.6, 9) });
});

test("a resource that is all used at its upper limit calls for one more container, unless nobody is harmed", () => {
  const top = instance({ limits: { ...all(4), memory: 32 }, use: { ...used(0.5), memory: 1 as Ratio } });
  expect(decoded([0, 1, 0, 0, 0], { instance: top, sloMaintenance: 0.9 }).setting.replicas).toBe(2);
  expect(decoded([0, 1, 0, 0, 0], { instance: top, sloMaintenance: 1 }).setting.replicas).toBe(1);
});

test("below the lower limit of all that flows one container less is enough, but never none", () => {
  // 4 · 0.1 · 1.4 = 0.56, below 1.
  const idle = instance({ use: { ...used(0.1), llc: 1 as Ratio } });
  expect(decoded(-1, { instance: idle, replicas: 2 }).setting.replicas).toBe(1);
  expect(decoded(-1, { instance: idle, replicas: 1 }).setting.replicas).toBe(1);
});

test("a setting is encoded as the numbers that would have wanted it, or the nearest there are", () => {
  for (const change of [
    {},
    { sloMaintenance: 0.5 },
    { sloMaintenance: 0.5, lacking: ["io"] as const },
    { kind: "limits" as const },
  ]) {
    const one = move(change);
    const action = [0.5, -0.25, 0, 1, -1];
    expect([...encodeLimits(wantedLimits(action, one), one)].map((value) => Number(value.toFixed(5)) + 0)).toEqual(
      action,
    );
  }
  // 4 of 2 used is twice: below the middle. A hundred is beyond the most, a tenth below the least; nothing used is enough.
  const [cpu, memory, llc, io] = encodeLimits(
    { cpu: 4, memory: 100, llc: 0.1, io: 4, network: 4 },
    move({ used: { ...all(2), io: 0 } }),
  );
  expect(cpu).toBeCloseTo((2 * Math.log(2 / 1.4)) / Math.log(4 / 1.4) - 1, 6);
  expect([memory, llc, io]).toEqual([1, -1, 1]);
});

test("headroom is a factor on the highest use of the last ten readings, by resource", () => {
  const memory = new UseMemory();
  const at = (cpu: number) => instance({ use: { ...used(0.5), cpu: cpu as Ratio } });
  memory.note([at(0.75)]);
  for (let i = 0; i < 9; i++) memory.note([at(0.25)]);
  // 0.75 and 0.5 of 4.
  expect(memory.peakOf(at(0))).toMatchObject({ cpu: 3, memory: 2 });
  memory.note([instance({ use: null })]);
  expect(memory.peakOf(at(0)).cpu).toBe(3);
  memory.note([at(0.25)]);
  expect(memory.peakOf(at(0)).cpu).toBe(1);
  // A quota period of 3.5 cores, in a second of 1.
  memory.note([{ ...at(0.25), counters: { cpuPeakCores: 3.5 } as InstanceReading["counters"] }]);
  expect(memory.peakOf(at(0)).cpu).toBe(3.5);
  memory.note([{ ...at(0.25), limits: all(2) }]);
  expect(memory.deployedWith({ ...at(0), limits: all(2) })).toEqual(all(4));
  memory.note([]);
  // Nothing is known of it: all may be in use.
  expect(memory.peakOf(at(0))).toEqual(all(4));
});
