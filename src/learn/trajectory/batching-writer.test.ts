import { describe, expect, test } from "vitest";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { CodedError, failure, failureOf, ManualClock, milliseconds } from "../../base/index.ts";
import { BatchingWriter } from "./batching-writer.ts";
import type { Completion, TrajectoryRecord } from "./record.ts";
import { unknownRecord } from "./record.ts";
import type { TrajectoryStore } from "./store.ts";

const recordAt = (step: number): TrajectoryRecord => ({
  episode: "e" as EpisodeId,
  agent: "a" as AgentId,
  step,
  at: step as Ms,
  obs: Float32Array.of(step),
  proposed: Float32Array.of(0),
  executed: Float32Array.of(0),
  logProb: null,
  reward: null,
  end: "no",
});

/** Lets every promise that can go on do so. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** Records the calls; each waits until the test lets it go on. */
function heldStore() {
  const calls: string[] = [];
  const gates: { pass: () => void; fail: (error: unknown) => void }[] = [];
  const held = (text: string) => {
    calls.push(text);
    return new Promise<void>((pass, fail) => gates.push({ pass, fail }));
  };
  const store = {
    append: (records: readonly TrajectoryRecord[]) =>
      held(`append ${records.map((r) => r.step)}`).then(() => ({ added: records.length, repeated: 0 })),
    complete: (late: readonly Completion[]) =>
      held(`complete ${late.map((c) => c.step)}`).then(() => ({ completed: late.length, repeated: 0 })),
  } as unknown as TrajectoryStore;
  return { store, calls, gate: () => gates.shift() };
}

const setup = (options: { capacity?: number; flushSize?: number } = {}) => {
  const clock = new ManualClock();
  const held = heldStore();
  const writer = new BatchingWriter({
    store: held.store,
    clock,
    flushEvery: milliseconds(50),
    retryAfter: milliseconds(10),
    ...options,
  });
  return { clock, writer, ...held };
};

