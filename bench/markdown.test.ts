import { expect, test } from "vitest";
import { BEGIN, END, withTables } from "./markdown.ts";

const machine = {
  cpu: "Chip",
  cores: 2,
  system: "linux 6 x64",
  node: "v20.19.0",
  loadBefore: 0.1,
  loadAfter: 0.2,
  crowding: 1.01,
  at: "2026-01-02T03:04:05.678Z",
};

test("figures become rows between the marks, and the rest of the page stays", () => {
  const page = `Before.\n\n${BEGIN}\n\nold figures\n\n${END}\n\nAfter.\n`;
  const figure = { id: "a", what: "an update", value: 2, unit: "µs", median: 3, peer: "C: 1 µs", ratio: 2 };
  const written = withTables(page, {
    engine: { figures: [{ ...figure, target: "at most 1.5", holds: false }], absent: ["PyTorch: not here"], machine },
  });
  expect(written).toBe(`Before.

${BEGIN}

### engine

2026-01-02 03:04 UTC, Chip, 2 cores, linux 6 x64, Node v20.19.0, load 0.1 before and 0.2 after, wall 1.01 × processor time.

| what | best | median | peer | ratio | target | holds |
|---|--:|--:|---|--:|---|---|
| an update | 2 µs | 3 | C: 1 µs | 2 | at most 1.5 | **no** |

Absent: PyTorch: not here

${END}

After.
`);
});

test("a report replaces its own table, and those of other benches stay", () => {
  const of = (value: number) => ({ figures: [{ id: "a", what: "a step", value, unit: "µs" }], absent: [], machine });
  const empty = `${BEGIN}\n${END}\n`;
  const both = withTables(empty, { engine: of(1), store: of(2) });
  expect(withTables(both, { engine: of(3) })).toBe(withTables(empty, { engine: of(3), store: of(2) }));
});

test("a page without the marks is refused, not overwritten", () => {
  expect(() => withTables("# Benchmarks\n", {})).toThrow("no place for figures");
});
