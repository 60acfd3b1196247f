import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeParsedOtlp } from "../../../bench/tracing/json-peer.ts";
import { type Result, unwrap } from "../../base/index.ts";
import { NameTable } from "../../observe/telemetry/index.ts";
import { OtlpJsonDecoder } from "./json-decode.ts";
import { type DecodeLimits, receiverLimits } from "./limits.ts";
import type { DecodedSpans } from "./proto-decode.ts";

const strict = new TextDecoder("utf-8", { fatal: true });

/** What JSON.parse and a walk make of it. */
function byWalk(bytes: Uint8Array): Result<DecodedSpans> | "no JSON" {
  let parsed: unknown;
  try {
    parsed = JSON.parse(strict.decode(bytes));
  } catch {
    return "no JSON";
  }
  return decodeParsedOtlp(parsed, new NameTable());
}

function shown(result: Result<DecodedSpans>) {
  if (!result.ok) return result.failure.code;
  const { batch, drops } = result.value;
  // The bytes of the attributes, not only what they say: both go into the journal.
  const spans = Array.from({ length: batch.length }, (_, row) => ({
    ...batch.spanAt(row),
    bytes: Buffer.from(batch.attributeBytes.slice(batch.attributesFrom[row], batch.attributesTo[row])).toString("hex"),
  }));
  return { spans, drops: drops.counts() };
}

const decoder = new OtlpJsonDecoder(new NameTable(), receiverLimits);

