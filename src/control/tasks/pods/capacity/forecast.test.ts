import { expect, test } from "vitest";
import { milliseconds } from "../../../../base/index.ts";
import type { LoadMemory } from "./forecast.ts";
import { expectedLoad, loadsAfter, mostLately, noLoads } from "./forecast.ts";

const STEP = 15_000;
const LATE = 15_000;
const ask = { worth: 20, allowed: 0.005 };

interface Life {
  readonly from?: number;
  readonly to: number;
  readonly memory?: LoadMemory;
}

/** Steps of 15 s in which the load of the half minute before is read, 15 s late. Times in minutes. */
function life(load: (minute: number) => number, { from = 0, to, memory = noLoads }: Life) {
  let kept = memory;
  let last = expectedLoad(kept, { now: milliseconds(from * 60_000), ...ask });
  for (let now = from * 60_000 + STEP; now <= to * 60_000; now += STEP) {
    const at = now - LATE;
    const mean = (load(Math.floor((at - 1) / 60_000)) + load(Math.floor(Math.max(0, at - STEP - 1) / 60_000))) / 2;
    kept = loadsAfter(kept, { load: mean, reserve: 2, at: milliseconds(at) });
    last = expectedLoad(kept, { now: milliseconds(now), ...ask });
    kept = last.memory;
  }
  return { ...last, memory: kept };
}
const timer = (period: number) => (minute: number) => (minute % period === 0 ? 50 : 0);

test("before anybody has proved himself, the most of the last three hours is expected", () => {
  const seen = life((minute) => (minute < 5 ? 30 : 2), { to: 40 });
  expect(seen).toMatchObject({ load: 30, by: "the last 180 min", isTrusted: false });
});

test("a steady load is expected as it is once an hour has shown it", () => {
  expect(life(() => 7, { to: 90 })).toMatchObject({ load: 7, isTrusted: true });
});

test("a timer is expected in its minute and the one before, and silence between", () => {
  const { memory } = life(timer(10), { to: 180 });
  // The next one is at minute 190 again.
  expect(life(timer(10), { from: 180, to: 185, memory }).load).toBe(0);
  expect(life(timer(10), { from: 180, to: 185, memory }).isTrusted).toBe(true);
  expect(life(timer(10), { from: 180, to: 189.25, memory }).load).toBeGreaterThan(40);
});

test("trust is lost when more comes than was said, and the look goes further back", () => {
  const calm = life(() => 5, { to: 120 });
  const wild = (minute: number) => (minute % 7 === 3 || minute % 11 === 4 ? 60 : 5);
  const after = life(wild, { from: 120, to: 240, memory: calm.memory });
  expect(calm.load).toBe(5);
  expect(after.load).toBeGreaterThan(50);
});

test("the more a miss is worth, the more is expected of a load that bursts now and then", () => {
  const { memory } = life((minute) => (minute % 37 === 0 ? 40 : 4), { to: 400 });
  const now = milliseconds(400 * 60_000);
  const bold = expectedLoad(memory, { now, worth: 1, allowed: 0.005 }).load;
  const careful = expectedLoad(memory, { now, worth: 200, allowed: 0.005 }).load;
  expect(bold).toBeLessThan(careful);
});

test("a minute in which nobody looked is not the one of a day ago", () => {
  const { memory } = life(() => 9, { to: 30 });
  const later = loadsAfter(memory, { load: 3, reserve: 2, at: milliseconds(50 * 60_000) });
  expect(mostLately(later, milliseconds(50 * 60_000), 15)).toBe(3);
  expect(mostLately(later, milliseconds(50 * 60_000), 60)).toBe(9);
});

test("a clock that went back by more than a minute begins anew", () => {
  const { memory } = life(() => 9, { to: 30 });
  const back = { load: 3, reserve: 2, at: milliseconds(10 * 60_000) };
  expect(loadsAfter(memory, back)).toEqual(loadsAfter(noLoads, back));
  expect(mostLately(loadsAfter(memory, back), milliseconds(10 * 60_000), 60)).toBe(3);
});

test("memory survives JSON", () => {
  const { memory } = life(timer(5), { to: 100 });
  const copy = JSON.parse(JSON.stringify(memory)) as LoadMemory;
  const next = { load: 4, reserve: 2, at: milliseconds(100 * 60_000) };
  expect(loadsAfter(copy, next)).toEqual(loadsAfter(memory, next));
});
