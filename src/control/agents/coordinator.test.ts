import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { milliseconds, parseWorkloadId, unwrap, type WorkloadId } from "../../base/index.ts";
import { type Coordinator, type CoordinatorOptions, createCoordinator } from "./coordinator.ts";

const at = milliseconds;
const id = (name: string): WorkloadId => unwrap(parseWorkloadId(name));
const [a, b, c] = [id("a"), id("b"), id("c")];

const make = (parts: Partial<CoordinatorOptions> = {}): Coordinator =>
  createCoordinator({
    features: [
      { name: "limits", combine: "sum" },
      { name: "preservation", combine: "mean" },
    ],
    deviations: true,
    expiry: at(30_000),
    ...parts,
  });

const join = (fleet: Coordinator, agent: WorkloadId, now = 0): number =>
  unwrap(fleet.join(agent, { now: at(now) })).incarnation;

interface Said {
  readonly incarnation: number;
  readonly values: readonly number[];
  readonly reward?: number | null;
  readonly step?: number;
}

const say = (fleet: Coordinator, agent: WorkloadId, { incarnation, values, reward = 0, step = fleet.step }: Said) =>
  fleet.report({ agent, incarnation, step, values, reward }, at(0));

const codeOf = (result: ReturnType<Coordinator["report"]>): string => (result.ok ? "ok" : result.failure.code);

