import { expect, test } from "vitest";
import type { Setting } from "../../act/index.ts";
import type { Seen, TaskReading } from "../index.ts";
import type { Sight } from "./sight.ts";
import { Watch } from "./watch.ts";

type Level = Setting<"amount">;
interface Measured extends Seen {
  readonly load: number;
  readonly pressure: number;
}
type Look = Pick<Sight<TaskReading, Level, Measured>, "observation" | "have">;

const level = (amount: number): Level => ({ amount });

/** What a watch asks of a task, as simple as it can be. */
const task = {
  givesLess: (one: Level, than: Level) => one.amount < than.amount,
  isMissed: ({ pressure }: Measured) => pressure > 1,
  nearness: ({ pressure }: Measured) => pressure,
  loadOf: ({ load }: Measured) => load,
};

/** A look at a workload with this load, of whose objective this share is used up. */
const sight = (load: number, pressure = 0.5): Look => ({
  observation: { values: new Float32Array(0), memory: null, load, pressure },
  have: level(2),
});

const having = (...levels: readonly (Level | null)[]): Look[] => levels.map((have) => ({ observation: null, have }));

function watched(looks: readonly Look[], { isFallbacks } = { isFallbacks: true }): Watch<TaskReading, Level, Measured> {
  const watch = new Watch<TaskReading, Level, Measured>();
  for (const look of looks) watch.see(look, { isFallbacks, task });
  return watch;
}

test("the fallback's violations are known by load, and a load never seen is taken for harmless", () => {
  const watch = watched([sight(10, 2), sight(10.05, 2), sight(10), sight(40)]);
  // Loads of 10 are in one bin: two of three steps missed, over one step more than seen.
  expect(watch.usualViolations(10)).toBeCloseTo(2 / 4);
  expect(watch.usualViolations(40)).toBe(0);
  expect(watch.usualViolations(320)).toBe(0);
  // An eighth more is another load: 6·log2(10) is 19.9 and 6·log2(11.3) is 20.99.
  expect(watch.usualViolations(11.3)).toBe(0);
  expect(watch.usualViolations(0)).toBe(0);
});

test("what happens while the learner acts is not the fallback's", () => {
  const watch = watched([sight(10, 2), sight(10, 2)], { isFallbacks: false });
  expect(watch.usualViolations(10)).toBe(0);
  expect(watch.usualNearness).toBe(0.6);
});

test("what is newer weighs more: after many good steps old violations fade", () => {
  const bad = Array.from({ length: 800 }, () => sight(10, 2));
  const good = Array.from({ length: 800 }, () => sight(10));
  // 800 of 800 missed, halved to 400 of 400, then 400 good ones make 800 and halve it to 200 of 400, then 400 more.
  expect(watched([...bad, ...good]).usualViolations(10)).toBeCloseTo(200 / 801);
});

test("less than the step before begins a new count of steps; as much or more does not", () => {
  const since = (...story: readonly (Level | null)[]) => watched(having(...story), { isFallbacks: false }).sinceShrink;
  // The first look has nothing to compare with.
  expect(since(level(4), level(4), level(4), level(5))).toBe(4);
  expect(since(level(4), level(4), level(3.9))).toBe(0);
  expect(since(level(4), level(3), level(4))).toBe(1);
  // A step in which nobody knows what is there counts for nothing, and the next one is compared with the one before it.
  expect(since(level(4), null, level(4))).toBe(2);
  expect(since(level(4), null, level(3))).toBe(0);
});

test("the usual nearness moves by a two-hundredth of the way, and a missed target counts as just reached", () => {
  expect(watched([sight(10, 0.5)]).usualNearness).toBeCloseTo(0.5);
  expect(watched([sight(10, 0.5), sight(10, 9)]).usualNearness).toBeCloseTo(0.5 + 0.5 / 200);
});

test("it comes back from its state", () => {
  const watch = watched([sight(10, 2), sight(10), ...having(level(1), level(2))]);
  expect(watch.sinceShrink).toBe(1);
  const copy = new Watch<TaskReading, Level, Measured>();
  copy.restore(JSON.parse(JSON.stringify(watch.state())));
  expect(copy.state()).toEqual(watch.state());
  copy.see(sight(10, 2), { isFallbacks: true, task });
  expect(watch.usualViolations(10)).not.toBe(copy.usualViolations(10));
});

test("what was missed lately counts whoever acted, and fades", () => {
  const missed = watched([sight(10, 2), sight(10, 2)], { isFallbacks: false });
  // A four hundredth each: 1 − (399/400)².
  expect(missed.missedLately).toBeCloseTo(1 - (399 / 400) ** 2, 12);
  const restored = new Watch<TaskReading, Level, Measured>();
  restored.restore(missed.state());
  restored.see(sight(10), { isFallbacks: false, task });
  expect(restored.missedLately).toBeCloseTo((399 / 400) * (1 - (399 / 400) ** 2), 12);
});
