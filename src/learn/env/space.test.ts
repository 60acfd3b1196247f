import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureOf, seededRng } from "../../base/index.ts";
import { dict, tuple } from "./composite-space.ts";
import { flatSize, flatten } from "./flatten.ts";
import { box, discrete, multiBinary, multiDiscrete, type Space } from "./space.ts";
import { spaceFromJson, spaceToJson } from "./space-json.ts";

/** The failure that a call ends in, or undefined when it succeeds. */
function failureFrom(call: () => unknown) {
  try {
    call();
  } catch (thrown) {
    return failureOf(thrown);
  }
  return undefined;
}

const half = box({ low: [0, Number.NEGATIVE_INFINITY], high: [Number.POSITIVE_INFINITY, 1] });
const robot = dict({ arm: box({ low: -1, high: 1, size: 2 }), mode: discrete(3) });
const pair = tuple([multiBinary(2), multiDiscrete([2, 4])]);

const spaces: readonly { name: string; space: Space<unknown>; size: number; flat: number }[] = [
  { name: "a box", space: box({ low: -2, high: 2, size: 3 }), size: 3, flat: 3 },
  { name: "a box bounded on one side", space: half, size: 2, flat: 2 },
  { name: "an unbounded box", space: box({ low: -Infinity, high: Infinity, size: 1 }), size: 1, flat: 1 },
  { name: "a choice", space: discrete(5), size: 1, flat: 5 },
  { name: "several choices", space: multiDiscrete([2, 3]), size: 2, flat: 5 },
  { name: "switches", space: multiBinary(4), size: 4, flat: 4 },
  { name: "named parts", space: robot, size: 3, flat: 5 },
  { name: "ordered parts", space: pair, size: 4, flat: 8 },
];

describe.each(spaces)("$name", ({ space, size, flat }) => {
  test("contains what it samples, and gets it back from plain numbers", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const value = space.sample(seededRng(seed));
        expect(space.contains(value)).toBe(true);
        const numbers = new Float64Array(size + 2).fill(9);
        space.write(value, numbers, 1);
        expect(space.accepts(numbers, 1)).toBe(true);
        expect(space.read(numbers, 1)).toEqual(value);
        // Not a number more than its size is touched.
        expect([numbers[0], numbers[size + 1]]).toEqual([9, 9]);
      }),
      { numRuns: 50 },
    );
  });

  test("samples the same for the same seed", () => {
    expect(space.sample(seededRng(3))).toEqual(space.sample(seededRng(3)));
  });

  test("knows its sizes as numbers and as network inputs", () => {
    expect(space.size).toBe(size);
    expect(flatSize(space)).toBe(flat);
  });

  test("refuses values of another shape with space.mismatch", () => {
    for (const wrong of [undefined, null, "left", -1, 7.5, [], new Float32Array(9), new Int32Array(9), {}]) {
      expect(space.contains(wrong)).toBe(false);
      const found = failureFrom(() => space.write(wrong, new Float64Array(size)));
      expect(found?.code).toBe("space.mismatch");
      expect(found?.message).toMatch(/^expected .*, found .*; pass a value of the declared space$/);
    }
  });

  test("survives JSON", () => {
    const back = spaceFromJson(JSON.parse(JSON.stringify(spaceToJson(space))));
    expect(back.describe()).toBe(space.describe());
    expect(back.sample(seededRng(8))).toEqual(space.sample(seededRng(8)));
  });
});

test("a box contains its bounds but nothing beyond them, and no NaN", () => {
  const space = box({ low: [-1, 0], high: [1, 10] });
  expect(space.contains(Float32Array.of(-1, 10))).toBe(true);
  expect(space.contains(Float32Array.of(-1.001, 10))).toBe(false);
  expect(space.contains(Float32Array.of(0, 10.01))).toBe(false);
  expect(space.contains(Float32Array.of(0, Number.NaN))).toBe(false);
});

test("a box takes numbers beyond its bounds as actions, because the environment says what too much force does", () => {
  const space = box({ low: -1, high: 1, size: 1 });
  expect(space.accepts([3])).toBe(true);
  expect(space.accepts([Number.NaN])).toBe(false);
  expect(space.accepts([Number.POSITIVE_INFINITY])).toBe(false);
});

test("a choice must be one of its options", () => {
  const space = discrete(3);
  expect([0, 1, 2].every((value) => space.contains(value))).toBe(true);
  expect([-1, 3, 0.5, Number.NaN].some((value) => space.contains(value) || space.accepts([value]))).toBe(false);
});

test("samples of a choice are spread evenly", () => {
  const rng = seededRng(5);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 4000; i++) counts[discrete(4).sample(rng)]! += 1;
  // Each count is binomial with mean 1000 and deviation 27: five deviations either way.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(140);
});

test("flattening turns a choice into one-hot and leaves reals alone", () => {
  const into = new Float32Array(7).fill(9);
  flatten(robot, { arm: Float32Array.of(0.5, -0.25), mode: 2 }, { into, at: 1 });
  expect([...into]).toEqual([9, 0.5, -0.25, 0, 0, 1, 9]);
  const choiceFirst = tuple([discrete(3), box({ low: 0, high: 9, size: 1 })]);
  const four = new Float32Array(4);
  flatten(choiceFirst, [1, Float32Array.of(7)], { into: four });
  expect([...four]).toEqual([0, 1, 0, 7]);
  const both = new Float32Array(8);
  flatten(pair, [Uint8Array.of(1, 0), Int32Array.of(1, 3)], { into: both });
  expect([...both]).toEqual([1, 0, 0, 1, 0, 0, 0, 1]);
});

test("errors name what was expected and what was found", () => {
  expect(
    failureFrom(() => box({ low: -2, high: 2, size: 1 }).write(new Float32Array(2), new Float64Array(1)))?.message,
  ).toBe(
    "expected a Float32Array of 1 number within [-2] to [2], found Float32Array(2) [0, 0]; pass a value of the declared space",
  );
  expect(failureFrom(() => discrete(2).write(2, new Float64Array(1)))?.message).toBe(
    "expected a whole number from 0 to 1, found 2; pass a value of the declared space",
  );
});

test.each([
  ["bounds the wrong way round", () => box({ low: 1, high: 0 })],
  ["a NaN bound", () => box({ low: Number.NaN, high: 0 })],
  ["bounds of different lengths", () => box({ low: [0, 0], high: [1] })],
  ["no options", () => discrete(0)],
  ["half an option", () => multiDiscrete([2, 1.5])],
  ["no switches", () => multiBinary(0)],
  ["no parts", () => dict({})],
  ["JSON of an unknown kind", () => spaceFromJson({ kind: "graph" })],
  ["JSON that is no object", () => spaceFromJson("box")],
  ["JSON without bounds", () => spaceFromJson({ kind: "box", low: [0] })],
])("a space with %s cannot be declared", (_, declare) => {
  expect(failureFrom(declare)?.code).toBe("space.invalid");
});