describe("what an agent sees of the others", () => {
  test("sums, means and deviations of all but itself", () => {
    const fleet = make();
    const [one, two, three] = [join(fleet, a), join(fleet, b), join(fleet, c)];
    unwrap(say(fleet, a, { incarnation: one, values: [10, 0.2], reward: 1 }));
    unwrap(say(fleet, b, { incarnation: two, values: [1, 1], reward: 2 }));
    unwrap(say(fleet, c, { incarnation: three, values: [5, 0.5], reward: 6 }));
    expect(fleet.closeStep(at(0))).toEqual({ step: 0, members: 3, reported: 3, expired: [], teamReward: 3 });
    // The others of a are b and c: limits 1 + 5, deviation of {1, 5} is 2; preservation (1 + 0.5) / 2, deviation 0.25.
    expect([...unwrap(fleet.globalState(a))]).toEqual([6, 0.75, 2, 0.25]);
  });

  test("nothing where it is alone", () => {
    const fleet = make();
    unwrap(say(fleet, a, { incarnation: join(fleet, a), values: [10, 1] }));
    fleet.closeStep(at(0));
    expect([...unwrap(fleet.globalState(a))]).toEqual([0, 0, 0, 0]);
  });

  test("a virtual agent for each kind of members", () => {
    const fleet = make({ deviations: false, groups: ["cpu", "io"] });
    const one = unwrap(fleet.join(a, { now: at(0), group: "cpu" })).incarnation;
    const two = unwrap(fleet.join(b, { now: at(0), group: "cpu" })).incarnation;
    const three = unwrap(fleet.join(c, { now: at(0), group: "io" })).incarnation;
    unwrap(say(fleet, a, { incarnation: one, values: [1, 0.1] }));
    unwrap(say(fleet, b, { incarnation: two, values: [2, 0.5] }));
    unwrap(say(fleet, c, { incarnation: three, values: [4, 0.25] }));
    fleet.closeStep(at(0));
    expect([...unwrap(fleet.globalState(a))]).toEqual([2, 0.5, 4, 0.25]);
    expect([...unwrap(fleet.globalState(c))].map((x) => +x.toFixed(6))).toEqual([3, 0.3, 0, 0]);
  });

  test("a virtual agent for each percentile of the others, by nearest rank", () => {
    const fleet = make({ percentiles: [0.1, 0.5, 0.9] });
    const said = [
      [a, [10, 0.2]],
      [b, [1, 1]],
      [c, [5, 0.5]],
      [id("d"), [7, 0.2]],
    ] as const;
    for (const [agent, values] of said) unwrap(say(fleet, agent, { incarnation: join(fleet, agent), values }));
    fleet.closeStep(at(0));
    expect(fleet.width).toBe(6);
    const seen = (agent: WorkloadId) => [...unwrap(fleet.globalState(agent))].map((x) => +x.toFixed(6));
    // The others of a are 1, 5, 7 and 0.2, 0.5, 1: of three the ranks ⌈0.3⌉, ⌈1.5⌉ and ⌈2.7⌉ are the first, second and third.
    expect(seen(a)).toEqual([1, 0.2, 5, 0.5, 7, 1]);
    // Those of b are 5, 7, 10 and 0.2, 0.2, 0.5.
    expect(seen(b)).toEqual([5, 0.2, 7, 0.2, 10, 0.5]);
  });

  test("equals the sums over all others, whoever joins, leaves and reports", () => {
    const agents = Array.from({ length: 8 }, (_, i) => id(`agent-${i}`));
    const event = fc.record({
      kind: fc.constantFrom("join", "leave", "report", "report", "report", "close"),
      agent: fc.nat(7),
      values: fc.tuple(fc.double({ min: -50, max: 50, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        const fleet = make();
        const lives = new Map<WorkloadId, number>();
        const pending = new Map<WorkloadId, readonly number[]>();
        const closed = new Map<WorkloadId, readonly number[]>();
        for (const { kind, agent: number, values } of events) {
          const agent = agents[number] as WorkloadId;
          const incarnation = lives.get(agent);
          if (kind === "join") {
            lives.set(agent, join(fleet, agent));
            pending.delete(agent);
            closed.delete(agent);
          } else if (kind === "leave" && incarnation !== undefined) {
            unwrap(fleet.leave(agent, incarnation));
            for (const map of [lives, pending, closed]) map.delete(agent);
          } else if (kind === "report" && incarnation !== undefined && !pending.has(agent)) {
            unwrap(say(fleet, agent, { incarnation, values }));
            pending.set(agent, values);
          } else if (kind === "close") {
            fleet.closeStep(at(0));
            for (const [who, what] of pending) closed.set(who, what);
            pending.clear();
            for (const who of lives.keys()) {
              const others = [...closed].filter(([other]) => other !== who).map(([, theirs]) => theirs);
              const expected = naive(others);
              const state = [...unwrap(fleet.globalState(who))];
              for (const [i, value] of state.entries()) expect(value).toBeCloseTo(expected[i] as number, 3);
            }
          }
        }
      }),
      { seed: 19, numRuns: 200 },
    );
  });

  /** Two passes, so that nothing of the coordinator's way is in it. */
  function naive(others: readonly (readonly number[])[]): number[] {
    const n = others.length;
    if (n === 0) return [0, 0, 0, 0];
    const sums = [0, 1].map((i) => others.reduce((sum, values) => sum + (values[i] as number), 0));
    const deviations = [0, 1].map((i) => {
      const mean = (sums[i] as number) / n;
      return Math.sqrt(others.reduce((sum, values) => sum + ((values[i] as number) - mean) ** 2, 0) / n);
    });
    return [sums[0] as number, (sums[1] as number) / n, ...deviations];
  }
});

describe("who is in the fleet", () => {
  test("one that joins or leaves counts from the next closing on", () => {
    const fleet = make({ deviations: false });
    const [one, two] = [join(fleet, a), join(fleet, b)];
    unwrap(say(fleet, a, { incarnation: one, values: [1, 1] }));
    unwrap(say(fleet, b, { incarnation: two, values: [2, 1] }));
    expect([...unwrap(fleet.globalState(a))]).toEqual([0, 0]);
    fleet.closeStep(at(0));
    unwrap(fleet.leave(b, two));
    expect([...unwrap(fleet.globalState(a))]).toEqual([2, 1]);
    fleet.closeStep(at(0));
    expect([...unwrap(fleet.globalState(a))]).toEqual([0, 0]);
  });

  test("one that is silent for a step counts as it was, and too long means out", () => {
    const fleet = make({ deviations: false });
    const [one, two] = [join(fleet, a), join(fleet, b)];
    unwrap(say(fleet, b, { incarnation: two, values: [2, 1] }));
    fleet.closeStep(at(10_000));
    unwrap(fleet.heartbeat(a, one, at(20_000)));
    fleet.closeStep(at(30_000));
    expect([...unwrap(fleet.globalState(a))]).toEqual([2, 1]);
    // b was last heard of at 0, and 30,001 ms are more than its 30 seconds.
    expect(fleet.closeStep(at(30_001)).expired).toEqual([b]);
    expect([...unwrap(fleet.globalState(a))]).toEqual([0, 0]);
  });

  test("one that comes again is another one: its old life is refused", () => {
    const fleet = make();
    const old = join(fleet, a);
    const now = join(fleet, a);
    expect(now).toBeGreaterThan(old);
    expect(codeOf(say(fleet, a, { incarnation: old, values: [1, 1] }))).toBe("agents.stale-incarnation");
    expect(codeOf(say(fleet, a, { incarnation: now, values: [1, 1] }))).toBe("ok");
    expect(codeOf(fleet.leave(a, old))).toBe("agents.stale-incarnation");
  });

  test("a restarted coordinator knows members, sums, the step and whose incarnation is next", () => {
    const fleet = make();
    const [one, two] = [join(fleet, a), join(fleet, b)];
    unwrap(say(fleet, a, { incarnation: one, values: [3, 1] }));
    unwrap(say(fleet, b, { incarnation: two, values: [2, 0.5] }));
    fleet.closeStep(at(0));
    const restarted = make();
    restarted.restore(JSON.parse(JSON.stringify(fleet.snapshot())));
    expect(restarted.step).toBe(1);
    expect(restarted.members()).toEqual(fleet.members());
    expect(restarted.globalState(a)).toEqual(fleet.globalState(a));
    expect(codeOf(say(restarted, a, { incarnation: one, values: [1, 1] }))).toBe("ok");
    expect(join(restarted, c)).toBe(3);
  });
});

describe("what is refused, with everyone else unaffected", () => {
  test.each([
    ["a stranger", b, { incarnation: 1, values: [1, 1] }, "agents.unknown"],
    ["NaN", a, { incarnation: 1, values: [Number.NaN, 1] }, "agents.not-finite"],
    [
      "an infinite reward",
      a,
      { incarnation: 1, values: [1, 1], reward: Number.POSITIVE_INFINITY },
      "agents.not-finite",
    ],
    ["too few values", a, { incarnation: 1, values: [1] }, "agents.shape"],
    ["a step that is not open yet", a, { incarnation: 1, values: [1, 1], step: 1 }, "agents.ahead"],
    ["a step that is closed", a, { incarnation: 1, values: [1, 1], step: -1 }, "agents.late"],
  ] as const)("%s", (_, agent, said, code) => {
    const fleet = make();
    join(fleet, a);
    expect(codeOf(say(fleet, agent, said))).toBe(code);
    expect(fleet.closeStep(at(0)).reported).toBe(0);
  });

  test("a step that is reported twice: the first report counts", () => {
    const fleet = make();
    const [one, two] = [join(fleet, a), join(fleet, b)];
    unwrap(say(fleet, a, { incarnation: one, values: [1, 1], reward: 1 }));
    expect(codeOf(say(fleet, a, { incarnation: one, values: [100, 1], reward: 99 }))).toBe("agents.repeated-step");
    unwrap(say(fleet, b, { incarnation: two, values: [2, 1], reward: 3 }));
    expect(fleet.closeStep(at(0)).teamReward).toBe(2);
    expect(unwrap(fleet.globalState(b))[0]).toBe(1);
  });

  test("one that did nothing is in what others see, and not in what the team earned", () => {
    const fleet = make();
    const [one, two] = [join(fleet, a), join(fleet, b)];
    unwrap(say(fleet, a, { incarnation: one, values: [1, 1], reward: 4 }));
    unwrap(say(fleet, b, { incarnation: two, values: [2, 1], reward: null }));
    expect(fleet.closeStep(at(0))).toMatchObject({ reported: 2, teamReward: 4 });
    expect(unwrap(fleet.globalState(a))[0]).toBe(2);
  });

  test("more agents than the fleet may have, and a kind that it does not know", () => {
    const fleet = make({ maxAgents: 1 });
    join(fleet, a);
    const full = fleet.join(b, { now: at(0) });
    expect(full.ok ? "ok" : full.failure.code).toBe("agents.too-many");
    const odd = fleet.join(a, { now: at(0), group: "gpu" });
    expect(odd.ok ? "ok" : odd.failure.code).toBe("agents.unknown-group");
  });
});
