import { describe, expect, test } from "vitest";
import { sets } from "../../../test/oracle/harness.ts";
import { assertTraits, type TraitGroup, TraitReader } from "./trait-reader.ts";

const groups: readonly TraitGroup[] = [
  { name: "colour", kinds: ["red", "green"] },
  { name: "size", kinds: ["small", "middle", "large"] },
];
const redAndMostlyLarge = Float32Array.of(1, 0, 0, 0.25, 0.75);
const green = Float32Array.of(0, 1, 1, 0, 0);

const reader = (rows = 2) =>
  new TraitReader({ kernels: sets[1]!.make(), groups, contextSize: 3, rows, lr: 0.05, seed: 3 });

describe("a trait reader", () => {
  test("that knows nothing finds every kind equally likely: ln 2 and ln 3", () => {
    const blank = reader();
    blank.setParameters(new Float32Array(blank.parameters().length));
    const [found] = blank.contextLosses([{ batch: redAndMostlyLarge, context: [1, -2, 3] }]);
    expect(found?.loss).toBeCloseTo(Math.log(2) + Math.log(3), 6);
    // Without weights the embedding could not do anything about it.
    expect([...(found?.gradient ?? [])]).toEqual([0, 0, 0]);
  });

  test("its gradient is that of differences", () => {
    const one = reader();
    const context = [0.3, -0.7, 1.1];
    const lossAt = (at: readonly number[]) =>
      one.contextLosses([{ batch: redAndMostlyLarge, context: at }])[0]?.loss ?? 0;
    const [found] = one.contextLosses([{ batch: redAndMostlyLarge, context }]);
    for (const [i, value] of (found?.gradient ?? []).entries()) {
      const moved = (by: number) => context.map((x, k) => (k === i ? x + by : x));
      expect(value).toBeCloseTo((lossAt(moved(1e-2)) - lossAt(moved(-1e-2))) / 2e-2, 3);
    }
  });

  test("environments read together have the losses and gradients that they have alone", () => {
    const one = reader();
    const asked = [
      { batch: redAndMostlyLarge, context: [1, 0, 0.5] },
      { batch: green, context: [-1, 2, 0] },
    ];
    const together = one.contextLosses(asked);
    const alone = asked.flatMap((environment) => one.contextLosses([environment]));
    expect(together).toEqual(alone);
  });

  test("learns to read traits, and continues from a saved state to the bit", () => {
    const one = reader();
    const asked = [
      { batch: redAndMostlyLarge, context: [1, 0, 0] },
      { batch: green, context: [0, 1, 0] },
    ];
    const entropy = -(0.25 * Math.log(0.25) + 0.75 * Math.log(0.75));
    for (let i = 0; i < 100; i++) one.learn(asked);
    const saved = one.state();
    const other = reader();
    other.restore(saved);
    for (let i = 0; i < 300; i++) for (const each of [one, other]) each.learn(asked);
    expect(other.state()).toEqual(one.state());
    const [mixed, pure] = one.contextLosses(asked);
    // What is mixed cannot be read better than it is.
    expect(mixed?.loss).toBeGreaterThanOrEqual(entropy - 1e-6);
    expect(mixed?.loss).toBeLessThan(entropy + 0.05);
    expect(pure?.loss).toBeLessThan(0.05);
  });

  test("numbers cost half their mean squared error: (1² + 2²) / 4 where nothing is read yet", () => {
    const numbers: readonly TraitGroup[] = [{ name: "needs", kinds: ["cores", "memory"], are: "numbers" }];
    const one = new TraitReader({
      kernels: sets[1]!.make(),
      groups: numbers,
      contextSize: 2,
      rows: 1,
      lr: 0.05,
      seed: 3,
    });
    const asked = { batch: Float32Array.of(1, -2), context: [0, 0] };
    one.setParameters(new Float32Array(one.parameters().length));
    expect(one.contextLosses([asked])[0]?.loss).toBeCloseTo(1.25, 6);
    for (let i = 0; i < 400; i++) one.learn([{ ...asked, context: [1, 1] }]);
    expect(one.contextLosses([{ ...asked, context: [1, 1] }])[0]?.loss).toBeLessThan(1e-3);
    expect(() => assertTraits(numbers, Float32Array.of(1, Number.NaN))).toThrow(/a value of needs that is no number/);
    expect(() => assertTraits(numbers, Float32Array.of(7, -3))).not.toThrow();
  });

  test("shares of another number, negative ones, and such that are not 1 together are refused by name", () => {
    const coded = (traits: readonly number[]) => () => assertTraits(groups, Float32Array.from(traits));
    expect(coded([1, 0, 1, 0])).toThrow(/4 shares for 5 kinds/);
    expect(coded([1, 0, 0.5, 0, 0])).toThrow(/shares of size/);
    expect(coded([2, -1, 1, 0, 0])).toThrow(/shares of colour/);
    expect(coded([...green])).not.toThrow();
  });
});
