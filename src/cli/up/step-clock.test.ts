import { expect, test } from "vitest";
import { milliseconds } from "../../base/index.ts";
import { StepClock } from "./step-clock.ts";

test("sleepers wake when the clock is moved past them, earliest first, and not before", async () => {
  const clock = new StepClock(milliseconds(100));
  const woken: string[] = [];
  const sleep = (name: string, ms: number) => clock.sleep(milliseconds(ms)).then(() => woken.push(name));
  const all = [sleep("late", 30), sleep("early", 10), sleep("early too", 10)];
  expect(clock.nextDue).toBe(110);
  clock.moveTo(109);
  await Promise.resolve();
  expect(woken).toEqual([]);
  clock.moveTo(110);
  await Promise.all(all.slice(1));
  expect(woken).toEqual(["early", "early too"]);
  expect(clock.nextDue).toBe(130);
  clock.moveTo(200);
  await all[0];
  expect(woken).toEqual(["early", "early too", "late"]);
  expect(clock.now()).toBe(200);
  expect(clock.nextDue).toBe(Number.POSITIVE_INFINITY);
});

test("a sleep that is given up rejects with its reason and leaves nobody waiting", async () => {
  const clock = new StepClock(milliseconds(0));
  const stop = new AbortController();
  const sleeping = clock.sleep(milliseconds(10), stop.signal);
  stop.abort("enough");
  await expect(sleeping).rejects.toBe("enough");
  expect(clock.nextDue).toBe(Number.POSITIVE_INFINITY);
});
