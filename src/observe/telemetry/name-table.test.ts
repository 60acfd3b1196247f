import fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("the same name has the same number, as text and as bytes", () => {
  const names = new NameTable();
  const cart = names.intern("cart");
  expect(names.intern("checkout")).not.toBe(cart);
  const message = bytes("…cart…");
  expect(names.internBytes(message, 3, 7)).toBe(cart);
  expect(names.text(cart)).toBe("cart");
});

/** 2^13 names that FNV-1a, the hash of this table once, gives one value: pairs of blocks that meet, one after the other. */
function meetingNames(): Uint8Array[] {
  const block = new Uint8Array(5);
  const fill = (k: number): void => {
    const bits = Math.imul(k, 0x9e3779b1);
    for (let i = 0; i < 5; i++) block[i] = 33 + ((bits >>> (6 * i)) & 63);
  };
  let state = 0x811c9dc5;
  let names: Uint8Array[] = [new Uint8Array(0)];
  for (let stage = 0; stage < 13; stage++) {
    const seen = new Map<number, number>();
    for (let k = 0; ; k++) {
      fill(k);
      let hash = state;
      for (let i = 0; i < 5; i++) hash = Math.imul(hash ^ (block[i] as number), 0x01000193);
      const met = seen.get(hash);
      seen.set(hash, k);
      if (met === undefined) continue;
      const one = block.slice();
      fill(met);
      const other = block.slice();
      names = names.flatMap((name) => [Uint8Array.of(...name, ...one), Uint8Array.of(...name, ...other)]);
      state = hash;
      break;
    }
  }
  return names;
}

test("names that were chosen to meet in one slot cost no more than others", () => {
  const chosen = meetingNames();
  const others = chosen.map((_, k) => bytes(`${"x".repeat(55)}${String(k).padStart(10, "0")}`));
  const msFor = (names: readonly Uint8Array[]): number => {
    const table = new NameTable();
    const began = performance.now();
    for (const name of names) table.internBytes(name, 0, name.length);
    expect(table.size).toBe(1 + names.length);
    return performance.now() - began;
  };
  msFor(others);
  expect(msFor(chosen)).toBeLessThan(10 * msFor(others) + 20);
});

test("any set of names is told apart and read back, also when the table grows", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 40, unit: "binary" }), { maxLength: 600 }), (texts) => {
      const whole = texts.filter((text) => new TextDecoder().decode(bytes(text)) === text && bytes(text).length <= 256);
      const names = new NameTable();
      const ids = whole.map((text) => names.internBytes(bytes(text), 0, bytes(text).length));
      expect(new Set(ids).size).toBe(whole.length);
      expect(ids.map((id) => names.text(id))).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});

test("bytes that are no UTF-8 are no name", () => {
  const names = new NameTable();
  expect(names.internBytes(Uint8Array.of(0x63, 0xff, 0x63), 0, 3)).toBe(NameTable.INVALID);
  expect(names.size).toBe(1);
});

test("beyond the bound every new name is (other), and that is counted", () => {
  const names = new NameTable({ most: 3 });
  const [a, b] = [names.intern("a"), names.intern("b")];
  expect(names.text(names.intern("c"))).toBe("(other)");
  expect(names.text(names.intern("d"))).toBe("(other)");
  expect(names.folded).toBe(2);
  expect([names.intern("a"), names.intern("b")]).toEqual([a, b]);
});

test("a name longer than 256 bytes is cut between characters", () => {
  const names = new NameTable();
  // 255 bytes and a character of two: the cut falls before it.
  const id = names.intern(`${"x".repeat(255)}é and more`);
  expect(names.text(id)).toBe("x".repeat(255));
});