function same(bytes: Uint8Array): void {
  const walked = byWalk(bytes);
  const expected = walked === "no JSON" ? "otlp.not-json" : shown(walked);
  expect(shown(decoder.decode(bytes))).toEqual(expected);
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const span = `{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","parentSpanId":"","name":"op","kind":2,
  "startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000250123","status":{"code":2},"links":[],
  "attributes":[{"key":"n","value":{"intValue":"42"}},{"key":"t","value":{"stringValue":"ä"}}]}`;
const around = (spans: string, more = ""): string =>
  `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"cart"}}]},"scopeSpans":[{"scope":{},"spans":[${spans}]${more}}]}]}`;

describe("what JSON.parse and a walk would find", () => {
  test.each([
    ["a usual message", around(`${span},${span}`)],
    ["no spans at all", '{"resourceSpans":[]}'],
    ["empty objects at every level", '{"resourceSpans":[{},{"scopeSpans":[{},{"spans":[{}]}]}]}'],
    ["lists that are none", '{"resourceSpans":[5,[],null,{"scopeSpans":{}},{"scopeSpans":[7,{"spans":"x"}]}]}'],
    ["a list that comes twice: the last counts", around(span, `,"spans":[${span},5]`)],
    ["spans, and then none", around(span, ',"spans":null')],
    ["scopes twice", around(span).replace('"resource":', `"scopeSpans":[{"spans":[${span},{},${span}]}],"resource":`)],
    ["requests twice", `${around(span).slice(0, -1)},"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`],
    ["requests, then none", `${around(span).slice(0, -1)},"resourceSpans":{}}`],
    [
      "a resource behind its spans",
      '{"resourceSpans":[{"scopeSpans":[{"spans":[SPAN]}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"late"}},{"key":"host.name","value":{"stringValue":"h"}}]}}]}'.replace(
        "SPAN",
        span,
      ),
    ],
    ["two resources", around(span).replace('"scopeSpans"', '"resource":5,"scopeSpans"')],
    ["keys that are escaped", around(span.replace('"name"', '"n\\u0061me"').replace('"key"', '"\\u006bey"'))],
    ["a mark of the byte order", `\uFEFF${around(span)}`],
    ["white space everywhere", around(span).replaceAll(/([{}[\],:])/g, " \t\r\n$1\n ")],
    ["deep, but not too deep", around(span.replace("[]", `${"[".repeat(80)}${"]".repeat(80)}`))],
    ["nothing", ""],
    ["too much", `${around(span)} 1`],
  ])("%s", (_what, text) => same(utf8(text)));

  const field = (name: string, value: string): string =>
    around(span.replace(/\}$/, `,"${name}":${value}}`).replace(/^\{/, `{"${name}":[],`));

  test.each([
    ...['"x\\n\\u00e4\\ud83d\\ude00"', '"\\ud800"', '"\\udc00x"', "null", "5", "{}", '""', `"${"ä".repeat(300)}"`].map(
      (v) => ["name", v],
    ),
    ...['"SPAN_KIND_CLIENT"', "3", "3.0", "3e0", "30e-1", "-0", "99", "null", "true", '"2"'].map((v) => ["kind", v]),
    ...[
      '"1700000000000250123"',
      '"18446744073709551615"',
      '"9999999999999999999999"',
      '"12"',
      '""',
      '"0x10"',
      '" 7"',
    ].map((v) => ["endTimeUnixNano", v]),
    ...["1.7e18", "1700000000000250123", "1e999", "-1", "null", "{}", '"1\\u0030"', "2E+18"].map((v) => [
      "endTimeUnixNano",
      v,
    ]),
    ...[
      '"EEE19B7EC3C1B175"',
      '"0000000000000000"',
      '"zzzzzzzzzzzzzzzz"',
      '"7uGbfsPBsXQ="',
      '"AAAAAAAAAAA="',
      '"ää"',
      "7",
      "null",
      '"\\u0065ee19b7ec3c1b174"',
    ].flatMap((v) => [
      ["spanId", v],
      ["parentSpanId", v],
    ]),
    ...[
      '{"code":1}',
      '{"code":"STATUS_CODE_ERROR"}',
      '{"code":2,"code":0}',
      '{"message":[{}]}',
      "null",
      "[2]",
      '{"code":{}}',
    ].map((v) => ["status", v]),
    ...[
      '[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"},{},7]',
      "[]",
      "{}",
      "[null]",
      '[{"traceId":"00000000000000000000000000000000","spanId":"eee19b7ec3c1b174"}]',
    ].map((v) => ["links", v]),
    ...[
      "null",
      "{}",
      "[]",
      "[5,{}]",
      '[{"key":"a"}]',
      '[{"value":{"intValue":1}}]',
      '[{"key":5,"value":{"intValue":1}}]',
    ].map((v) => ["attributes", v]),
  ])("a span with %s %s", (name, value) => same(utf8(field(name as string, value as string))));

  const attribute = (value: string): string =>
    field("attributes", `[{"key":"a","value":${value}},{"value":${value},"key":"b"}]`);

  test.each([
    '{"stringValue":"x"}',
    '{"stringValue":"\\ud800\\u0000"}',
    `{"stringValue":"${"long ".repeat(100)}"}`,
    '{"stringValue":5}',
    '{"boolValue":true}',
    '{"boolValue":false}',
    '{"boolValue":"true"}',
    '{"boolValue":1}',
    '{"intValue":"42"}',
    '{"intValue":"-42"}',
    '{"intValue":42}',
    '{"intValue":"9223372036854775807"}',
    '{"intValue":9007199254740993}',
    '{"intValue":" 7 "}',
    '{"intValue":"0x1f"}',
    '{"intValue":""}',
    '{"intValue":null}',
    '{"intValue":{}}',
    '{"intValue":"12345678901234"}',
    '{"doubleValue":0.1}',
    '{"doubleValue":-0}',
    '{"doubleValue":1e308}',
    '{"doubleValue":1e999}',
    '{"doubleValue":"NaN"}',
    '{"doubleValue":5E-324}',
    '{"doubleValue":123456789012345678}',
    '{"arrayValue":{"values":[{"stringValue":"x"},{"arrayValue":{"values":[{"intValue":1}]}},{}]}}',
    '{"arrayValue":{}}',
    '{"arrayValue":[]}',
    '{"kvlistValue":{"values":[]}}',
    '{"bytesValue":"AAA="}',
    "{}",
    "[]",
    "null",
    '"x"',
    '{"stringValue":"x","intValue":5}',
    '{"intValue":5,"stringValue":"x"}',
    '{"stringValue":1,"stringValue":"y"}',
    '{"stringValue":"x","other":[{}]}',
  ])("an attribute with the value %s", (value) => same(utf8(attribute(value))));

  test("a key or a value twice, a field more", () => {
    for (const pair of [
      '{"key":"a","value":{"intValue":1},"key":"b"}',
      '{"key":"a","value":{"intValue":1},"value":{"boolValue":true}}',
      '{"key":"a","x":[1,{}],"value":{"intValue":1}}',
      '{"key":"\\u0061","value":{"intValue":1}}',
    ])
      same(utf8(field("attributes", `[${pair}]`)));
  });
});

/** JSON values whose keys are those that matter, so that many are found. */
const KEYS = [
  "resourceSpans",
  "resource",
  "scopeSpans",
  "spans",
  "attributes",
  "key",
  "value",
  "stringValue",
  "intValue",
  "doubleValue",
  "boolValue",
  "arrayValue",
  "values",
  "traceId",
  "spanId",
  "parentSpanId",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "status",
  "code",
  "links",
  "other",
  "__proto__",
];

const { any } = fc.letrec<{ any: unknown; object: unknown; list: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 8, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(
        "5b8efff798038103d269b633813fc60c",
        "eee19b7ec3c1b174",
        "1700000000000000000",
        "service.name",
        "SPAN_KIND_SERVER",
      ),
    ),
    tie("object"),
    tie("list"),
  ),
  object: fc.array(fc.tuple(fc.constantFrom(...KEYS), tie("any")), { maxLength: 6 }).map((pairs) => new Pairs(pairs)),
  list: fc.array(tie("any"), { maxLength: 4 }),
}));

