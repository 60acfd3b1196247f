import { expect, test } from "vitest";
import { generateApplications } from "../workloads/generate.ts";
import { CELL_SIZE } from "./cell.ts";
import { ResponseTable } from "./response-table.ts";
import { cellMemory, cellNames, SharedCells } from "./shared-cells.ts";

const cellOf = (value: number) => new Float64Array(CELL_SIZE).fill(value);
const nameOf = cellNames("a table");

test("what one thread adds another finds, each cell by its name", () => {
  const memory = cellMemory({ places: 64 });
  const [here, there] = [new SharedCells(memory), new SharedCells(memory)];
  for (let cell = 0; cell < 40; cell++) here.add(nameOf(cell), cellOf(cell));
  for (let cell = 0; cell < 40; cell++) expect(there.find(nameOf(cell))).toEqual(cellOf(cell));
  expect(there.find(nameOf(40))).toBeUndefined();
  expect(there.find(cellNames("another table")(7))).toBeUndefined();
});

test("a cell that is added twice takes one place", () => {
  const cells = new SharedCells(cellMemory({ places: 4 }));
  for (let again = 0; again < 10; again++) cells.add(nameOf(1), cellOf(1));
  cells.add(nameOf(2), cellOf(2));
  expect(cells.find(nameOf(1))).toEqual(cellOf(1));
  expect(cells.find(nameOf(2))).toEqual(cellOf(2));
});

test("memory that is three quarters full takes nothing more and keeps what it has", () => {
  const cells = new SharedCells(cellMemory({ places: 8 }));
  for (let cell = 0; cell < 20; cell++) cells.add(nameOf(cell), cellOf(cell));
  const found = Array.from({ length: 20 }, (_, cell) => cells.find(nameOf(cell)));
  expect(found.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5].map(cellOf));
  expect(found.slice(6).every((cell) => cell === undefined)).toBe(true);
});

test("the names of a thousand applications' cells all differ", () => {
  const names = Array.from({ length: 1_000 }, (_, table) => cellNames(`1.2 16 {"id":"application-${table}"}`)).flatMap(
    (named) => Array.from({ length: 100 }, (_, cell) => named(32_768 + 13 * cell).join()),
  );
  expect(new Set(names).size).toBe(100_000);
});

test("a table that finds a cell does not run it, and has the very same numbers", () => {
  const [application] = generateApplications({ seed: 1 });
  if (!application) throw new Error("no application");
  const options = { speed: 1, cores: 16 };
  const memory = cellMemory({ places: 64 });
  const tables = [
    new ResponseTable(application, options, new SharedCells(memory)),
    new ResponseTable(application, options, new SharedCells(memory)),
    new ResponseTable(application, options),
  ];
  const columns = tables.map((table) => {
    table.fill(0, 1, 4);
    // In overload one cell stands for any number of pods.
    table.fill(0, 1, 11);
    return table.column(0, 1);
  });
  expect(tables.map(({ filled }) => filled)).toEqual([2, 0, 2]);
  expect(columns[1]).toEqual(columns[0]);
  expect(columns[2]).toEqual(columns[0]);
  // Another processor is another table.
  const other = new ResponseTable(application, { ...options, speed: 1.2 }, new SharedCells(memory));
  other.fill(0, 1, 4);
  expect(other.filled).toBe(1);
});
