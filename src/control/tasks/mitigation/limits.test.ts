/**
 * What the guard keeps for services and containers. No sequence of wishes, however wild, breaks a bound, a step, a cool-down,
 * a node's room or the number of replicas; and what the guard changed is always written down. The checks work the rules out
 * again, not with its code.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { GuardState, Setting } from "../../../act/index.ts";
import { freshGuardState, guard } from "../../../act/index.ts";
import type { Limits, WorkloadId } from "../../../base/index.ts";
import { milliseconds, resources, seconds } from "../../../base/index.ts";
import { containerLimits, MOST_REPLICAS, replicaLimits, roomsFor, serviceLimits } from "./limits.ts";

const all = (value: number): Limits => ({ cpu: value, memory: value, llc: value, io: value, network: value });
const workload = "text" as WorkloadId;
const bounds = { lower: all(1), upper: all(40), threads: 12 };
const node = (room: Limits) => ({ node: "n", capacity: all(100), room });
const oneHere = [{ node: "n" }];

interface Asked {
  readonly have?: Setting;
  readonly room?: Limits;
  readonly state?: GuardState;
  readonly now?: number;
  readonly measuredAt?: number;
}

function judge(
  want: Setting,
  { have = all(4), room = all(20), state = freshGuardState, now = 100_000, measuredAt = now - 1_000 }: Asked = {},
) {
  return guard(
    { workload, want, measuredAt: milliseconds(measuredAt) },
    {
      limits: containerLimits(bounds),
      state,
      have,
      nodes: roomsFor([node(room)], oneHere),
      now: milliseconds(now),
    },
  );
}

test("a wish within all limits passes as it is, without the values that stay", () => {
  expect(judge({ memory: 10, io: 4 })).toMatchObject({ action: { kind: "set", set: { memory: 10 } }, changed: [] });
});

test("a limit is kept within its bounds, its step and the room of its node, and each correction is written down", () => {
  // 100 → 40 by the upper bound → 32 by eight times 4 → 24 by the 20 that the node has left.
  const { setting, changed } = judge({ memory: 100 });
  expect(setting.memory).toBe(24);
  expect(changed).toEqual([
    { knob: "memory", from: 100, to: 40, rule: "bounds" },
    { knob: "memory", from: 40, to: 32, rule: "step" },
    { knob: "memory", from: 32, to: 24, rule: "capacity" },
  ]);
  expect(judge({ llc: -5 }).setting.llc).toBe(2);
});

test("a container gets no more cores than it has threads", () => {
  expect(judge({ cpu: 16 }).setting.cpu).toBe(12);
});

test("a limit that was just raised may rise again at once but falls only after its cool-down", () => {
  const first = judge({ io: 8 });
  const later = (ms: number) => ({ have: { ...all(4), io: 8 }, state: first.state, now: ms });
  expect(judge({ io: 10 }, later(100_000)).setting.io).toBe(10);
  expect(judge({ io: 6 }, later(101_000))).toMatchObject({ action: { kind: "hold" } });
  expect(judge({ io: 6 }, later(102_000)).setting.io).toBe(6);
  // Another resource of the same container does not wait for it.
  expect(judge({ network: 3 }, later(101_000)).setting.network).toBe(3);
});

test("replicas stay whole, within their bounds, their step and what the nodes have room for", () => {
  const scale = (replicas: number, room = all(20)) =>
    guard(
      { workload, want: { replicas }, measuredAt: seconds(99) },
      {
        limits: replicaLimits(bounds),
        state: freshGuardState,
        have: { replicas: 1 },
        nodes: roomsFor([node(room)], oneHere),
        now: seconds(100),
      },
    );
  expect(scale(1.2).setting.replicas).toBe(2);
  // One may become five: four more is the larger of four and double.
  expect(scale(50).setting.replicas).toBe(5);
  // Two more of the least size, 1 of everything, fit into 2.5.
  expect(scale(50, all(2.5)).setting.replicas).toBe(3);
  expect(scale(0)).toMatchObject({ action: { kind: "hold" }, changed: [{ rule: "bounds", from: 0, to: 1 }] });
});

test("the containers of a service share what their node has left, and one without room keeps all from growing", () => {
  const grown = (nodes: Parameters<typeof roomsFor>[0], containers: Parameters<typeof roomsFor>[1]) =>
    guard(
      { workload, want: { cpu: 12 }, measuredAt: seconds(99) },
      {
        limits: serviceLimits(bounds),
        state: freshGuardState,
        have: { ...all(4), replicas: 3 },
        nodes: roomsFor(nodes, containers),
        now: seconds(100),
      },
    ).setting.cpu;
  // Three on one node with 6 left: two more each.
  expect(grown([node(all(6))], [{ node: "n" }, { node: "n" }, { node: "n" }])).toBe(6);
  expect(grown([node(all(6)), { ...node(all(0)), node: "full" }], [{ node: "n" }, { node: "full" }])).toBe(4);
  // Where nobody tells of the node, there is no room to rely on.
  expect(grown([node(all(6))], [{ node: "elsewhere" }])).toBe(4);
});

test("a proposal is refused that says no number, or rests on old or future data", () => {
  // One wild number discredits the others.
  expect(judge({ cpu: Number.NaN, memory: 8 }).refused).toBe("not-finite");
  expect(judge({ cpu: 5 }, { measuredAt: 89_999 }).refused).toBe("stale-data");
  expect(judge({ cpu: 5 }, { measuredAt: 105_001 }).refused).toBe("data-from-the-future");
  expect(judge({ memory: 5 }, { have: { ...all(4), cpu: Number.NaN } }).refused).toBe("current-unknown");
});

const wild = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, -1, 1e308, -1e308, 5e-324),
  fc.double(),
);
const wish = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: 0, max: 60, noNaN: true }) },
  { weight: 1, arbitrary: wild },
);
const amounts = (min: number, max: number): fc.Arbitrary<Limits> => {
  const one = fc.double({ min, max, noNaN: true });
  return fc.record({ cpu: one, memory: one, llc: one, io: one, network: one });
};
const worlds = fc.record({
  lower: amounts(0, 4),
  width: amounts(0, 40),
  limits: amounts(0.01, 50),
  threads: fc.integer({ min: 0, max: 64 }),
  replicas: fc.integer({ min: 1, max: 20 }),
  rooms: fc.array(amounts(-5, 60), { minLength: 1, maxLength: 3 }),
  ticks: fc.array(
    fc.record({
      want: fc.record(
        { cpu: wish, memory: wish, llc: wish, io: wish, network: wish, replicas: wish },
        { requiredKeys: [] },
      ),
      waits: fc.integer({ min: -3, max: 15 }),
      age: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: -5, max: 10 }) }, fc.integer({ min: -30, max: 90 })),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`broken: ${what}`);
}
const SLACK = 1 + 1e-9;

test("no sequence of wishes breaks a bound, a step, a cool-down, a node's room or the count of replicas", () => {
  let acted = 0;
  let refusals = 0;
  fc.assert(
    fc.property(worlds, ({ lower, width, limits, threads, replicas, rooms, ticks }) => {
      const upper = Object.fromEntries(resources.map((r) => [r, lower[r] + width[r]])) as unknown as Limits;
      const kept = serviceLimits({ lower, upper, threads });
      const nodes = rooms.map((room, i) => ({ node: `n${i}`, capacity: all(100), room }));
      let have: Record<string, number> = { ...limits, replicas };
      let state: GuardState = freshGuardState;
      let now = 1_000_000;
      const changed = new Map<string, number>();
      for (const { want, waits, age } of ticks) {
        now += waits * 1_000;
        // A clock that goes back does not make anything older than it is.
        for (const [knob, at] of changed) if (at > now) changed.set(knob, now);
        const containers = Array.from({ length: have.replicas as number }, (_, i) => ({
          node: `n${i % nodes.length}`,
        }));
        const verdict = guard(
          { workload, want: want as Setting, measuredAt: milliseconds(now - age * 1_000) },
          { limits: kept, state, have, nodes: roomsFor(nodes, containers), now: milliseconds(now) },
        );
        if (verdict.refused !== undefined) {
          refusals++;
          must(verdict.action.kind === "hold" && verdict.state === state, "a refusal changes nothing");
          continue;
        }
        must(age <= 10 && age >= -5, "only fresh data is used");
        const set = verdict.action.kind === "set" ? verdict.action.set : {};
        if (verdict.action.kind === "set") acted++;
        for (const [knob, to] of Object.entries(set) as [string, number][]) {
          const before = have[knob] as number;
          const isCount = knob === "replicas";
          const low = isCount ? 1 : lower[knob as keyof Limits];
          const most = isCount
            ? MOST_REPLICAS
            : knob === "cpu"
              ? Math.max(lower.cpu, Math.min(upper.cpu, threads))
              : upper[knob as keyof Limits];
          must(
            Number.isFinite(to) && to !== before && want[knob as keyof typeof want] !== undefined,
            "a change is one",
          );
          const isLedBack = (before > most && to < before && to > most) || (before < low && to > before && to < low);
          must(
            (to >= low && to <= most) || isLedBack,
            `${knob} ${to} within ${low} and ${most}, or led back from ${before}`,
          );
          const step = isCount ? Math.max(4, before) : 0;
          must(
            isCount ? Math.abs(to - before) <= step : to <= Math.max(8 * before, before + low / 2 + 1e-6) * SLACK,
            "rises by a step",
          );
          if (!isCount) must(to * SLACK >= before / 2 - low / 2 - 1e-6, "falls by a step");
          const last = changed.get(knob);
          const wait = isCount ? (to > before ? 2_000 : 30_000) : to > before ? 0 : 2_000;
          must(last === undefined || now - last >= wait, `${knob} has cooled down`);
          if (!isCount && to > before) {
            const room = Math.min(
              ...nodes.flatMap(({ node: name, room: left }) => {
                const count = containers.filter((one) => one.node === name).length;
                return count > 0 ? [Math.max(0, left[knob as keyof Limits]) / count] : [];
              }),
            );
            must(to - before <= room * SLACK + 1e-9, `${knob} rises within the room of its nodes`);
          }
          changed.set(knob, now);
        }
        for (const { knob, from, to } of verdict.changed) must(from !== to, `a correction of ${knob} corrects`);
        have = { ...have, ...(set as Record<string, number>) };
        state = verdict.state;
      }
    }),
    { numRuns: 1_000, seed: 6 },
  );
  // The property would hold of a guard that refuses everything, too.
  expect(acted).toBeGreaterThan(1_000);
  expect(refusals).toBeGreaterThan(300);
});
