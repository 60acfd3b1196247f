import { expect, test } from "vitest";
import { type Experience, noTable, tableAfter, tableFeatureNames, tableFeatures } from "./allocation-table.ts";

const seen = (parts: Partial<Experience>): Experience => ({
  cpuTimes: 1,
  memoryTimes: 1,
  preservation: 1,
  cpu: 0.5,
  memory: 0.5,
  ...parts,
});
const named = (experiences: readonly Experience[]): Record<string, number | undefined> => {
  const values = tableFeatures(experiences.reduce(tableAfter, noTable));
  return Object.fromEntries(tableFeatureNames.map((name, i) => [name, values[i]]));
};

test("an allocation that was never seen is neutral", () => {
  expect(tableFeatureNames).toHaveLength(24);
  expect(tableFeatures(noTable)).toEqual(new Array(24).fill(0));
});

test("each cell has the means of what was earned there", () => {
  const table = named([
    // 3 times the CPU and 1.5 times the memory: the third row, the second column.
    seen({ cpuTimes: 3, memoryTimes: 1.5, preservation: 1, cpu: 0.3, memory: 0.7 }),
    seen({ cpuTimes: 2, memoryTimes: 1.25, preservation: 0.5, cpu: 0.5, memory: 0.9 }),
    // Too little of both: the first cell.
    seen({ cpuTimes: 1, memoryTimes: 1, preservation: 0, cpu: 1, memory: 1 }),
  ]);
  // (1 + 0.5)/2 = 0.75 of preservation is 0.5 on the scale; (0.5 + 0.7)/2 = 0.6 of use is 0.2.
  expect(table["table-preservation-2-1"]).toBeCloseTo(0.5, 12);
  expect(table["table-use-2-1"]).toBeCloseTo(0.2, 12);
  expect(table["table-preservation-0-0"]).toBe(-1);
  expect(table["table-use-0-0"]).toBe(1);
  const others = Object.entries(table).filter(([name]) => !/-(2-1|0-0)$/.test(name));
  expect(others.every(([, value]) => value === 0)).toBe(true);
});

test("cells begin where the one before ends, and the last ones have no end", () => {
  const cellOf = (cpuTimes: number, memoryTimes: number) =>
    Object.entries(named([seen({ cpuTimes, memoryTimes })])).find(([, value]) => value === 1)?.[0];
  expect(cellOf(1.2499, 1.2499)).toBe("table-preservation-0-0");
  expect(cellOf(1.25, 1.25)).toBe("table-preservation-1-1");
  expect(cellOf(1.9999, 2)).toBe("table-preservation-1-2");
  expect(cellOf(4, 1)).toBe("table-preservation-3-0");
  expect(cellOf(1e6, 1e6)).toBe("table-preservation-3-2");
});
