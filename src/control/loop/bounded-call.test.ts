import { expect, test } from "vitest";
import { err, failure, ManualClock, ok, seconds } from "../../base/index.ts";
import { Deadlines, Lane } from "./bounded-call.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a phase after one that ended well has the same signal, and what it gives up is told by it", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock);
  const first = deadlines.start(seconds(3));
  const { signal } = first;
  first.end();
  const second = deadlines.start(seconds(5), first);
  expect(second.signal).toBe(signal);
  expect(signal.aborted).toBe(false);
  clock.advance(seconds(6));
  await settled();
  expect(signal.aborted).toBe(true);
});

test("a phase after one whose time ran out has a signal that nobody was told to give up by", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock);
  const first = deadlines.start(seconds(3));
  clock.advance(seconds(4));
  await settled();
  expect(first.signal.aborted).toBe(true);
  const second = deadlines.start(seconds(5), first);
  expect(second.signal.aborted).toBe(false);
});

test("a phase after one that is not over has a signal of its own", () => {
  const deadlines = new Deadlines(new ManualClock());
  const first = deadlines.start(seconds(3));
  expect(deadlines.start(seconds(5), first).signal).not.toBe(first.signal);
});

test("everybody who waits is told when the time is up, and nobody after the end", async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock);
  const told: string[] = [];
  const running = deadlines.start(seconds(3));
  running.onExpiry(() => told.push("one"));
  running.onExpiry(() => told.push("two"));
  const ended = deadlines.start(seconds(3));
  ended.onExpiry(() => told.push("three"));
  ended.end();
  clock.advance(seconds(4));
  await settled();
  expect(told.toSorted()).toEqual(["one", "two"]);
});

test("what arrives is looked at before it is believed, and a look that throws is the port's failure", async () => {
  const deadlines = new Deadlines(new ManualClock());
  const lane = new Lane("the port");
  const call = (heed: () => never | ReturnType<typeof err>) =>
    lane.call(() => Promise.resolve(ok(1)), deadlines.start(seconds(3)), heed);
  expect(await call(() => err(failure("test.refused", "no")))).toMatchObject({ failure: { code: "test.refused" } });
  const thrown = await call(() => {
    throw new Error("unreadable");
  });
  expect(thrown).toMatchObject({ failure: { code: "loop.port-threw" } });
  expect(lane.isBusyAt(0)).toBe(false);
});
