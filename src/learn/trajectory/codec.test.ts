import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentId, EpisodeId, Ms } from "../../base/index.ts";
import { failureOf } from "../../base/index.ts";
import {
  decodeCompletions,
  decodeRecords,
  decodeTransitions,
  encodeCompletions,
  encodeRecords,
  encodeTransitions,
} from "./codec.ts";
import { lineToRecord, recordToLine } from "./jsonl.ts";
import type { TrajectoryRecord } from "./record.ts";

const full: TrajectoryRecord = {
  episode: "e-1" as EpisodeId,
  agent: "a-1" as AgentId,
  step: 7,
  at: 1_700_000_000_000.25 as Ms,
  obs: Float32Array.of(-0, 0.1, 3.4e38, 1e-45),
  proposed: Float32Array.of(1),
  executed: Float32Array.of(0.5),
  logProb: -0,
  reward: null,
  end: "truncated",
  finalObs: Float32Array.of(2),
  actorContext: Float32Array.of(3, 4),
  criticContext: Float32Array.of(5),
};
const plain: TrajectoryRecord = {
  episode: full.episode,
  agent: full.agent,
  step: 0,
  at: 0 as Ms,
  obs: Float32Array.of(1),
  proposed: Float32Array.of(1),
  executed: Float32Array.of(1),
  logProb: null,
  reward: 0.1 + 0.2,
  end: "no",
};

const codeOf = (job: () => unknown): string => {
  try {
    job();
    return "no failure";
  } catch (thrown) {
    return failureOf(thrown)?.code ?? `uncoded: ${String(thrown)}`;
  }
};

describe("batches as bytes", () => {
  test("records, completions and transitions come back to the bit", () => {
    expect(decodeRecords(encodeRecords([full, plain]))).toStrictEqual([full, plain]);
    const late = { episode: full.episode, step: 3, reward: -0 };
    const last = { ...late, end: "terminated" as const, finalObs: Float32Array.of(9) };
    expect(decodeCompletions(encodeCompletions([late, last]))).toStrictEqual([late, last]);
    const record = { ...plain, reward: 4 };
    const transitions = [
      { record, nextObs: null },
      { record, nextObs: Float32Array.of(6) },
    ];
    expect(decodeTransitions(encodeTransitions(transitions))).toStrictEqual(transitions);
  });

  test("an id is written once however many steps carry it", () => {
    // Header 16, two ids of 1 + 3 bytes, and per record 51 fixed bytes and three vectors of one float.
    expect(encodeRecords([plain, { ...plain, step: 1 }]).byteLength).toBe(16 + 8 + 2 * (51 + 12));
  });

  test("a batch cut anywhere is refused", () => {
    const data = encodeRecords([full, plain]);
    for (let length = 0; length < data.byteLength; length++) {
      expect(codeOf(() => decodeRecords(data.subarray(0, length)))).toBe("trajectory.malformed");
    }
    expect(codeOf(() => decodeRecords(Uint8Array.of(...data, 0)))).toBe("trajectory.malformed");
    expect(codeOf(() => decodeCompletions(data))).toBe("trajectory.malformed");
  });

  test("a flipped bit gives a coded failure or another valid batch, never an uncoded error", () => {
    const data = encodeRecords([full, plain]);
    void fc.assert(
      fc.property(fc.nat(data.byteLength * 8 - 1), (bit) => {
        const bent = data.slice();
        bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const code = codeOf(() => decodeRecords(bent));
        const expected = ["no failure", "trajectory.malformed", "trajectory.invalid", "store.schema", "id.invalid"];
        expect(expected).toContain(code);
      }),
    );
  });

  test("another schema version is refused by name", () => {
    const data = encodeRecords([plain]);
    data[4] = 2;
    expect(() => decodeRecords(data)).toThrow("a batch has trajectory schema 2 and this version reads schema 1");
    expect(codeOf(() => decodeRecords(data))).toBe("store.schema");
  });
});

describe("records as lines", () => {
  test("a record comes back to the bit, minus zero and the smallest float included", () => {
    for (const record of [full, plain]) expect(lineToRecord(recordToLine(record), "x:1")).toStrictEqual(record);
  });

  test("any float32 survives the decimal form", () => {
    void fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const record = { ...plain, obs: Float32Array.of(value) };
        expect(lineToRecord(recordToLine(record), "x:1").obs).toStrictEqual(record.obs);
      }),
    );
  });

  test("a bad line is named with what is wrong", () => {
    const line = recordToLine(plain);
    const cases: [string, string, string][] = [
      ["{", "trajectory.line", "f.jsonl:3 is not JSON"],
      ["[]", "trajectory.line", "f.jsonl:3 is not an object"],
      [line.replace('"schema":1', '"schema":9'), "store.schema", "f.jsonl:3 has trajectory schema 9"],
      [line.replace('"step"', '"stp"'), "trajectory.line", "the unknown key 'stp'"],
      [line.replace('"step":0', '"step":"0"'), "trajectory.line", "no number under 'step'"],
      [line.replace('"obs":[1]', '"obs":[null]'), "trajectory.line", "no list of numbers under 'obs'"],
      [line.replace('"obs":[1]', '"obs":[1e39]'), "trajectory.invalid", "obs[0] is Infinity"],
      [line.replace('"end":"no"', '"end":"soon"'), "trajectory.invalid", "its end is 'soon'"],
    ];
    for (const [text, code, words] of cases) {
      expect(codeOf(() => lineToRecord(text, "f.jsonl:3"))).toBe(code);
      expect(() => lineToRecord(text, "f.jsonl:3")).toThrow(words);
    }
  });
});
