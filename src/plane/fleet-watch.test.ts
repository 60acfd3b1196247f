import { expect, test } from "vitest";
import { bytes, milliseconds, parseAgentId, parseWorkloadId, seconds, unwrap, type WorkloadId } from "../base/index.ts";
import type { FleetDocument } from "../contract/index.ts";
import { fleetSchema } from "../contract/schemas/index.ts";
import { type FleetStep, FleetWatch } from "./fleet-watch.ts";
import type { FleetLook, HostWork } from "./world.ts";

const START = milliseconds(1_000_000);
const STEP = seconds(20);
const [a, b] = ["a", "b"].map((name) => unwrap(parseWorkloadId(name))) as [WorkloadId, WorkloadId];

const stepOf = (preservation: number | null, reward: number | null, used = 0): FleetStep => ({
  preservation,
  reward,
  sums: { cpuUsed: used, cpuGranted: preservation === null ? 0 : 10 },
});
const NOTHING = stepOf(null, null);

interface Moment {
  readonly here: readonly WorkloadId[];
  readonly own?: Partial<Record<string, FleetStep>>;
  readonly twin?: Partial<Record<string, FleetStep>>;
  readonly work?: HostWork | null;
}

/** Three steps make a point, and lately are fifteen. */
function watch(isTold = true) {
  let now: Moment = { here: [] };
  let steps = 0;
  const fleet = {
    look: (): FleetLook => ({
      present: now.here,
      hosts: isTold
        ? [
            {
              name: "x",
              cores: 4,
              memory: bytes(1_000),
              reserved: bytes(400),
              tenants: [...now.here].reverse().map((workload) => ({ workload, active: 2, spare: 1 })),
              work: now.work ?? null,
            },
          ]
        : null,
    }),
  };
  const workloads = [a, b].map((id) => ({
    target: { id, title: id.toUpperCase(), ...(id === b ? { attainment: 0.5 } : {}) },
    agent: { id: unwrap(parseAgentId(`${id}-agent`)), stage: "ONLINE" as const, acting: "learner" as const },
    twinSeen: id === a ? {} : null,
  }));
  const watch = new FleetWatch({ fleet, workloads, controlStep: STEP, now: START });
  const at = () => milliseconds(START + steps * STEP);
  return {
    step(moment: Moment) {
      now = moment;
      steps += 1;
      for (const id of [a, b]) watch.add(id, moment.own?.[id] ?? NOTHING, moment.twin?.[id] ?? null);
      return watch.endStep(at());
    },
    get document(): FleetDocument {
      const document = watch.document(at());
      expect(fleetSchema.safeParse(document).error).toBeUndefined();
      return document;
    },
  };
}

test("whoever is there at first has come once; who goes and comes back is marked, told at once, and counted anew", () => {
  const fleet = watch();
  const kept = stepOf(1, 0.5);
  expect(fleet.step({ here: [a], own: { a: kept } })).toEqual({ hasNews: true, left: [] });
  expect(fleet.step({ here: [a], own: { a: kept } })).toEqual({ hasNews: false, left: [] });
  const members = () => fleet.document.members.map(({ isPresent, since, joins }) => [isPresent, since - START, joins]);
  expect(members()).toEqual([
    [true, 0, 1],
    [false, 0, 0],
  ]);
  // The third step makes a point.
  expect(fleet.step({ here: [a], own: { a: stepOf(0.5, 0.2) } })).toEqual({ hasNews: true, left: [] });
  expect(fleet.document.members[0]?.lately).toMatchObject({ steps: 3, missed: 1 });
  expect(fleet.step({ here: [b], own: { a: stepOf(0.5, 0.2) } })).toEqual({ hasNews: true, left: ["a"] });
  expect(members()).toEqual([
    [false, 80_000, 1],
    [true, 80_000, 1],
  ]);
  fleet.step({ here: [a, b] });
  expect(members()).toEqual([
    [true, 100_000, 2],
    [true, 80_000, 1],
  ]);
  expect(fleet.document.changes.map(({ at, workload, kind }) => [at - START, workload, kind])).toEqual([
    [80_000, "a", "left"],
    [80_000, "b", "joined"],
    [100_000, "a", "joined"],
  ]);
  expect(fleet.document.members[0]?.lately).toEqual({
    steps: 0,
    missed: 0,
    preservation: null,
    use: {},
    reward: null,
  });
  expect(fleet.document.members.map(({ attainment }) => attainment)).toEqual([0.99, 0.5]);
});

