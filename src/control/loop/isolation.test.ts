/** A slow, hanging or broken part holds up its own agent until the deadline, and nobody else at all. */
import { describe, expect, test } from "vitest";
import type { ScriptedAgent } from "../../../test/fixtures/loop/scripted.ts";
import { never, readingOf, SettableClock, START, stage, workloadId } from "../../../test/fixtures/loop/scripted.ts";
import type { Actuator } from "../../act/index.ts";
import { memoryStore } from "../../adapters/store/index.ts";
import type { Ms, Result, WorkloadId } from "../../base/index.ts";
import { CodedError, err, failure, ok, seconds } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import type { Trainer, TrainingJob } from "./index.ts";

const PERIOD = 15_000;
const periods = (count: number) => count * PERIOD - 100;

/** When the agent had its turns, in milliseconds since the start. */
const turnsOf = ({ seen }: ScriptedAgent) => seen.map(({ now }) => now - START);

async function undisturbedTurns(count: number): Promise<number[]> {
  const { clock, loop, slot } = stage();
  slot("web");
  const { agent } = slot("api");
  await clock.pass(periods(count));
  await loop.stop();
  return turnsOf(agent);
}

describe("a telemetry source that is slow for one workload", () => {
  const slowFor = (slow: WorkloadId, delay: (clock: SettableClock) => Promise<unknown>) => {
    const clock = new SettableClock(START);
    const calls: WorkloadId[] = [];
    const telemetry = {
      read: async (workload: WorkloadId) => {
        calls.push(workload);
        if (workload === slow) await delay(clock);
        return ok(readingOf(workload, clock.now()));
      },
    };
    return { calls, ...stage({ clock, telemetry }), clock };
  };

  test("is given up at the deadline: the agent decides without it, and others never notice", async () => {
    const { clock, loop, slot, calls, statusOf } = slowFor(workloadId("web"), (c) => c.sleep(seconds(20)));
    const { agent: slow } = slot("web");
    const { agent: other } = slot("api");
    await clock.pass(periods(4));
    expect(turnsOf(other)).toEqual(await undisturbedTurns(4));
    // Each call takes 20 s and is given up after 3; the one before is still out when the next is made.
    expect(turnsOf(slow)).toEqual([3_000, 18_000, 33_000, 48_000]);
    expect(slow.seen.map(({ reading }) => (reading.ok ? "ok" : reading.failure.code))).toEqual([
      "loop.timeout",
      "loop.timeout",
      "loop.timeout",
      "loop.timeout",
    ]);
    expect(calls.filter((workload) => workload === "web")).toHaveLength(4);
    // Only the fourth, asked at 45 s, has not returned.
    expect(statusOf("web")).toMatchObject({ failing: [{ port: "telemetry" }], abandoned: 1 });
    await loop.stop();
  });

  test("and hung only once is heard in the next turn; its late answer is not looked at", async () => {
    let call = 0;
    const { clock, loop, slot, statusOf, events } = slowFor(workloadId("web"), async (c) => {
      call += 1;
      // Returns at 32 s, after the third turn has asked and been answered.
      if (call === 1) await c.sleep(seconds(32));
    });
    const { agent } = slot("web");
    await clock.pass(periods(2));
    expect(statusOf("web").abandoned).toBe(1);
    await clock.pass(2 * PERIOD);
    expect(agent.seen.map(({ reading }) => (reading.ok ? reading.value.at - START : reading.failure.code))).toEqual([
      "loop.timeout",
      15_000,
      30_000,
      45_000,
    ]);
    expect(statusOf("web")).toMatchObject({ failing: [], abandoned: 0 });
    await loop.stop();
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "call-abandoned", port: "telemetry", out: 1, most: 4 }),
    );
  });

  test("and never answers has at most four calls out, each told; ten minutes later they are taken for dead", async () => {
    const isHung = { now: true };
    const { clock, loop, slot, calls, statusOf, events } = slowFor(workloadId("web"), () =>
      isHung.now ? never() : Promise.resolve(),
    );
    const { agent } = slot("web");
    await clock.pass(periods(40), 500);
    expect(agent.seen).toHaveLength(40);
    expect(calls).toHaveLength(4);
    expect(agent.seen.map(({ reading }) => (reading.ok ? "ok" : reading.failure.code))).toEqual([
      ...new Array(4).fill("loop.timeout"),
      ...new Array(36).fill("loop.port-busy"),
    ]);
    expect(statusOf("web").abandoned).toBe(4);
    isHung.now = false;
    // The first was given up 3 s after the start: at 600 s it has been out for less than ten minutes, at 615 s for more.
    await clock.pass(2 * PERIOD);
    expect(agent.seen.slice(40).map(({ reading }) => reading.ok)).toEqual([false, true]);
    expect(statusOf("web").abandoned).toBe(3);
    await loop.stop();
    const told = events.flatMap((event) => (event.kind === "call-abandoned" ? [event.out] : []));
    expect(told).toEqual([1, 2, 3, 4]);
  });

  test("that throws is a named failure, told once when it begins and once when it is over", async () => {
    const clock = new SettableClock(START);
    let turn = 0;
    const telemetry = {
      read: (workload: WorkloadId) => {
        turn += 1;
        if (turn <= 3) throw new TypeError("no route");
        return Promise.resolve(ok(readingOf(workload, clock.now())));
      },
    };
    const { loop, slot, events } = stage({ clock, telemetry });
    slot("web");
    await clock.pass(periods(5));
    await loop.stop();
    const told = events.filter(({ kind }) => kind.startsWith("port-"));
    expect(told).toMatchObject([
      { kind: "port-failing", port: "telemetry", failure: { code: "loop.port-threw" }, at: START },
      { kind: "port-recovered", port: "telemetry", failures: 3, at: START + 3 * PERIOD },
    ]);
  });
});

