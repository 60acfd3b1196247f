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
