import fc from "fast-check";
import { expect, test } from "vitest";
import type { Checkpoint } from "./checkpoint.ts";
import { CHECKPOINT_SCHEMA, decodeCheckpoint, encodeCheckpoint } from "./checkpoint.ts";
import { crc32c } from "./crc32c.ts";

const sample: Checkpoint = {
  kind: "ppo",
  meta: { config: { gamma: 0.99, layers: [64, 64] }, steps: 12, note: "grüße" },
  blocks: {
    actor: Float32Array.of(1.5, -0, Number.NaN, 3),
    moments: Float64Array.of(Math.PI, Number.POSITIVE_INFINITY),
    indices: Int32Array.of(-1, 7, 9),
    ends: Uint8Array.of(0, 1, 2),
    empty: new Float32Array(0),
  },
};

function codeOf(bytes: Uint8Array): string {
  const result = decodeCheckpoint(bytes);
  return result.ok ? "accepted" : result.failure.code;
}

test("what was written is read back, bit for bit, also NaN and negative zero", () => {
  const result = decodeCheckpoint(encodeCheckpoint(sample));
  expect(result).toEqual({ ok: true, value: sample });
  if (result.ok) expect(Object.is(result.value.blocks.actor?.[1], -0)).toBe(true);
});

test("the same content gives the same bytes", () => {
  expect(encodeCheckpoint(sample)).toEqual(encodeCheckpoint(structuredClone(sample)));
});

test("any checkpoint survives the round trip, whatever its blocks", () => {
  const block = fc.oneof(
    fc.float32Array({ maxLength: 9 }),
    fc.float64Array({ maxLength: 9 }),
    fc.int32Array({ maxLength: 9 }),
    fc.uint8Array({ maxLength: 9 }),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z.]{1,8}$/), block, { maxKeys: 5 }), fc.nat(), (blocks, steps) => {
      const checkpoint = { kind: "x", meta: { steps }, blocks: { ...blocks } };
      expect(decodeCheckpoint(encodeCheckpoint(checkpoint))).toEqual({ ok: true, value: checkpoint });
    }),
  );
});

test("every single flipped bit is refused", () => {
  const bytes = encodeCheckpoint(sample);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = bytes.slice();
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(codeOf(damaged), `bit ${bit}`).toMatch(/^checkpoint\.(corrupt|truncated)$/);
  }
});

test("every truncation is refused as one", () => {
  const bytes = encodeCheckpoint(sample);
  for (let length = 0; length < bytes.length; length++) {
    expect(codeOf(bytes.subarray(0, length)), `${length} bytes`).toBe("checkpoint.truncated");
  }
});

test("damaged runs, appended bytes and foreign files are refused", () => {
  const bytes = encodeCheckpoint(sample);
  fc.assert(
    fc.property(fc.nat(bytes.length - 5), fc.integer({ min: 1, max: 2 ** 32 - 1 }), (at, mask) => {
      const damaged = bytes.slice();
      const view = new DataView(damaged.buffer);
      view.setUint32(at, view.getUint32(at) ^ mask);
      expect(codeOf(damaged)).toMatch(/^checkpoint\.(corrupt|truncated)$/);
    }),
  );
  expect(codeOf(Uint8Array.of(...bytes, 0))).toBe("checkpoint.corrupt");
  expect(codeOf(new TextEncoder().encode("PK\u0003\u0004 some archive of another program"))).toBe("checkpoint.corrupt");
});

test("a file of another schema version, intact, is told apart from a damaged one", () => {
  const bytes = encodeCheckpoint(sample);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, CHECKPOINT_SCHEMA + 1, true);
  view.setUint32(bytes.length - 4, crc32c(bytes.subarray(0, bytes.length - 4)), true);
  expect(codeOf(bytes)).toBe("checkpoint.schema");
});

test("a number that JSON would turn into null is refused when written", () => {
  expect(() => encodeCheckpoint({ kind: "x", meta: { loss: Number.NaN }, blocks: {} })).toThrow(/'loss' is NaN/);
});

test("bytes are read the same from a Buffer, which is how files are read", () => {
  const bytes = encodeCheckpoint(sample);
  // A small one lies in memory that it shares with others.
  expect(decodeCheckpoint(Buffer.from(bytes))).toEqual(decodeCheckpoint(bytes));
});