describe("an actuator", () => {
  test("that never returns is sent at most four actions, and others never notice", async () => {
    const calm = stage();
    let sent = 0;
    const actuator = {
      read: calm.actuator.read,
      apply: () => {
        sent += 1;
        return never<never>();
      },
    };
    const { clock, loop, slot, events } = stage({ actuator });
    const { agent } = slot("web", { copies: () => 5 });
    const { agent: other } = slot("api");
    await clock.pass(periods(6));
    await loop.stop();
    expect(turnsOf(other)).toEqual(await undisturbedTurns(6));
    expect(sent).toBe(4);
    expect(agent.outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.failure.code))).toEqual([
      "loop.timeout",
      "loop.timeout",
      "loop.timeout",
      "loop.timeout",
      "loop.port-busy",
      "loop.port-busy",
    ]);
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "actuator" }));
    expect(events.filter(({ kind }) => kind === "call-abandoned")).toHaveLength(4);
  });

  test("whose action lands long after it was given up is put right in the next turn", async () => {
    const clock = new SettableClock(START);
    const { actuator: inner } = stage();
    let sent = 0;
    const actuator: Actuator = {
      read: inner.read,
      apply: async (action, signal) => {
        sent += 1;
        if (sent > 1) return inner.apply(action, signal);
        await clock.sleep(seconds(20));
        return inner.apply(action, new AbortController().signal);
      },
    };
    const { loop, slot } = stage({ clock, actuator });
    const { agent } = slot("web", { copies: (turn) => (turn === 0 ? 5 : 3) });
    await clock.pass(periods(4));
    await loop.stop();
    // 5 is sent at 0 s and given up; 3 is done at 15 s; 5 lands at 20 s, is seen at 30 s, and 3 is done again.
    const copies = agent.seen.map(({ have }) => (have.ok ? have.value.copies : null));
    expect(copies).toEqual([2, 2, 5, 3]);
    expect(agent.outcomes.map((outcome) => (outcome.ok ? outcome.value.copies : outcome.failure.code))).toEqual([
      "loop.timeout",
      3,
      3,
      3,
    ]);
  });

  test("that refuses is heard by the agent, and what was there is recorded as executed", async () => {
    const calm = stage();
    const refusal = failure("actuator.refused", "quota exceeded");
    const actuator = { read: calm.actuator.read, apply: async () => err(refusal) };
    const { clock, loop, slot, store, events } = stage({ actuator });
    const { agent } = slot("web", { copies: () => 5 });
    await clock.pass(periods(2));
    await loop.stop();
    expect(agent.outcomes).toEqual([err(refusal), err(refusal)]);
    const [step] = await store.episode(`web.${START.toString(36)}-0.0` as never);
    expect(step).toMatchObject({ proposed: Float32Array.of(5), executed: Float32Array.of(2) });
    expect(events).toContainEqual(expect.objectContaining({ kind: "decision", applied: err(refusal) }));
  });
});

