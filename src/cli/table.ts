/** Tables for people: aligned columns, a ruled head, nothing that a narrow terminal can not show. */

import CliTable from "cli-table3";

export interface Column {
  readonly head: string;
  readonly align?: "left" | "right";
}

export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const table = new CliTable({
    head: columns.map((column) => column.head),
    colAligns: columns.map((column) => column.align ?? "left"),
    style: { head: [], border: [], compact: true },
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

/** Four significant digits, thousands kept readable: 0.01234, 475.3, 12,345. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return Math.round(value).toLocaleString("en-US");
  if (magnitude < 1e-3) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}
