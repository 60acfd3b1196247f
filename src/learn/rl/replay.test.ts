import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import type { Transition } from "./learner.ts";
import { Replay } from "./replay.ts";

const widths = { obs: 2, action: 1, actorContext: 1, criticContext: 3 };

function step(n: number): Transition {
  return {
    obs: [n, n + 0.5],
    action: [n / 10],
    reward: n,
    nextObs: [n + 1, n + 1.5],
    end: n % 3 === 0 ? "terminated" : n % 3 === 1 ? "truncated" : "no",
    actorContext: [100 + n],
    nextActorContext: [101 + n],
    criticContext: [n, -n, 7],
  };
}

function gathered(replay: Replay, name: Parameters<Replay["gather"]>[0], rows: number[], width: number): number[] {
  const into = new Float32Array(rows.length * width);
  replay.gather(name, Int32Array.from(rows), { into, at: 0, stride: width });
  return [...into];
}

test("every column comes back as it went in, contexts too, and a missing next context repeats the one before", () => {
  const replay = new Replay({ capacity: 4, widths });
  replay.add(step(1));
  replay.add(step(2));
  expect(gathered(replay, "obs", [1, 0], 2)).toEqual([2, 2.5, 1, 1.5]);
  expect(gathered(replay, "nextObs", [1], 2)).toEqual([3, 3.5]);
  expect(gathered(replay, "actorContext", [0], 1)).toEqual([101]);
  expect(gathered(replay, "nextActorContext", [0], 1)).toEqual([102]);
  expect(gathered(replay, "criticContext", [1], 3)).toEqual([2, -2, 7]);
  expect(gathered(replay, "nextCriticContext", [1], 3)).toEqual([2, -2, 7]);
  expect([...replay.ends.subarray(0, 2)]).toEqual([2, 0]);
});

test("rows gather side by side into one matrix", () => {
  const replay = new Replay({ capacity: 4, widths });
  replay.add(step(1));
  replay.add(step(2));
  const into = new Float32Array(2 * 3);
  const rows = Int32Array.of(0, 1);
  replay.gather("obs", rows, { into, at: 0, stride: 3 });
  replay.gather("actorContext", rows, { into, at: 2, stride: 3 });
  expect([...into]).toEqual([1, 1.5, 101, 2, 2.5, 102]);
});

test("when full, the newest row takes the oldest one's place", () => {
  const replay = new Replay({ capacity: 3, widths });
  for (let n = 1; n <= 5; n++) replay.add(step(n));
  expect(replay.size).toBe(3);
  expect([...replay.rewards].sort()).toEqual([3, 4, 5]);
});

test("uniform draws reach every row about equally often", () => {
  const replay = new Replay({ capacity: 8, widths });
  for (let n = 0; n < 5; n++) replay.add(step(n));
  const rows = new Int32Array(10_000);
  const weights = new Float32Array(10_000);
  replay.sample(seededRng(1), { rows, weights });
  const counts = [0, 0, 0, 0, 0];
  for (const row of rows) counts[row] = (counts[row] ?? Number.NaN) + 1;
  // Expected 2000 each with a standard deviation of 40: five of them are far off.
  for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);
  expect(new Set(weights)).toEqual(new Set([1]));
});

test("prioritised draws follow the errors, and weights undo the bias", () => {
  const replay = new Replay({ capacity: 4, widths, priority: { alpha: 1, beta: 1, epsilon: 0 } });
  for (let n = 0; n < 4; n++) replay.add(step(n));
  replay.setErrors(Int32Array.of(0, 1, 2, 3), [1, -2, 0, 5]);
  const rows = new Int32Array(8_000);
  const weights = new Float32Array(8_000);
  replay.sample(seededRng(3), { rows, weights });
  const counts = [0, 0, 0, 0];
  for (const row of rows) counts[row] = (counts[row] ?? Number.NaN) + 1;
  // Priorities 1, 2, 0, 5 of 8, drawn by slices: exactly proportional but for the slices at the borders.
  for (const [i, want] of [1000, 2000, 0, 5000].entries())
    expect(Math.abs((counts[i] ?? 0) - want)).toBeLessThanOrEqual(1);
  // (4·p/8)^−1 is 2, 1 and 0.4; the largest becomes 1.
  const weightOf = (row: number) => weights[rows.indexOf(row)];
  expect(weightOf(0)).toBe(1);
  expect(weightOf(1)).toBe(0.5);
  expect(weightOf(3)).toBeCloseTo(0.2, 6);
});