describe("a trajectory store", () => {
  /** Fails every call with the failure while it is down. */
  const flakyStore = (why: { code: string; retry: boolean }) => {
    const inner = memoryStore();
    const outage = { isDown: true };
    const check = () => {
      if (outage.isDown) throw new CodedError(failure(why.code, "down for the test", { retry: why.retry }));
    };
    const store: TrajectoryStore = Object.assign(Object.create(inner) as TrajectoryStore, {
      append: async (records: Parameters<TrajectoryStore["append"]>[0]) => {
        check();
        return inner.append(records);
      },
      complete: async (completions: Parameters<TrajectoryStore["complete"]>[0]) => {
        check();
        return inner.complete(completions);
      },
    });
    return { store, inner, outage };
  };

  test("that is down for minutes delays no turn and loses nothing that was accepted", async () => {
    const { store, inner, outage } = flakyStore({ code: "store.unavailable", retry: true });
    const { clock, loop, slot } = stage({ store });
    const { agent } = slot("web");
    const { agent: other } = slot("api");
    await clock.pass(periods(20), 500);
    expect(agent.seen).toHaveLength(20);
    expect(other.seen).toHaveLength(20);
    expect(loop.status.recorder).toMatchObject({ durable: 0, lost: 0, refused: 0, waiting: 78 });
    outage.isDown = false;
    await clock.pass(5_000);
    const { recorder } = await loop.stop();
    expect(recorder).toMatchObject({ lost: 0, refused: 0, waiting: 0 });
    expect(await inner.counts()).toEqual({ episodes: 2, records: recorder.durable / 2 + 1, pending: 2 });
  });

  test("that never answers fills the buffer; what is turned away after that is counted and told", async () => {
    const store: TrajectoryStore = Object.assign(Object.create(memoryStore()) as TrajectoryStore, { append: never });
    const { clock, loop, slot, events } = stage({ store, config: { recorderCapacity: 5 } });
    const { agent } = slot("web");
    await clock.pass(periods(10));
    expect(agent.seen).toHaveLength(10);
    // Step 0, then reward and step of turns 1 and 2 make five; seven further steps find no room. A reward whose step was
    // turned away is not offered.
    expect(loop.status.recorder).toMatchObject({ waiting: 5, refused: 8, durable: 0, lost: 0 });
    const stopping = loop.stop();
    await clock.pass(10_000);
    await stopping;
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "port-failing",
        port: "store",
        failure: expect.objectContaining({ code: "loop.recorder-full" }),
      }),
    );
  });

  test("that breaks for good is written to again after a pause; what it lost is counted", async () => {
    const { store, inner, outage } = flakyStore({ code: "store.failed", retry: false });
    const { clock, loop, slot, events } = stage({ store });
    slot("web");
    await clock.pass(1_000);
    expect(loop.status.recorder).toMatchObject({ lost: 1, waiting: 0 });
    outage.isDown = false;
    await clock.pass(periods(5) - 1_000);
    const { recorder } = await loop.stop();
    // Step 0 is lost just after 0 s. Turned away: its reward and step 1 at 15 s, step 2 at 30 s, which is still within the
    // pause. The new writer takes steps 3 and 4 and the reward of 3.
    expect(recorder).toEqual({ durable: 3, lost: 1, refused: 3, waiting: 0, reopened: 1 });
    expect((await inner.counts()).records).toBe(2);
    expect(events.filter(({ kind }) => kind.startsWith("port-"))).toMatchObject([
      { kind: "port-failing", port: "store", failure: { code: "store.failed" } },
      { kind: "port-recovered", port: "store" },
    ]);
  });
});

