import fc from "fast-check";
import { expect, test } from "vitest";
import { type Rng, type RngState, restoreRng, seededRng } from "./rng.ts";

const stateOf = (words: RngState["words"]): RngState => ({ key: [1, 2, 3, 4], words, spare: null });
const take = (rng: Rng, count: number, draw: (rng: Rng) => number = (r) => r.uint32()) =>
  Array.from({ length: count }, () => draw(rng));

// Expected words: a separate implementation with unbounded integers, written from the authors' C reference; the first
// ten of state 1, 2, 3, 4 are also the test vector of the rand_xoshiro crate.
test("it is xoshiro128** to the bit", () => {
  expect(take(restoreRng(stateOf([1, 2, 3, 4])), 10)).toEqual([
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ]);
});

test("words with the sign bit set are treated as unsigned", () => {
  const rng = restoreRng(stateOf([0xdeadbeef, 0x80000001, 0xffffffff, 0x12345678]));
  expect(take(rng, 6)).toEqual([6336, 3132620587, 2266909175, 3297222538, 4246227809, 3389715306]);
  take(rng, 199_993);
  expect(rng.uint32()).toBe(3480416046);
});

test("a uniform draw is 53 bits of two words: 27 of the first, 26 of the second", () => {
  // (11520 >> 5) · 2^26 + (0 >> 6), over 2^53.
  expect(restoreRng(stateOf([1, 2, 3, 4])).next()).toBe((360 * 2 ** 26) / 2 ** 53);
});

test("the same seed gives the same stream and neighbouring seeds different ones", () => {
  expect(take(seededRng(42), 20)).toEqual(take(seededRng(42), 20));
  const firsts = new Set(Array.from({ length: 1000 }, (_, seed) => seededRng(seed).uint32()));
  expect(firsts.size).toBeGreaterThan(995);
});

test("seeds beyond 32 bits and below zero have streams of their own", () => {
  const seeds = [1, 1 + 2 ** 32, -1, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  expect(new Set(seeds.map((seed) => take(seededRng(seed), 3).join())).size).toBe(seeds.length);
});

test("a seed that is not a whole number is refused", () => {
  for (const seed of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => seededRng(seed)).toThrow("a seed is a whole number");
  }
});

test("a fork does not depend on what its parent, or another fork, has drawn", () => {
  const fresh = take(seededRng(7).fork("policy"), 10);
  const parent = seededRng(7);
  take(parent, 13);
  parent.normal();
  take(parent.fork("noise"), 5);
  expect(take(parent.fork("policy"), 10)).toEqual(fresh);
});

test("forking does not move the parent", () => {
  const parent = seededRng(7);
  parent.fork("a");
  parent.fork("b").uint32();
  expect(take(parent, 5)).toEqual(take(seededRng(7), 5));
});

test("labels, their order and their nesting all name different streams", () => {
  const root = seededRng(1);
  const streams = [
    root,
    root.fork("a"),
    root.fork("b"),
    root.fork("ab"),
    root.fork("a").fork("b"),
    root.fork("b").fork("a"),
    root.fork(""),
    root.fork("").fork(""),
    root.fork(0),
    root.fork(1),
    root.fork(10),
    root.fork("a").fork("a"),
  ];
  expect(new Set(streams.map((stream) => take(stream, 4).join())).size).toBe(streams.length);
});

test("a number and its text are the same label", () => {
  expect(seededRng(1).fork(12).uint32()).toBe(seededRng(1).fork("12").uint32());
});

test("many forks share no first draws and are not correlated with one another", () => {
  const root = seededRng(3);
  const count = 20_000;
  const firsts = new Set<string>();
  let correlation = 0;
  for (let i = 0; i < count; i++) {
    const [a, b] = take(root.fork(i), 2);
    firsts.add(`${a},${b}`);
    correlation += (root.fork(i).next() - 0.5) * (root.fork(i + 1).next() - 0.5) * 12;
  }
  expect(firsts.size).toBe(count);
  // A sum of products of independent uniforms has variance 1 each: four standard errors.
  expect(Math.abs(correlation / count)).toBeLessThan(4 / Math.sqrt(count));
});