test("a new row gets the highest priority seen", () => {
  const replay = new Replay({ capacity: 4, widths, priority: { alpha: 1, beta: 0, epsilon: 0 } });
  replay.add(step(0));
  replay.setErrors(Int32Array.of(0), [6]);
  replay.add(step(1));
  const rows = new Int32Array(1000);
  replay.sample(seededRng(1), { rows, weights: new Float32Array(1000) });
  const second = rows.filter((row) => row === 1).length;
  expect(Math.abs(second - 500)).toBeLessThanOrEqual(1);
});

test("a restored replay draws the same rows and overwrites the same place", () => {
  for (const priority of [undefined, { alpha: 0.6, beta: 0.4, epsilon: 0.01 }]) {
    const options = priority ? { capacity: 5, widths, priority } : { capacity: 5, widths };
    const original = new Replay(options);
    for (let n = 0; n < 7; n++) original.add(step(n));
    original.setErrors(Int32Array.of(0, 3), [0.5, 4]);
    const copy = new Replay(options);
    copy.restore(original.blocks());
    for (const replay of [original, copy]) replay.add(step(9));
    const draw = (replay: Replay) => {
      const rows = new Int32Array(50);
      const weights = new Float32Array(50);
      replay.sample(seededRng(5), { rows, weights });
      return { rows, weights };
    };
    expect(draw(copy)).toEqual(draw(original));
    expect(copy.blocks()).toEqual(original.blocks());
  }
});

test("blocks of another shape are refused", () => {
  const small = new Replay({ capacity: 4, widths: { ...widths, obs: 1 } });
  small.add({ ...step(1), obs: [1], nextObs: [2] });
  const replay = new Replay({ capacity: 4, widths });
  expect(replay.fits(small.blocks())).toBe(false);
  expect(replay.fits({})).toBe(false);
  expect(() => replay.restore(small.blocks())).toThrow(/another shape/);
  expect(replay.size).toBe(0);
});

test("blocks of a ring that had come round are refused by another capacity; those of one that had not are taken", () => {
  const filled = (steps: number) => {
    const replay = new Replay({ capacity: 4, widths });
    for (let n = 0; n < steps; n++) replay.add(step(n));
    return replay.blocks();
  };
  const larger = new Replay({ capacity: 8, widths });
  for (const steps of [4, 6]) expect(larger.fits(filled(steps))).toBe(false);
  const equal = new Replay({ capacity: 3, widths });
  expect(equal.fits(filled(3))).toBe(false);
  larger.restore(filled(3));
  larger.add(step(3));
  expect(larger.size).toBe(4);
  expect([...larger.rewards.subarray(0, 4)]).toEqual([0, 1, 2, 3].map((n) => step(n).reward));
});

test("extracted rows are a replay of their own, in the order asked for and with what was drawn twice", () => {
  const replay = new Replay({ capacity: 8, widths });
  for (let n = 0; n < 6; n++) replay.add(step(n));
  const blocks = replay.extract(Int32Array.of(4, 1, 4));
  const copy = new Replay({ capacity: 3, widths });
  copy.restore(blocks);
  expect(gathered(copy, "obs", [0, 1, 2], 2)).toEqual([4, 4.5, 1, 1.5, 4, 4.5]);
  expect(gathered(copy, "nextActorContext", [0, 1, 2], 1)).toEqual([105, 102, 105]);
  expect([...copy.rewards]).toEqual([4, 1, 4]);
  expect([...copy.ends]).toEqual([replay.ends[4], replay.ends[1], replay.ends[4]]);
});
