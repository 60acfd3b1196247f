/**
 * A study's rows as tables, promises, reproductions and what is only shown apart.
 * Owns: which columns each kind has and how figures and verdicts are worded, for the terminal and for pages.
 * Not here: the report around them (report.ts), how a row is judged (studies/claim.ts).
 */
import type { Outcome, StudyTally } from "../../contract/index.ts";
import type { StudyRow } from "../../studies/index.ts";
import { formatNumber } from "../table.ts";

export interface RowTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

export interface RowTableOptions {
  /** How what is missed is made to stand out. */
  emphasise(text: string): string;
  /** Whether the paper's figure says where it is printed. */
  readonly withSource: boolean;
}

/** In this order, and only those that have rows. */
export function rowTables(rows: readonly StudyRow[], options: RowTableOptions): readonly RowTable[] {
  const tables: RowTable[] = [
    {
      title: "Promises",
      head: ["what", "published", "ours, 95 % interval", "promised", "kept"],
      cells: rows.flatMap((row) => (row.kind === "promise" ? [cellsOf(row, row.claim, options)] : [])),
    },
    {
      title: "Reproductions",
      head: ["what", "published", "ours, 95 % interval", "to reach", "outcome"],
      cells: rows.flatMap((row) => (row.kind === "reproduction" ? [cellsOf(row, row.claim, options)] : [])),
    },
    {
      title: "Shown, not judged",
      head: ["what", "published", "ours, 95 % interval", "why"],
      cells: rows.flatMap((row) =>
        row.kind === "shown"
          ? [cellsOf(row, row.claim.replace(/^shown, not judged(: )?/, ""), options).slice(0, 4)]
          : [],
      ),
    },
  ];
  return tables.filter(({ cells }) => cells.length > 0);
}

function cellsOf(row: StudyRow, claim: string, options: RowTableOptions): readonly string[] {
  return [row.what, paperText(row, options), oursText(row), claim, verdictText(row, options)];
}

const outcomeTexts: Readonly<Record<Outcome, string>> = {
  reproduced: "reproduced",
  "same-direction": "same direction",
  not: "not",
};

function verdictText(row: StudyRow, { emphasise }: RowTableOptions): string {
  if (row.kind === "shown") return "";
  if (row.kind === "promise") return row.holds ? "yes" : emphasise("no");
  return row.outcome === "not" ? emphasise("not") : outcomeTexts[row.outcome];
}

function paperText({ paper }: StudyRow, { withSource }: RowTableOptions): string {
  if (paper === null) return "–";
  const { low, high, unit, where } = paper;
  const range = low === high ? formatNumber(low) : `${formatNumber(low)} to ${formatNumber(high)}`;
  return withUnit(range, unit) + (withSource ? ` (${where})` : "");
}

function oursText({ ours }: StudyRow): string {
  return withUnit(`${formatNumber(ours.mean)} [${formatNumber(ours.lo)}, ${formatNumber(ours.hi)}]`, ours.unit);
}

const withUnit = (text: string, unit: string): string => (unit === "" ? text : `${text} ${unit}`);

/** `3 of 5 promises kept; 4 of 10 figures reproduced, 2 in the same direction`. */
export function tallyText({ promises, promisesHeld, reproductions, reproduced, sameDirection }: StudyTally): string {
  const parts: string[] = [];
  if (promises > 0) parts.push(`${promisesHeld} of ${promises} promises kept`);
  if (reproductions > 0)
    parts.push(`${reproduced} of ${reproductions} figures reproduced, ${sameDirection} in the same direction`);
  return parts.length === 0 ? "nothing is judged" : parts.join("; ");
}

/** Markdown of a table. */
export function markdownTable({ head, cells }: Pick<RowTable, "head" | "cells">): string {
  const line = (texts: readonly string[]) =>
    `| ${texts.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...cells.map(line)].join("\n");
}
