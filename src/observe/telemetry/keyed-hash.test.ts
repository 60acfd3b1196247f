import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { type FillRandom, KeyedHash } from "./keyed-hash.ts";

const randomBy = (seed: number): FillRandom => {
  const rng = seededRng(seed);
  return (into) => {
    for (let k = 0; k < into.length; k++) into[k] = rng.int(2 ** 32);
  };
};

/** The most keys in one of 256 slots, for 4,096 keys; 16 by chance, 34 about once in ten thousand slots. */
function fullest(hashes: readonly number[]): number {
  const counts = new Uint32Array(256);
  for (const hash of hashes) counts[hash & 255] = (counts[hash & 255] as number) + 1;
  return Math.max(...counts);
}

const KEYS = Array.from({ length: 4_096 }, (_, k) => k);

test.each([1, 2, 3])("keys that lie close together or far apart are spread over the slots (key %i)", (seed) => {
  const hash = new KeyedHash(randomBy(seed));
  const ofText = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return hash.ofBytes(bytes, 0, bytes.length);
  };
  expect(fullest(KEYS.map((k) => ofText(`operation-${k}`)))).toBeLessThan(60);
  expect(fullest(KEYS.map((k) => ofText(String(k * 32_768))))).toBeLessThan(60);
  const ofIds = (make: (k: number) => readonly number[]) =>
    fullest(KEYS.map((k) => hash.ofWords(Uint32Array.from(make(k)), 0, 4)));
  expect(ofIds((k) => [0, 0, 0, k])).toBeLessThan(60);
  expect(ofIds((k) => [k << 20, 0, 0, 7])).toBeLessThan(60);
  expect(ofIds((k) => [k, 5, k ^ 9, 7])).toBeLessThan(60);
});

test("the key decides, zeros at the end count, and the same key gives the same hash", () => {
  const [one, same, other] = [new KeyedHash(randomBy(1)), new KeyedHash(randomBy(1)), new KeyedHash(randomBy(2))];
  const bytes = Uint8Array.of(9, 97, 0, 0);
  expect(one.ofBytes(bytes, 1, 3)).toBe(same.ofBytes(bytes, 1, 3));
  expect(one.ofBytes(bytes, 1, 3)).not.toBe(other.ofBytes(bytes, 1, 3));
  expect(one.ofBytes(bytes, 1, 2)).not.toBe(one.ofBytes(bytes, 1, 3));
  expect(one.ofBytes(bytes, 1, 3)).toBe(one.ofBytes(Uint8Array.of(97, 0), 0, 2));
});
