import fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";
import type { Span, SpanAttribute } from "./span.ts";
import { SPAN_KINDS, SPAN_STATUSES } from "./span.ts";
import { decodeAttributes, encodeAttributes } from "./span-attributes.ts";
import { SpanColumns, spanColumnsOf } from "./span-columns.ts";

const hex = (digits: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: digits, maxLength: digits })
    .filter((list) => list.some((digit) => digit > 0))
    .map((list) => list.map((digit) => digit.toString(16)).join(""));

const plain = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.boolean(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
);
const attributes = fc.dictionary(fc.string(), fc.oneof(plain, fc.array(plain, { maxLength: 4 })), { maxKeys: 6 });
const name = fc.string({ minLength: 1, maxLength: 30 });

const span: fc.Arbitrary<Span> = fc.record(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentId: hex(16),
    service: name,
    instance: name,
    operation: name,
    kind: fc.constantFrom(...SPAN_KINDS),
    startUs: fc.nat(),
    endUs: fc.nat(),
    status: fc.constantFrom(...SPAN_STATUSES),
    links: fc.array(fc.record({ traceId: hex(32), spanId: hex(16) }), { minLength: 1, maxLength: 3 }),
    attributes: attributes.filter((found) => Object.keys(found).length > 0),
  },
  { requiredKeys: ["traceId", "spanId", "service", "instance", "operation", "kind", "startUs", "endUs", "status"] },
);

test("every span comes out of the columns as it went in", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), (spans) => {
      const columns = spanColumnsOf(spans, new NameTable());
      expect(spans.map((_, row) => columns.spanAt(row))).toEqual(spans);
    }),
  );
});

test("rows copied from table to table keep all they have", () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 10 }), (spans) => {
      const from = spanColumnsOf(spans, new NameTable());
      const to = new SpanColumns(from.names, 1);
      to.reserve(from.length);
      for (let row = from.length - 1; row >= 0; row--) {
        const at = to.length++;
        to.setRow(at, from, row);
        to.traceIds.set(from.traceIds.subarray(4 * row, 4 * row + 4), 4 * at);
        to.setAttributes(at, from.attributeBytes, {
          from: from.attributesFrom[row] as number,
          to: from.attributesTo[row] as number,
        });
      }
      expect(spans.map((_, row) => to.spanAt(spans.length - 1 - row))).toEqual(spans);
    }),
  );
});

test("a short id is one with zeros before it, and what is no id makes no row", () => {
  const columns = new SpanColumns(new NameTable());
  const good: Span = {
    traceId: "abc",
    spanId: "7",
    service: "s",
    instance: "i",
    operation: "o",
    kind: "internal",
    startUs: 0,
    endUs: 1,
    status: "unset",
  };
  expect(columns.addSpan(good)).toBe(true);
  expect(columns.spanAt(0)).toMatchObject({ traceId: `${"0".repeat(29)}abc`, spanId: "0000000000000007" });
  for (const bad of ["", "0", "0".repeat(32), "xyz", "1".repeat(33)])
    expect(columns.addSpan({ ...good, traceId: bad })).toBe(false);
  expect(columns.addSpan({ ...good, parentId: "not hex" })).toBe(false);
  expect(columns.length).toBe(1);
});

test("attributes survive their encoding, with names that mean something to JavaScript too", () => {
  const own = Object.fromEntries([
    ["__proto__", "a"],
    ["constructor", 1],
  ]) as Record<string, SpanAttribute>;
  const bytes = encodeAttributes(own);
  expect(Object.entries(decodeAttributes(bytes, 0, bytes.length))).toEqual(Object.entries(own));
});

test("bytes that are no attributes are read as far as they make sense, and never thrown at", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), attributes, (noise, known) => {
      const good = encodeAttributes(known);
      const all = new Uint8Array(good.length + noise.length);
      all.set(good);
      all.set(noise, good.length);
      expect(typeof decodeAttributes(all, 0, all.length)).toBe("object");
      expect(typeof decodeAttributes(noise, 0, noise.length)).toBe("object");
    }),
  );
});
