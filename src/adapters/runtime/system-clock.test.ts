import { expect, test } from "vitest";
import { milliseconds, minutes } from "../../base/index.ts";
import { systemClock } from "./system-clock.ts";

test("sleep lasts at least its time and the monotonic clock shows it", async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(milliseconds(20));
  // Timers may fire a fraction of a millisecond early.
  expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(19);
});

test("an aborted sleep rejects with the signal's own reason", async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(minutes(10), stop.signal);
  const reason = new Error("enough");
  stop.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});

test("wall time is this century's", () => {
  expect(systemClock.now()).toBeGreaterThan(Date.UTC(2020, 0));
});
