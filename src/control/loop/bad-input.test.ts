/** Nonsense from outside reaches the agent as a named failure in the very turn it came, and nothing else is disturbed. */
import { describe, expect, test } from "vitest";
import { here, readingOf, SettableClock, START, stage, workloadId } from "../../../test/fixtures/loop/scripted.ts";
import { memoryActuator } from "../../act/index.ts";
import type { Ms, WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";

const PERIOD = 15_000;
const periods = (count: number) => count * PERIOD - 100;

describe("telemetry", () => {
  const hostile: readonly [string, (workload: WorkloadId, now: Ms) => unknown, string][] = [
    ["a NaN", (workload, now) => ({ ...readingOf(workload, now), level: Number.NaN }), "test.not-a-measure"],
    ["nothing at all", () => undefined, "test.malformed"],
    ["another workload's reading", (_, now) => readingOf(workloadId("api"), now), "loop.wrong-workload"],
  ];

  test.each(hostile)("that says %s is a named failure within the turn", async (_, read, code) => {
    const clock = new SettableClock(START);
    const telemetry = { read: async (workload: WorkloadId) => ok(read(workload, clock.now())) };
    const { loop, slot } = stage({ clock, telemetry });
    const { agent } = slot("web");
    await clock.pass(periods(1));
    expect(agent.seen[0]?.reading).toMatchObject({ ok: false, failure: { code } });
    expect(agent.seen[0]?.have.ok).toBe(true);
    await loop.stop();
  });

  test("that its agent cannot even look at is a named failure too, and the agent has its turn", async () => {
    const { clock, loop, slot, events } = stage();
    const { agent } = slot("web", {
      parse: () => {
        throw new RangeError("index out of range");
      },
    });
    await clock.pass(periods(2));
    expect(agent.seen.map(({ reading }) => !reading.ok && reading.failure.code)).toEqual([
      "loop.port-threw",
      "loop.port-threw",
    ]);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "telemetry" }));
    expect(events.some(({ kind }) => kind === "crashed")).toBe(false);
  });
});

describe("a workload that vanishes", () => {
  test("is a named failure of both ports in the next turn, and its agent goes on when it is back", async () => {
    const clock = new SettableClock(START);
    const web = workloadId("web");
    const gone = failure("telemetry.unknown-workload", "there is no such workload");
    let isThere = true;
    const telemetry = {
      read: async (workload: WorkloadId) => (isThere ? ok(readingOf(workload, clock.now())) : err(gone)),
    };
    let actuator = memoryActuator([[web, here]]);
    const { loop, slot } = stage({
      clock,
      telemetry,
      actuator: {
        read: (workload, signal) => actuator.read(workload, signal),
        apply: (action, signal) => actuator.apply(action, signal),
      },
    });
    const { agent } = slot("web", { copies: () => 5 });
    await clock.pass(periods(1));
    isThere = false;
    actuator = memoryActuator([]);
    await clock.pass(PERIOD);
    expect(agent.seen[1]).toMatchObject({
      reading: { ok: false, failure: { code: "telemetry.unknown-workload" } },
      have: { ok: false, failure: { code: "actuator.unknown-workload" } },
    });
    isThere = true;
    actuator = memoryActuator([[web, here]]);
    await clock.pass(PERIOD);
    expect(agent.seen[2]).toMatchObject({ reading: { ok: true }, have: { ok: true } });
    await loop.stop();
  });
});

describe("node capacities that are not known", () => {
  test("leave no room to grow into, rather than all the room in the world", async () => {
    const down = failure("nodes.unavailable", "no answer", { retry: true });
    const { clock, loop, slot, events } = stage({ nodes: { nodes: async () => err(down) } });
    const { agent } = slot("web");
    await clock.pass(periods(1));
    expect(agent.seen[0]?.nodes).toEqual([]);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "nodes", failure: down }));
  });
});

describe("a wall clock that is set", () => {
  test.each([
    ["an hour ahead", 3_600_000],
    ["an hour back", -3_600_000],
  ])("%s is told in that turn and only there, and turns are neither bunched nor left out", async (_, by) => {
    const { clock, loop, slot, statusOf, events } = stage();
    const { agent } = slot("web");
    await clock.pass(periods(2));
    clock.offset = by;
    await clock.pass(2 * PERIOD);
    expect(agent.seen.map(({ health }) => health.clockJump)).toEqual([undefined, undefined, by, undefined]);
    expect(agent.seen.map(({ now }) => now - START)).toEqual([0, PERIOD, 2 * PERIOD + by, 3 * PERIOD + by]);
    expect(statusOf("web")).toMatchObject({ turns: 4, skipped: 0 });
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "clock-jumped", by }));
  });
});

describe("a step that cannot be recorded", () => {
  test("is counted and named; the steps around it are stored", async () => {
    const { clock, loop, slot, store, events } = stage();
    const { agent } = slot("web");
    const plain = agent.tick.bind(agent);
    agent.tick = (input) => {
      const tick = plain(input);
      return agent.turns === 2 && tick.step
        ? { ...tick, step: { ...tick.step, obs: Float32Array.of(Number.NaN) } }
        : tick;
    };
    await clock.pass(periods(3));
    const { recorder } = await loop.stop();
    // Steps 0 and 2 and the reward of 0 are durable; step 1 is refused as invalid, and so is its reward, which finds no step.
    expect(recorder).toMatchObject({ durable: 3, lost: 2, reopened: 0 });
    expect((await store.counts()).records).toBe(2);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "port-failing",
        port: "store",
        failure: expect.objectContaining({ code: "trajectory.invalid" }),
      }),
    );
  });
});
