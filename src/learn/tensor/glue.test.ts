import { describe, expect, test } from "vitest";
import { expectClose, randomBlock } from "../../../test/oracle/harness.ts";
import { numericalGradient } from "../../../test/oracle/matrix.ts";
import { seededRng } from "../../base/index.ts";
import { copyColumns, meanOverGroups, meanOverGroupsBackward, repeatRow, repeatRowBackward } from "./glue.ts";
import { referenceKernels } from "./kernel-sets/reference.ts";
import { NULL, type Ptr } from "./memory.ts";

const { memory } = referenceKernels();
const put = (values: ArrayLike<number>): Ptr => {
  const ptr = memory.alloc(values.length);
  memory.view(ptr, values.length).set(values);
  return ptr;
};
const read = (ptr: Ptr, count: number) => [...memory.view(ptr, count)];

describe("columns", () => {
  test("two parts side by side, and back", () => {
    const a = put([1, 2, 3, 4]);
    const b = put([9, 8]);
    const both = memory.alloc(6);
    copyColumns(memory, { from: { ptr: a, width: 2 }, into: { ptr: both, width: 3 }, rows: 2, cols: 2 });
    copyColumns(memory, { from: { ptr: b, width: 1 }, into: { ptr: both, width: 3, at: 2 }, rows: 2, cols: 1 });
    expect(read(both, 6)).toEqual([1, 2, 9, 3, 4, 8]);
    const back = put([10, 20, 30, 40]);
    copyColumns(memory, { from: { ptr: both, width: 3, at: 1 }, into: { ptr: back, width: 2 }, rows: 2, cols: 2 });
    expect(read(back, 4)).toEqual([2, 9, 4, 8]);
    copyColumns(memory, { from: { ptr: both, width: 3 }, into: { ptr: back, width: 2 }, rows: 2, cols: 1, add: true });
    expect(read(back, 4)).toEqual([3, 9, 7, 8]);
  });

  test("one row in every row, and back", () => {
    const into = memory.alloc(9);
    repeatRow(memory, { row: put([5, 6]), into: { ptr: into, width: 3, at: 1 }, rows: 3, cols: 2 });
    expect(read(into, 9)).toEqual([0, 5, 6, 0, 5, 6, 0, 5, 6]);
    const row = put([99, 99]);
    const pulls = put([7, 1, 10, 7, 2, 20, 7, 3, 30]);
    repeatRowBackward(memory, { row, into: { ptr: pulls, width: 3, at: 1 }, rows: 3, cols: 2 });
    expect(read(row, 2)).toEqual([6, 60]);
  });
});

describe.each([false, true])("means over groups (strided: %s)", (strided) => {
  const groups = 2;
  const size = 3;
  const cols = 2;
  // Group 0 is (1,2) (3,4) (5,6), group 1 is (10,20) (30,40) (50,60).
  const rowsOf = strided ? [1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60] : [1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60];
  // The last of group 0 and the first two of group 1 do not count.
  const mask = put(strided ? [1, 0, 1, 0, 0, 1] : [1, 1, 0, 0, 0, 1]);

  test("by hand, with and without a mask", () => {
    const into = memory.alloc(4);
    const shape = { from: put(rowsOf), into, groups, size, cols, strided };
    meanOverGroups(memory, shape);
    expectClose(read(into, 4), [3, 4, 30, 40], 1e-6);
    meanOverGroups(memory, { ...shape, mask });
    expect(read(into, 4)).toEqual([2, 3, 50, 60]);
    meanOverGroups(memory, { ...shape, mask: memory.alloc(6) });
    expect(read(into, 4)).toEqual([0, 0, 0, 0]);
  });

  test.each([false, true])("the way back is the numerical gradient (masked: %s)", (masked) => {
    const pull = randomBlock(groups * cols, seededRng(3));
    const shape = { groups, size, cols, strided, mask: masked ? mask : NULL };
    const from = put(new Float32Array(12).fill(99));
    meanOverGroupsBackward(memory, { ...shape, from, into: put(pull) });
    const maskValues = masked ? read(mask, 6) : [1, 1, 1, 1, 1, 1];
    const objective = (x: ArrayLike<number>) => {
      let sum = 0;
      for (let g = 0; g < groups; g++) {
        const members = [0, 1, 2]
          .map((m) => (strided ? m * groups + g : g * size + m))
          .filter((r) => maskValues[r] === 1);
        for (const r of members)
          for (let c = 0; c < cols; c++) sum += (pull[g * cols + c]! * x[r * cols + c]!) / members.length;
      }
      return sum;
    };
    expectClose(read(from, 12), numericalGradient(objective, rowsOf), 1e-6);
  });
});
