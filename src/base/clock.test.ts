import { expect, test } from "vitest";
import { ManualClock } from "./clock.ts";
import { milliseconds, seconds } from "./units.ts";

test("time stands still until it is moved", () => {
  const clock = new ManualClock(seconds(100));
  expect([clock.now(), clock.monotonic()]).toEqual([100_000, 100_000]);
  clock.advance(milliseconds(250));
  expect([clock.now(), clock.monotonic()]).toEqual([100_250, 100_250]);
});

test("sleepers wake when their time has come, earliest first, and not before", async () => {
  const clock = new ManualClock();
  const woken: string[] = [];
  const late = clock.sleep(seconds(3)).then(() => woken.push("late"));
  const early = clock.sleep(seconds(1)).then(() => woken.push("early"));
  clock.advance(milliseconds(999));
  await Promise.resolve();
  expect(woken).toEqual([]);
  clock.advance(seconds(5));
  await Promise.all([late, early]);
  expect(woken).toEqual(["early", "late"]);
});

test("sleeping begins when it is called, not when the clock began", async () => {
  const clock = new ManualClock();
  clock.advance(seconds(10));
  let isAwake = false;
  const sleeping = clock.sleep(seconds(1)).then(() => {
    isAwake = true;
  });
  clock.advance(milliseconds(500));
  await Promise.resolve();
  expect(isAwake).toBe(false);
  clock.advance(milliseconds(500));
  await sleeping;
  expect(isAwake).toBe(true);
});

test("an abort ends a sleep with the signal's reason, once", async () => {
  const clock = new ManualClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(seconds(1), abort.signal);
  abort.abort(new Error("stop"));
  await expect(sleeping).rejects.toThrow("stop");
  clock.advance(seconds(2));
});

test("a signal that is aborted already ends the sleep at once", async () => {
  const clock = new ManualClock();
  await expect(clock.sleep(seconds(1), AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});

test("an abort after waking changes nothing", async () => {
  const clock = new ManualClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(seconds(1), abort.signal);
  clock.advance(seconds(1));
  abort.abort(new Error("too late"));
  await expect(sleeping).resolves.toBeUndefined();
});

test("it says when the next sleeper is due, and moves to a moment; those due together wake in the order they fell asleep", async () => {
  const clock = new ManualClock(milliseconds(100));
  const woken: string[] = [];
  const sleep = (name: string, ms: number) => clock.sleep(milliseconds(ms)).then(() => woken.push(name));
  const all = [sleep("late", 30), sleep("early", 10), sleep("early too", 10)];
  expect(clock.nextDue).toBe(110);
  clock.advanceTo(milliseconds(110));
  await Promise.all(all.slice(1));
  expect(woken).toEqual(["early", "early too"]);
  expect(clock.nextDue).toBe(130);
  clock.advanceTo(milliseconds(50));
  expect(clock.now()).toBe(110);
  const stop = new AbortController();
  const abandoned = clock.sleep(milliseconds(1), stop.signal);
  expect(clock.nextDue).toBe(111);
  stop.abort("enough");
  await expect(abandoned).rejects.toBe("enough");
  expect(clock.nextDue).toBe(130);
  clock.advanceTo(milliseconds(200));
  await all[0];
  expect(clock.nextDue).toBe(Number.POSITIVE_INFINITY);
});
