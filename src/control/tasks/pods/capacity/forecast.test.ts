import { expect, test } from "vitest";
import { milliseconds } from "../../../../base/index.ts";
import type { LoadMemory } from "./forecast.ts";
import { expectedLoad, loadNow, loadsAfter, loadsWith, mostLately, noLoads } from "./forecast.ts";

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

/** Ten minutes of load, then silence for as long as it says; another rhythm in every hour. */
const spells = (minute: number): number => {
  const hour = Math.floor((((minute % 1_440) + 1_440) % 1_440) / 60);
  return minute % 60 < 10 + (hour % 5) ? 20 + hour : 1;
};

test("spells that come seven minutes later than yesterday, and half as high again, are expected when they come", () => {
  const later = (minute: number) => 1.5 * spells(minute - 7);
  const history = Array.from({ length: 3 * 1_440 }, (_, i) => spells(i));
  const memory = loadsWith({ perMinute: history, until: milliseconds(0) });
  // At 6:06 the spell of six o'clock, which is to be 39 requests/s high, is a minute away; an hour was enough to trust.
  const seen = life(later, { to: 366, memory });
  expect(seen.memory.days?.alike).toMatchObject({ ago: 1_447 });
  expect(seen.memory.days?.alike?.times).toBeCloseTo(1.5, 1);
  expect(later(366)).toBe(1.5);
  expect(seen.load).toBeGreaterThan(37);
  // At 6:40 there are 27 minutes to go.
  expect(life(later, { to: 400, memory }).load).toBeLessThan(4);
});

test("what came before it began is expected again, as if it had been there", () => {
  const history = new Array<number>(2 * 1_440).fill(7);
  history[2 * 1_440 - 100] = 30;
  const memory = loadsWith({ perMinute: history, until: milliseconds(0) });
  expect(life(() => 7, { to: 1 })).toMatchObject({ load: 7 });
  expect(life(() => 7, { to: 1, memory })).toMatchObject({ load: 30, by: "the last 180 min" });
  expect(loadsWith({ perMinute: [], until: milliseconds(0) })).toEqual(noLoads);
});

test("a rate that rises is half of an edge: the other half is expected, up to what ever came", () => {
  const history = new Array<number>(1_440).fill(10);
  history[100] = 50;
  const known = loadsWith({ perMinute: history, until: milliseconds(0) });
  const after = (...loads: readonly number[]) =>
    loads.reduce((memory, load, i) => loadsAfter(memory, { load, reserve: 2, at: milliseconds(i * STEP) }), known);
  expect(loadNow(after(10, 10))).toBe(10);
  // Within chance: 2 · √(11 / 30) is 1.2.
  expect(loadNow(after(10, 11))).toBe(11);
  // 15 more, of which 2 · √(25 / 30) = 1.83 may be chance.
  expect(loadNow(after(10, 25))).toBeCloseTo(25 + 15 - 1.83, 2);
  expect(loadNow(after(10, 40))).toBe(50);
  expect(loadNow(after(10, 60))).toBe(60);
});
