import { expect, test } from "vitest";
import { referenceKernels } from "../learn/tensor/index.ts";
import type { CellMeasurement } from "../sim/index.ts";
import type { StudyJob, UnitResult } from "./study.ts";
import { type GridCell, type GridConfig, worldCluster } from "./world-cluster.ts";

const steady: CellMeasurement = { p50: 100, p99: 400, answered: 1, dropped: 0, cpu: 0.5, memory: 0.5 };

function cells(errors: readonly number[]): UnitResult<readonly GridCell[]>[] {
  const result = errors.map((error, i) => ({
    name: `cell ${i}`,
    utilisation: 0.5,
    event: steady,
    fluid: { ...steady, p50: 100 * (1 + error), p99: 400 * (1 - error) },
  }));
  return [{ seed: 1, unit: "application-0", result }];
}

const rowsOf = (results: UnitResult<readonly GridCell[]>[]) =>
  new Map(worldCluster.rows(results, worldCluster.config({ quick: true })).map((row) => [row.id, row]));

test("the median error decides, by its interval, and the worst cells are shown with their names", () => {
  const rows = rowsOf(cells([0.02, 0.03, 0.03, 0.04, 0.04, 0.05, 0.9]));
  expect(rows.get("p50")?.ours.mean).toBeCloseTo(4, 6);
  expect(rows.get("p99")?.holds).toBe(true);
  expect(rows.get("p50-worst-1")?.what).toContain("cell 6");
  expect(rows.get("p50-worst-1")?.ours.mean).toBeCloseTo(90, 6);
  const bad = rowsOf(cells([0.3, 0.3, 0.35, 0.3, 0.28]));
  expect(bad.get("p50")?.holds).toBe(false);
  expect(bad.get("p99")?.holds).toBe(false);
});

test("a cell where only one world answers counts as wholly wrong, one where neither does not at all", () => {
  const [first] = cells([0.01, 0.01, 0.01]) as [UnitResult<readonly GridCell[]>];
  const silent = { ...steady, p50: null, p99: null, answered: 0 };
  const base = first.result[0] as GridCell;
  const both = { ...base, event: silent, fluid: silent };
  const one = { ...base, event: silent };
  const rows = rowsOf([{ ...first, result: [...first.result, both, one] }]);
  expect(rows.get("p50")?.ours.n).toBe(4);
  expect(rows.get("p50-worst-1")?.ours.mean).toBe(100);
});

test("a unit gives plain JSON, the same for the same seed, and leaves out loads that no study has", async () => {
  const config: GridConfig = {
    ...worldCluster.config({ quick: true }),
    utilisations: [0.4],
    cores: [0.5, 64],
    replicas: [1, 2],
    dispersions: [1],
    stride: 1,
    minutes: 2,
  };
  const { signal } = new AbortController();
  const model = () => new Uint8Array(0);
  const job: StudyJob<GridConfig> = {
    seed: 1_001,
    unit: "application-1",
    config,
    signal,
    model,
    kernels: referenceKernels(),
    progress: () => {},
  };
  const first = await worldCluster.runUnit(job);
  expect(first.length).toBe(2);
  expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  expect(await worldCluster.runUnit(job)).toEqual(first);
});
