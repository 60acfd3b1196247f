import { expect, test } from "vitest";
import { promiseAtLeast, reproduceAtLeast, type Study, type StudyReport, shown } from "../../studies/index.ts";
import { reportPage, reportTable } from "./report.ts";

const ours = { mean: 1, lo: 1, hi: 1, n: 2, unit: "s" };
const paper = { low: 3, high: 3, unit: "s", where: "Fig. 1" };
const row = (id: string) => ({ id, what: id, paper: null, ours, claim: "at least something" });
const report: StudyReport = {
  study: "tiny",
  title: "Tiny",
  quick: true,
  seeds: [1, 2],
  wallSeconds: 1,
  world: "none",
  config: {},
  version: "0.1.0",
  commit: "0".repeat(40),
  node: "v20",
  cpu: "a machine",
  kernels: "reference",
  rows: [
    promiseAtLeast(row("kept"), 1),
    shown({ id: "plain", what: "plain", ours }),
    reproduceAtLeast({ ...row("near"), paper }, { bound: 3, none: 0 }),
    promiseAtLeast(row("missed"), 2),
    reproduceAtLeast({ ...row("absent"), paper }, { bound: 3, none: 2 }),
    shown({ id: "told", what: "told", ours, why: "a reason" }),
  ],
};
const lineOf = (text: string, what: string) => text.split("\n").find((line) => line.startsWith(what)) ?? "";

test("in the terminal promises, reproductions and what is shown have a table each, and verdicts of their own", () => {
  const table = reportTable(report, { maxWidth: 200 });
  expect(lineOf(table, " kept")).toMatch(/yes$/);
  expect(lineOf(table, " missed")).toMatch(/NO$/);
  expect(lineOf(table, " near")).toMatch(/same direction$/);
  expect(lineOf(table, " absent")).toMatch(/NOT$/);
  expect(lineOf(table, " told")).toMatch(/a reason$/);
  const order = ["Promises", " missed", "Reproductions", " near", " absent", "Shown, not judged", " plain", " told"];
  expect(order.map((text) => table.indexOf(text))).toEqual(
    order.map((text) => table.indexOf(text)).sort((a, b) => a - b),
  );
  expect(table).toContain("1 of 2 promises kept; 0 of 2 figures reproduced, 1 in the same direction.");
});

test("on the page the paper's figure says where it is printed, and what is missed stands out", () => {
  const study = { id: "tiny", about: "", seeds: { quick: 2, full: 2 } } as Study;
  const page = reportPage(study, report, []);
  expect(lineOf(page, "| kept")).toBe("| kept | – | 1 [1, 1] s | at least something | yes |");
  expect(lineOf(page, "| missed")).toBe("| missed | – | 1 [1, 1] s | at least something | **no** |");
  expect(lineOf(page, "| near")).toBe("| near | 3 s (Fig. 1) | 1 [1, 1] s | at least something | same direction |");
  expect(lineOf(page, "| absent")).toBe("| absent | 3 s (Fig. 1) | 1 [1, 1] s | at least something | **not** |");
  expect(lineOf(page, "| told")).toBe("| told | – | 1 [1, 1] s | a reason |");
});