test("a point is the mean of its steps, the fleet's that of all members that were measured, and of their twins", () => {
  const fleet = watch();
  const own = (x: number) => ({ a: stepOf(1, x, 2), b: stepOf(0.5, 0) });
  for (const x of [0.3, 0.6, 0.9]) fleet.step({ here: [a, b], own: own(x), twin: { a: stepOf(1, 0.1, 5) } });
  for (let i = 0; i < 3; i += 1) fleet.step({ here: [a], own: { a: stepOf(1, 0.9, 4) } });
  const { series, members } = fleet.document;
  expect(series).toEqual({
    at: [START + 60_000, START + 120_000],
    // (0.3 + 0.6 + 0.9 + 3 · 0) / 6, then a alone.
    reward: [0.3, 0.9],
    twinReward: [0.1, null],
    present: [2, 1],
  });
  expect(members.map((member) => member.series)).toEqual([
    { preservation: [1, 1], reward: [0.6, 0.9], use: { cpu: [0.2, 0.4] } },
    { preservation: [0.5, null], reward: [0, null], use: { cpu: [0, null] } },
  ]);
  // Six steps of 10 granted, 2 used in three of them and 4 in the others; the twin was not measured any more.
  expect(members[0]?.lately).toEqual({ steps: 6, missed: 0, preservation: 1, use: { cpu: 0.3 }, reward: 0.75 });
  expect(members[0]?.twin).toEqual({ steps: 3, missed: 0, preservation: 1, use: { cpu: 0.5 }, reward: 0.1 });
  expect(members[1]?.twin).toBeNull();
});

test("hosts are averaged over the last steps, and what a member lost counts as much as it was at work", () => {
  const fleet = watch();
  const work = (busy: number, share: number): HostWork => ({
    tenants: [{ workload: a, wanted: busy, used: busy * (1 - share), busy }],
    losses: [
      { workload: a, by: b, resource: "memory", share },
      { workload: a, by: null, resource: "cpu", share: 0.000_1 },
    ],
  });
  fleet.step({ here: [a, b], work: work(1, 0.4) });
  fleet.step({ here: [a, b], work: work(3, 0) });
  const [host] = fleet.document.hosts ?? [];
  expect(host).toEqual({
    name: "x",
    cores: 4,
    memory: 1_000,
    reserved: 400,
    tenants: [
      { workload: "a", active: 2, spare: 1, wanted: 2, used: 1.8 },
      { workload: "b", active: 2, spare: 1, wanted: 0, used: 0 },
    ],
    // 1 · 0.4 of 4 at work; what nobody would notice is left out.
    losses: [{ workload: "a", by: "b", resource: "memory", share: 0.1 }],
  });
});

test("a world that cannot tell who works where, or which machines there are, has it said", () => {
  const silent = watch();
  silent.step({ here: [a] });
  expect(silent.document.hosts?.[0]).toMatchObject({ tenants: [{ wanted: null, used: null }], losses: null });
  const blind = watch(false);
  blind.step({ here: [a] });
  expect(blind.document.hosts).toBeNull();
});

test("series and changes are bounded: the oldest are forgotten together", () => {
  const fleet = watch();
  for (let i = 0; i < 3 * 250; i += 1) fleet.step({ here: i === 10 || i === 700 ? [a] : [a, b] });
  const { series, changes, members } = fleet.document;
  expect(series.at).toHaveLength(240);
  expect(members[0]?.series.reward).toHaveLength(240);
  expect(members[0]?.series.use.cpu).toHaveLength(240);
  expect(changes.map(({ kind }) => kind)).toEqual(["left", "joined"]);
  expect(changes.every(({ at }) => at >= (series.at[0] ?? 0))).toBe(true);
});
