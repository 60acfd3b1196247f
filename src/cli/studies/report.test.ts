import { expect, test } from "vitest";
import type { Study, StudyReport, StudyRow } from "../../studies/index.ts";
import { reportPage, reportTable } from "./report.ts";

const ours = { mean: 1, lo: 1, hi: 1, n: 2, unit: "s" };
const row = (id: string, holds: boolean | null): StudyRow => ({
  ...{ id, what: id, paper: null, ours, holds },
  claim: holds === null ? "shown, not judged" : "at least 1",
});
const report: StudyReport = {
  ...{ study: "tiny", title: "Tiny", quick: true, seeds: [1, 2], wallSeconds: 1, world: "none", config: {} },
  ...{ version: "0.1.0", commit: "0".repeat(40), node: "v20", cpu: "a machine", kernels: "reference" },
  rows: [row("kept", true), row("missed", false), row("shown", null)],
};

test("a row says yes or no where it is judged, and nothing where it is not", () => {
  const lineOf = (text: string, what: string) => text.split("\n").find((line) => line.includes(what)) ?? "";
  const table = reportTable(report, { maxWidth: 200 });
  expect(lineOf(table, "kept")).toMatch(/yes\W*$/);
  expect(lineOf(table, "missed")).toMatch(/NO\W*$/);
  expect(lineOf(table, "shown, not")).toMatch(/not judged\W*$/);
  const study = { id: "tiny", about: "", seeds: { quick: 2, full: 2 } } as Study;
  const page = reportPage(study, report, []);
  expect(lineOf(page, "| kept")).toMatch(/\| yes \|$/);
  expect(lineOf(page, "| missed")).toMatch(/\| \*\*no\*\* \|$/);
  expect(lineOf(page, "| shown, not")).toMatch(/\| shown, not judged \| {2}\|$/);
});
