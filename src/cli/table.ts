/** Tables for people: aligned columns, a ruled head, nothing that a narrow terminal cannot show. */

import CliTable from "cli-table3";

export interface Column {
  readonly head: string;
  readonly align?: "left" | "right";
}

export interface TableOptions {
  /** Wrap cells so that no line is longer; a file or a pipe has no such limit. */
  readonly maxWidth?: number | undefined;
}

/** A column of text is not squeezed below this. */
const NARROWEST = 10;

export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { maxWidth }: TableOptions = {},
): string {
  const widths = fittingWidths(columns, rows, maxWidth ?? Number.POSITIVE_INFINITY);
  const table = new CliTable({
    head: columns.map((column) => column.head),
    colAligns: columns.map((column) => column.align ?? "left"),
    style: { head: [], border: [], compact: true },
    ...(widths ? { colWidths: [...widths], wordWrap: true } : {}),
    // Rules under the head only: data can be cut by column and read aloud.
    chars: {
      top: "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      bottom: "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      left: "",
      "left-mid": "",
      mid: "─",
      "mid-mid": "─",
      right: "",
      "right-mid": "",
      middle: " ",
    },
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Widths with padding that fit, taken from the widest columns first; undefined when everything fits as it is. */
function fittingWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): readonly number[] | undefined {
  const widths = columns.map(
    ({ head }, i) => 2 + Math.max(head.length, ...rows.map((row) => plain(row[i] ?? "").length)),
  );
  const total = () => widths.reduce((sum, width) => sum + width, 0) + widths.length - 1;
  if (total() <= maxWidth) return undefined;
  while (total() > maxWidth) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] as number) <= NARROWEST) break;
    widths[widest] = (widths[widest] as number) - 1;
  }
  return widths;
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
  return text.replaceAll(/\u001b\[[0-9;]*m/g, "");
}

/** Four significant digits, thousands kept readable: 0.01234, 475.3, 12,345. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return Math.round(value).toLocaleString("en-US");
  if (magnitude < 1e-3) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}