describe("a trainer", () => {
  const job = { kind: "learn", config: {} };
  const trainerOf = (
    train: (job: TrainingJob, signal: AbortSignal) => Promise<Result<unknown>>,
    slots = 2,
  ): Trainer => ({
    slots,
    train,
  });

  test("that is slow delays no turn; what it made is taken over in the agent's own next turn", async () => {
    const clock = new SettableClock(START);
    const trainer = trainerOf(async () => {
      await clock.sleep(seconds(40));
      return ok("better");
    });
    const { loop, slot } = stage({ clock, trainer });
    const { agent } = slot("web", { training: () => job });
    const { agent: other } = slot("api");
    await clock.pass(periods(3));
    expect(agent.adopted).toEqual([]);
    await clock.pass(PERIOD);
    expect(agent.adopted).toEqual(["better"]);
    expect(turnsOf(agent)).toEqual([0, 15_000, 30_000, 45_000]);
    expect(turnsOf(other)).toEqual(await undisturbedTurns(4));
    await loop.stop();
  });

  test("that never answers is given up at the limit, and the agent hears it", async () => {
    let calls = 0;
    const trainer = trainerOf(() => {
      calls += 1;
      return never();
    });
    const { clock, loop, slot, events } = stage({ trainer, config: { training: seconds(20) } });
    const { agent } = slot("web", { training: () => job });
    await clock.pass(periods(4));
    expect(agent.seen.map(({ health }) => health.training?.code)).toEqual([
      undefined,
      undefined,
      "loop.timeout",
      "loop.timeout",
    ]);
    // Given up at 20 s; the pause after a failure ends at 35 s, so the turn at 45 s tries again.
    expect(calls).toBe(2);
    await clock.pass(30 * PERIOD, 500);
    expect(calls).toBe(4);
    await loop.stop();
    expect(events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "trainer" }));
    expect(events.filter(({ kind }) => kind === "call-abandoned")).toMatchObject([
      { port: "trainer", out: 1 },
      { port: "trainer", out: 2 },
      { port: "trainer", out: 3 },
      { port: "trainer", out: 4 },
    ]);
  });

  test("whose worker crashes is tried again after a pause that doubles", async () => {
    const calls: number[] = [];
    const clock = new SettableClock(START);
    const trainer = trainerOf(() => {
      calls.push(clock.now() - START);
      return Promise.reject(new CodedError(failure("threads.worker-lost", "the thread was lost", { retry: true })));
    });
    const { loop, slot } = stage({ clock, trainer });
    const { agent } = slot("web", { training: () => job });
    await clock.pass(periods(9));
    // Pauses of 15, 30 and 60 s from each failure on; the turns are 15 s apart.
    expect(calls).toEqual([0, 15_000, 45_000, 105_000]);
    expect(agent.seen.at(-1)?.health.training?.code).toBe("threads.worker-lost");
    expect(loop.status.training).toEqual({ underWay: 0, succeeded: 0, failed: 4, turnedAway: 0 });
    await loop.stop();
  });

  test("with one slot serves one agent at a time; the others are turned away and counted", async () => {
    const clock = new SettableClock(START);
    const asked: string[] = [];
    const trainer = trainerOf(async ({ agent }) => {
      asked.push(agent);
      await clock.sleep(seconds(14));
      return ok(agent);
    }, 1);
    const { loop, slot } = stage({ clock, trainer });
    const { agent: web } = slot("web", { training: () => job });
    const { agent: api } = slot("api", { training: () => job });
    await clock.pass(periods(1));
    expect(asked).toEqual(["web"]);
    expect(loop.status.training).toMatchObject({ turnedAway: 1 });
    expect([web.seen.length, api.seen.length]).toEqual([1, 1]);
    await loop.stop();
  });

  test("whose outcome the agent refuses leaves the agent as it was and counts as failed", async () => {
    const refusal = failure("rl.policy-not-finite", "NaN in the policy");
    const trainer = trainerOf(async () => ok("broken"));
    const { clock, loop, slot } = stage({ trainer });
    const { agent } = slot("web", { training: () => job, adopt: () => err(refusal) });
    await clock.pass(periods(2));
    expect(agent.seen[1]?.health.training).toEqual(refusal);
    expect(loop.status.training).toMatchObject({ succeeded: 0, failed: 1 });
    await loop.stop();
  });
});

describe("an event sink", () => {
  test("that never answers delays no turn; what finds no room is dropped and counted", async () => {
    const { clock, loop, slot } = stage({ events: { write: never }, config: { eventCapacity: 4 } });
    const { agent } = slot("web");
    await clock.pass(periods(10));
    expect(agent.seen).toHaveLength(10);
    // One decision per turn, each a batch of its own. Four are given up after 5 s and stay out for good; each later one is
    // lost as it comes.
    expect(loop.status.events).toMatchObject({ delivered: 0, lost: 10 });
    await loop.stop();
  });

  test("that is slow makes a full queue drop the newest, and says how many", async () => {
    const clock = new SettableClock(START);
    const got: number[] = [];
    const events = {
      write: async (batch: readonly unknown[]) => {
        await clock.sleep(4_000 as Ms);
        got.push(batch.length);
      },
    };
    const { loop, slot } = stage({ clock, events, config: { eventCapacity: 4 } }, [
      "w0",
      "w1",
      "w2",
      "w3",
      "w4",
      "w5",
      "w6",
    ]);
    // One event is being delivered while each agent of a crowd makes three more at once.
    const noisy = { name: "note", evidence: null };
    for (let i = 0; i < 7; i++) {
      const { agent } = slot(`w${i}`);
      const plain = agent.tick.bind(agent);
      agent.tick = (input) => ({ ...plain(input), events: [noisy, noisy, noisy, noisy, noisy, noisy] });
    }
    await clock.pass(periods(1));
    const { events: stats } = await (async () => {
      const stopping = loop.stop();
      await clock.pass(15_000);
      return stopping;
    })();
    expect(stats.dropped).toBeGreaterThan(0);
    expect(stats.delivered + stats.dropped + stats.lost).toBe(49);
  });
});
