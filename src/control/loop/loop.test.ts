import { describe, expect, test } from "vitest";
import { agentId, SettableClock, START, stage } from "../../../test/fixtures/loop/scripted.ts";
import type { Ms } from "../../base/index.ts";

const PERIOD = 15_000;
/** The first agent of a loop has its turns at 0, 15, 30 … seconds: the moment before its next one. */
const periods = (count: number) => count * PERIOD - 100;

describe("turns", () => {
  test("every agent has one turn per period, and not all at once", async () => {
    const { clock, loop, slot } = stage();
    const agents = ["web", "api", "batch"].map((name) => slot(name).agent);
    await clock.pass(periods(3));
    expect(agents.map(({ seen }) => seen.length)).toEqual([3, 3, 3]);
    const firsts = agents.map(({ seen }) => seen[0]!.now - START);
    expect(new Set(firsts).size).toBe(3);
    for (const { seen } of agents) {
      const gaps = seen.slice(1).map(({ now }, i) => now - seen[i]!.now);
      expect(gaps).toEqual([PERIOD, PERIOD]);
    }
    await loop.stop();
  });

  test("turns that were missed while the process slept are counted and left out", async () => {
    const { clock, loop, slot, statusOf, events } = stage();
    const { agent } = slot("web");
    await clock.pass(1_000);
    expect(agent.seen).toHaveLength(1);
    // The timer fires ten and a half periods late: the turn itself is taken, the nine after it have passed.
    clock.manual.advance((10.5 * PERIOD) as Ms);
    await clock.pass(PERIOD);
    expect(agent.seen).toHaveLength(3);
    expect(statusOf("web").skipped).toBe(9);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "skipped", ticks: 9 }));
  });

  test("an agent that is removed has no further turn, and is disposed of", async () => {
    const { clock, loop, slot } = stage();
    const { agent } = slot("web");
    const { agent: other } = slot("api");
    await clock.pass(periods(1));
    await loop.remove(agentId("web"));
    await clock.pass(2 * PERIOD);
    expect(agent.seen).toHaveLength(1);
    expect(agent.isDisposed).toBe(true);
    expect(other.seen).toHaveLength(3);
    await loop.stop();
  });

  test("an agent is refused by name when its id is taken, too long, or the loop has stopped", async () => {
    const { loop, slot } = stage();
    slot("web");
    expect(slot("web").added).toMatchObject({ ok: false, failure: { code: "loop.duplicate-agent" } });
    expect(slot("x".repeat(81)).added).toMatchObject({ ok: false, failure: { code: "loop.agent-id" } });
    await loop.stop();
    expect(slot("api").added).toMatchObject({ ok: false, failure: { code: "loop.stopped" } });
  });
});

describe("a turn", () => {
  test("acts through the actuator and records what was done; the next turn's reward completes it", async () => {
    const { clock, loop, slot, store, events } = stage();
    slot("web", { copies: (turn) => (turn === 0 ? 5 : 2) });
    await clock.pass(periods(2));
    await loop.stop();
    const episode = `web.${START.toString(36)}-0.0`;
    const steps = await store.episode(episode as never);
    expect(steps.map(({ step, reward }) => ({ step, reward }))).toEqual([
      { step: 0, reward: 0.1 },
      { step: 1, reward: null },
    ]);
    expect(steps[0]).toMatchObject({
      agent: "web",
      at: START,
      proposed: Float32Array.of(5),
      executed: Float32Array.of(5),
    });
    expect(events.filter(({ kind }) => kind === "decision")).toHaveLength(2);
    expect(events[0]).toMatchObject({ workload: "web", applied: { ok: true, value: { copies: 5 } } });
  });

  test("shows the agent what the actuator read, not what was asked for before", async () => {
    const { clock, loop, slot } = stage();
    const { agent } = slot("web", { copies: (turn) => (turn === 0 ? 5 : 2) });
    await clock.pass(periods(2));
    expect(agent.seen[1]?.have).toMatchObject({ ok: true, value: { copies: 5 } });
    expect(agent.seen[1]?.nodes).toBe("unlimited");
    await loop.stop();
  });
});

describe("stopping", () => {
  test("delivers every record and event that was accepted, and saves nothing without a place for it", async () => {
    const { clock, loop, slot, store, events } = stage();
    slot("web");
    // The twentieth turn has just been taken: its step still waits for company in the writer.
    await clock.pass(19 * PERIOD, 1_000);
    expect(loop.status.recorder.waiting).toBeGreaterThan(0);
    const status = await loop.stop();
    // Twenty steps, nineteen of them with their reward.
    expect(status.recorder).toMatchObject({ durable: 39, lost: 0, refused: 0, waiting: 0 });
    expect(await store.counts()).toEqual({ episodes: 1, records: 20, pending: 1 });
    expect(status.events).toEqual({ delivered: 20, dropped: 0, lost: 0, waiting: 0 });
    expect(events).toHaveLength(20);
  });

  test("lets the turn under way come to its end", async () => {
    const clock = new SettableClock(START);
    let isAnswered = false;
    const { loop, slot, events } = stage({
      clock,
      telemetry: {
        read: async () => {
          await clock.sleep(1_000 as Ms);
          isAnswered = true;
          return { ok: false, failure: { code: "x.y", message: "", retry: true } };
        },
      },
    });
    const { agent } = slot("web");
    await clock.pass(500);
    const stopped = loop.stop();
    await clock.pass(1_000);
    await stopped;
    expect(isAnswered).toBe(true);
    expect(agent.seen).toHaveLength(1);
    expect(events.some(({ kind }) => kind === "decision")).toBe(true);
  });
});