test("a state restored from JSON continues the very same stream, forks and pending normal included", () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.constantFrom("next", "int", "normal", "uint32")), (seed, draws) => {
      const rng = seededRng(seed);
      for (const draw of draws) draw === "int" ? rng.int(17) : rng[draw as "next"]();
      const back = restoreRng(JSON.parse(JSON.stringify(rng.state())) as RngState);
      const future = (r: Rng) => [r.normal(), r.normal(), r.next(), r.int(1000), r.fork("x").uint32(), r.uint32()];
      expect(future(back)).toEqual(future(rng));
    }),
    { numRuns: 200, seed: 1 },
  );
});

test("a saved state is not moved by later draws", () => {
  const rng = seededRng(5);
  const saved = rng.state();
  const expected = take(restoreRng(saved), 3);
  take(rng, 100);
  expect(take(restoreRng(saved), 3)).toEqual(expected);
});

/** Pearson's statistic against equal chances. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((a, b) => a + b, 0) / counts.length;
  return counts.reduce((total, count) => total + (count - expected) ** 2 / expected, 0);
}

test("uniform draws fill the unit interval evenly and never reach one", () => {
  const rng = seededRng(11);
  const counts = new Array<number>(100).fill(0);
  for (let i = 0; i < 200_000; i++) {
    const value = rng.next();
    if (value < 0 || value >= 1) expect.unreachable(`drew ${value}`);
    counts[Math.floor(value * 100)] = (counts[Math.floor(value * 100)] ?? 0) + 1;
  }
  // 99 degrees of freedom: the 0.1 % and 99.9 % points are 60 and 149.
  expect(chiSquare(counts)).toBeGreaterThan(60);
  expect(chiSquare(counts)).toBeLessThan(149);
});

test("integers below a bound that does not divide 2^32 are equally likely", () => {
  const rng = seededRng(12);
  const counts = new Array<number>(6).fill(0);
  for (let i = 0; i < 120_000; i++) {
    const value = rng.int(6);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  // 5 degrees of freedom: the 99.9 % point is 20.5.
  expect(chiSquare(counts)).toBeLessThan(20.5);
});

test("a large bound is not biased towards small values", () => {
  // Without rejection, values below 2^30 would come up half as often again: 2^32 mod 3·2^30 = 2^30.
  const rng = seededRng(13);
  const bound = 3 * 2 ** 30;
  let small = 0;
  for (let i = 0; i < 30_000; i++) if (rng.int(bound) < 2 ** 30) small += 1;
  expect(Math.abs(small / 30_000 - 1 / 3)).toBeLessThan(4 * Math.sqrt(2 / 9 / 30_000));
});

test("the ends of the range of bounds work and what lies outside is refused", () => {
  const rng = seededRng(14);
  expect(take(rng, 5, (r) => r.int(1))).toEqual([0, 0, 0, 0, 0]);
  expect(rng.int(2 ** 32)).toBeLessThan(2 ** 32);
  for (const bound of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) expect(() => rng.int(bound)).toThrow("whole bound");
});

test("normal draws have the moments and the tails of a standard normal", () => {
  const rng = seededRng(15);
  const count = 200_000;
  const sums = [0, 0, 0, 0];
  let beyondTwo = 0;
  for (let i = 0; i < count; i++) {
    const z = rng.normal();
    for (let k = 0; k < 4; k++) sums[k] = (sums[k] ?? 0) + z ** (k + 1);
    if (Math.abs(z) > 2) beyondTwo += 1;
  }
  const [mean = 0, square = 0, cube = 0, fourth = 0] = sums.map((sum) => sum / count);
  // Four standard errors of each moment's estimate; variances of z, z², z³, z⁴ are 1, 2, 15 and 96.
  expect(Math.abs(mean)).toBeLessThan(4 * Math.sqrt(1 / count));
  expect(Math.abs(square - 1)).toBeLessThan(4 * Math.sqrt(2 / count));
  expect(Math.abs(cube)).toBeLessThan(4 * Math.sqrt(15 / count));
  expect(Math.abs(fourth - 3)).toBeLessThan(4 * Math.sqrt(96 / count));
  expect(Math.abs(beyondTwo / count - 0.0455)).toBeLessThan(0.002);
});

test("the two normals of a pair are independent", () => {
  const rng = seededRng(16);
  let product = 0;
  for (let i = 0; i < 50_000; i++) product += rng.normal() * rng.normal();
  expect(Math.abs(product / 50_000)).toBeLessThan(4 / Math.sqrt(50_000));
});
