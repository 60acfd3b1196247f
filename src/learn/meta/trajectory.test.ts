import { describe, expect, test } from "vitest";
import type { Result } from "../../base/index.ts";
import { unwrap } from "../../base/index.ts";
import { decisionLayout, joinRow, layoutWidth, sampleLayout } from "./features.ts";
import { createTrajectory } from "./trajectory.ts";

const layout = decisionLayout({ obs: 2, action: 1 });
const refusal = (result: Result<unknown>) => (result.ok ? "accepted" : [result.failure.code, result.failure.message]);

describe("rows of features", () => {
  test("join the parts in the layout's order, for decisions and for samples", () => {
    expect(layoutWidth(layout)).toBe(4);
    expect([...unwrap(joinRow(layout, [[1, 2], [3], [4]]))]).toEqual([1, 2, 3, 4]);
    const samples = sampleLayout({ features: 3, labels: 1 });
    expect([...unwrap(joinRow(samples, [[1, 2, 3], [9]]))]).toEqual([1, 2, 3, 9]);
  });

  test("refuse parts that are missing, too many or of another width", () => {
    const code = "meta.ragged";
    expect(refusal(joinRow(layout, [[1, 2], [3, 3], [4]]))).toEqual([code, expect.stringMatching(/its action \(1\)/)]);
    expect(refusal(joinRow(layout, [[1, 2], [3]]))).toEqual([
      code,
      expect.stringMatching(/reward \(1\) and has nothing/),
    ]);
    expect(refusal(joinRow(layout, [[1, 2], [3], [4], [5]]))).toEqual([code, expect.stringMatching(/no part 3/)]);
  });
});

describe("a trajectory", () => {
  test("is its rows one after the other, as a copy", () => {
    const rows = [Float32Array.of(1, 2, 3, 4), [5, 6, 7, 8]];
    const made = unwrap(createTrajectory(rows, { layout, reward: 12 }));
    rows[0]![0] = 99;
    expect(made).toEqual({ steps: 2, values: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), reward: 12 });
  });

  test("without rows, with ragged rows or with what is no number is refused and says where", () => {
    const make = (rows: number[][], reward = 0) => refusal(createTrajectory(rows, { layout, reward }));
    const good = [1, 2, 3, 4];
    expect(make([])).toEqual(["meta.empty", expect.stringMatching(/no rows/)]);
    expect(make([good, [1, 2, 3]])).toEqual(["meta.ragged", expect.stringMatching(/row 1 .* 3 numbers .* have 4/)]);
    expect(make([good, [1, 2, Number.NaN, 4]])).toEqual([
      "meta.not-finite",
      expect.stringMatching(/row 1's action\[0\] is NaN/),
    ]);
    // Finite in double precision, not in the network's.
    expect(make([[1, 1e39, 3, 4]])).toEqual(["meta.not-finite", expect.stringMatching(/observation\[1\] is 1e\+39/)]);
    expect(make([good], Number.POSITIVE_INFINITY)).toEqual([
      "meta.not-finite",
      expect.stringMatching(/reward is Infinity/),
    ]);
  });
});