/** An object whose keys may come twice. */
class Pairs {
  readonly #pairs: readonly (readonly [string, unknown])[];

  constructor(pairs: readonly (readonly [string, unknown])[]) {
    this.#pairs = pairs;
  }

  text(): string {
    return `{${this.#pairs.map(([key, value]) => `${JSON.stringify(key)}:${written(value)}`).join(",")}}`;
  }
}

function written(value: unknown): string {
  if (value instanceof Pairs) return value.text();
  return Array.isArray(value) ? `[${value.map(written).join(",")}]` : (JSON.stringify(value) ?? "null");
}

test("generated documents, with keys that come twice, give the same spans", () => {
  const usual = new Pairs(Object.entries(JSON.parse(span) as Record<string, unknown>));
  const document = fc.oneof(
    any.map(written),
    any.map((value) => `{"resourceSpans":[${written(value)}]}`),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), any), { maxLength: 5 }).map((pairs) => {
      const fields = new Pairs(pairs).text().slice(1, -1);
      const both = [usual.text().slice(1, -1), fields].filter((part) => part !== "").join(",");
      return around(`{${both}},${span}`);
    }),
  );
  fc.assert(
    fc.property(document, (text) => same(utf8(text))),
    { numRuns: 1_500 },
  );
});

test("mutated messages are refused or give the same spans", () => {
  const good = utf8(around(`${span},${span.replace('"op"', '"o\\u0070"')}`));
  const bytes = fc
    .array(
      fc.tuple(fc.nat(good.length - 1), fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[],:"\\0-e. u')))),
      { minLength: 1, maxLength: 4 },
    )
    .chain((changes) =>
      fc.tuple(fc.constant(changes), fc.nat(good.length), fc.constantFrom("keep", "cut", "remove", "repeat")),
    )
    .map(([changes, at, what]) => {
      const changed = good.slice();
      for (const [place, value] of changes) changed[place] = value;
      if (what === "cut") return changed.slice(0, at);
      if (what === "remove") return Buffer.concat([good.subarray(0, at), good.subarray(at + 1)]);
      if (what === "repeat") return Buffer.concat([good.subarray(0, at), good.subarray(at >> 1)]);
      return changed;
    });
  fc.assert(fc.property(bytes, same), { numRuns: 3_000 });
});

describe("limits", () => {
  const limited = (limits: Partial<DecodeLimits["json"]>, mostSpans = 100) =>
    new OtlpJsonDecoder(new NameTable(), { ...receiverLimits, mostSpans, json: { ...receiverLimits.json, ...limits } });
  const sentence = (result: Result<DecodedSpans>): string => (result.ok ? "taken" : result.failure.message);

  test("the first value too many ends it, whatever it is", () => {
    for (const value of ["{}", "[]", "5", '"x"', "null"]) {
      const many = (count: number) => utf8(`{"resourceSpans":[${Array(count).fill(value).join(",")}]}`);
      // The document and the list count as well.
      expect(sentence(limited({ mostValues: 1_000 }).decode(many(998)))).toBe("taken");
      expect(sentence(limited({ mostValues: 1_000 }).decode(many(999)))).toBe(
        "the message has more than 1000 values: let the exporter send smaller batches",
      );
    }
  });

  test("depth ends it at once, open or closed, in a part that is read or passed", () => {
    const deep = "the message is nested deeper than 100 levels: no span needs that, check the exporter";
    for (const text of ["[".repeat(101), `{"x":${"[".repeat(100)}`, `{"resourceSpans":[${'{"a":'.repeat(99)}`])
      expect(sentence(limited({}).decode(utf8(text)))).toBe(deep);
  });

  test("spans, and values of a part that has to be built, are bounded", () => {
    expect(sentence(limited({}, 2).decode(utf8(around(`${span},${span}`))))).toBe("taken");
    expect(sentence(limited({}, 1).decode(utf8(around(`${span},${span}`))))).toContain("more than 1 spans");
    const links = around(span.replace('"links":[]', `"links":[${Array(50).fill("{}").join(",")}]`));
    expect(sentence(limited({ mostBuilt: 51 }).decode(utf8(links)))).toBe("taken");
    expect(sentence(limited({ mostBuilt: 50 }).decode(utf8(links)))).toContain("a part of more than 50 values");
    // Each part that is built counts for 64 more.
    const few = around(Array(20).fill(span.replace('"links":[]', '"links":[{}]')).join(","));
    expect(sentence(limited({ mostValues: 1_000 }).decode(utf8(few)))).toContain("more than 1000 values");
  });

  test("a decoder that refused one message takes the next", () => {
    const one = limited({ mostValues: 50 });
    expect(one.decode(utf8("[".repeat(200))).ok).toBe(false);
    expect(unwrap(one.decode(utf8(around(span)))).batch.length).toBe(1);
  });
});