describe("batching writer", () => {
  test("what was handed over does not change when the caller reuses its vectors", async () => {
    const written: (Float32Array | undefined)[] = [];
    const store = {
      append: async (records: readonly TrajectoryRecord[]) => written.push(...records.map((r) => r.obs)),
      complete: async (late: readonly Completion[]) => written.push(...late.map((c) => c.finalObs)),
    } as unknown as TrajectoryStore;
    const writer = new BatchingWriter({ store, clock: new ManualClock() });
    const obs = Float32Array.of(1);
    const finalObs = Float32Array.of(2);
    writer.offer({ ...recordAt(0), obs });
    writer.offerCompletion({ episode: "e" as EpisodeId, step: 0, reward: 1, end: "truncated", finalObs });
    obs[0] = -1;
    finalObs[0] = -1;
    await writer.close();
    expect(written).toEqual([Float32Array.of(1), Float32Array.of(2)]);
  });

  test("a full batch goes at once, a small one when its time is up", async () => {
    const { clock, writer, calls, gate } = setup({ flushSize: 3 });
    for (const step of [0, 1, 2, 3]) writer.offer(recordAt(step));
    await settle();
    expect(calls).toEqual(["append 0,1,2"]);
    gate()?.pass();
    await settle();
    clock.advance(milliseconds(49));
    await settle();
    expect(calls).toHaveLength(1);
    clock.advance(milliseconds(1));
    await settle();
    expect(calls).toEqual(["append 0,1,2", "append 3"]);
  });

  test("a flush does not wait for the time and resolves when what it saw is durable", async () => {
    const { writer, calls, gate } = setup();
    writer.offer(recordAt(0));
    await settle();
    let done = false;
    const flushed = writer.flush().then(() => {
      done = true;
    });
    await settle();
    expect([calls, done]).toEqual([["append 0"], false]);
    gate()?.pass();
    await flushed;
    expect(writer.stats).toEqual({ waiting: 0, durable: 1, refused: 0, retries: 0 });
  });

  test("completions follow the records of their batch", async () => {
    const { writer, calls, gate } = setup({ flushSize: 3 });
    writer.offer(recordAt(0));
    writer.offerCompletion({ episode: "e" as EpisodeId, step: 0, reward: 1 });
    writer.offer(recordAt(1));
    await settle();
    gate()?.pass();
    await settle();
    expect(calls).toEqual(["append 0,1", "complete 0"]);
  });

  test("a full buffer refuses and counts, and an append waits for room", async () => {
    const { writer, calls, gate } = setup({ capacity: 2, flushSize: 2 });
    expect([0, 1].map((step) => writer.offer(recordAt(step)))).toEqual([true, true]);
    await settle();
    expect([2, 3, 4].map((step) => writer.offer(recordAt(step)))).toEqual([true, true, false]);
    expect(writer.stats.refused).toBe(1);
    let isDurable = false;
    const waiting = writer.append(recordAt(5)).then(() => {
      isDurable = true;
    });
    await settle();
    expect(writer.stats).toMatchObject({ waiting: 4, refused: 1 });
    gate()?.pass();
    await settle();
    expect(isDurable).toBe(false);
    gate()?.pass();
    await settle();
    void writer.flush();
    await settle();
    gate()?.pass();
    await waiting;
    expect(calls).toEqual(["append 0,1", "append 2,3", "append 5"]);
  });

  test("waiting for room ends when the signal says so", async () => {
    const { writer } = setup({ capacity: 1, flushSize: 1 });
    writer.offer(recordAt(0));
    await settle();
    writer.offer(recordAt(1));
    const stop = new AbortController();
    const waiting = writer.append(recordAt(2), stop.signal);
    await settle();
    stop.abort(new Error("no longer wanted"));
    await expect(waiting).rejects.toThrow("no longer wanted");
  });

  test("the caller's buffers may change after the offer", async () => {
    const { writer, store } = setup({ flushSize: 1 });
    const seen: number[] = [];
    store.append = async (records) => {
      seen.push(records[0]?.obs[0] ?? -1);
      return { added: 1, repeated: 0 };
    };
    const record = recordAt(5);
    writer.offer(record);
    record.obs[0] = 99;
    await settle();
    expect(seen).toEqual([5]);
  });

  test("a failure that may pass is retried with growing pauses", async () => {
    const { clock, writer, calls, gate } = setup({ flushSize: 1 });
    writer.offer(recordAt(0));
    await settle();
    for (const pause of [10, 20, 40]) {
      gate()?.fail(new CodedError(failure("store.unavailable", "gone for now", { retry: true })));
      await settle();
      clock.advance(milliseconds(pause - 1));
      await settle();
      const before = calls.length;
      clock.advance(milliseconds(1));
      await settle();
      expect(calls.length).toBe(before + 1);
    }
    gate()?.pass();
    await writer.flush();
    expect(writer.stats).toEqual({ waiting: 0, durable: 1, refused: 0, retries: 3 });
  });

  test("any other failure stops the writer, and everybody who waits or comes later hears it", async () => {
    const { writer, gate } = setup({ flushSize: 1 });
    const first = writer.append(recordAt(0));
    const second = writer.append(recordAt(1));
    const flushed = writer.flush();
    await settle();
    gate()?.fail(new CodedError(failure("store.disk-full", "no space")));
    for (const promise of [first, second, flushed, writer.append(recordAt(2)), writer.flush(), writer.close()]) {
      expect(
        await promise.then(
          () => "ok",
          (thrown) => failureOf(thrown)?.code,
        ),
      ).toBe("store.disk-full");
    }
    expect(writer.offer(recordAt(3))).toBe(false);
    expect(writer.stats.durable).toBe(0);
  });

  /** Completes even steps and knows no odd one. */
  const evenStore = () => {
    const completed: number[] = [];
    const store = {
      append: async (records: readonly TrajectoryRecord[]) => ({ added: records.length, repeated: 0 }),
      complete: async (late: readonly Completion[]) => {
        const unknown = late.find(({ step }) => step % 2 === 1);
        if (unknown) throw new CodedError(unknownRecord(unknown));
        completed.push(...late.map(({ step }) => step));
        return { completed: late.length, repeated: 0 };
      },
    } as unknown as TrajectoryStore;
    return { completed, writer: new BatchingWriter({ store, clock: new ManualClock() }) };
  };
  const completionOf = (step: number): Completion => ({ episode: "e" as EpisodeId, step, reward: 1 });

  test("a completion of an unknown record fails alone, with its own sentence", async () => {
    const { completed, writer } = evenStore();
    const outcomes = [0, 2, 3, 4, 6, 7, 8].map((step) =>
      writer.complete(completionOf(step)).then(
        () => "durable",
        (thrown) => failureOf(thrown)?.message.slice(0, 17),
      ),
    );
    await writer.flush();
    expect(await Promise.all(outcomes)).toEqual([
      "durable",
      "durable",
      "step 3 of episode",
      "durable",
      "durable",
      "step 7 of episode",
      "durable",
    ]);
    expect(completed).toEqual([0, 2, 4, 6, 8]);
    expect(writer.stats).toEqual({ waiting: 0, durable: 5, refused: 2, retries: 0 });
    // The writer goes on.
    expect(writer.offer(recordAt(10))).toBe(true);
    await writer.close();
    expect(writer.stats.durable).toBe(6);
  });

  test("an offered completion of an unknown record is told by the next flush, once, or by the close", async () => {
    const { completed, writer } = evenStore();
    for (const step of [1, 2]) writer.offerCompletion(completionOf(step));
    await expect(writer.flush()).rejects.toMatchObject({ code: "store.unknown-record" });
    expect(completed).toEqual([2]);
    await writer.flush();
    writer.offerCompletion(completionOf(5));
    await expect(writer.close()).rejects.toMatchObject({ code: "store.unknown-record" });
    expect(writer.stats).toMatchObject({ durable: 1, refused: 2 });
  });

  test("closing writes what was accepted and refuses the rest", async () => {
    const { writer, calls, gate } = setup();
    writer.offer(recordAt(0));
    writer.offer(recordAt(1));
    await settle();
    const closed = writer.close();
    await settle();
    gate()?.pass();
    await closed;
    expect(calls).toEqual(["append 0,1"]);
    await expect(writer.append(recordAt(2))).rejects.toMatchObject({ code: "store.writer-closed" });
  });

  test("a bad record is refused on entry and spoils no batch", async () => {
    const { writer, calls, gate } = setup({ flushSize: 2 });
    expect(() => writer.offer({ ...recordAt(0), obs: Float32Array.of(Number.NaN) })).toThrow("obs[0] is NaN");
    writer.offer(recordAt(1));
    writer.offer(recordAt(2));
    await settle();
    gate()?.pass();
    await settle();
    expect(calls).toEqual(["append 1,2"]);
  });
});
