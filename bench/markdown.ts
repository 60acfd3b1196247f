/** Reports as the Markdown tables of docs/guide/benchmarks.md. */

import type { BenchReport, Figure, Machine } from "./report.ts";

export const BEGIN = "<!-- figures: begin (written by write-table.ts) -->";
export const END = "<!-- figures: end -->";

/** The page with the reports' tables between the marks; those of benches without a report stay as they are. */
export function withTables(page: string, reports: Readonly<Record<string, BenchReport>>): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from)
    throw new Error(`the page has no place for figures: it needs the lines ${BEGIN} and ${END}`);
  const tables = new Map(sectionsOf(page.slice(from + BEGIN.length, to)));
  for (const [name, report] of Object.entries(reports)) tables.set(name, section(name, report));
  return `${page.slice(0, from + BEGIN.length)}\n\n${[...tables.values()].join("\n\n")}\n\n${page.slice(to)}`;
}

/** By name, in the page's order. */
function sectionsOf(figures: string): readonly (readonly [string, string])[] {
  return figures
    .split(/^(?=### )/m)
    .filter((text) => text.startsWith("### "))
    .map((text) => [text.slice(4, text.indexOf("\n")), text.trim()]);
}

function section(name: string, { figures, absent, machine }: BenchReport): string {
  const head = ["| what | best | median | peer | ratio | target | holds |", "|---|--:|--:|---|--:|---|---|"];
  const lines = [`### ${name}`, "", describe(machine), "", ...head, ...figures.map(row)];
  if (absent.length > 0) lines.push("", ...absent.map((why) => `Absent: ${why}`));
  return lines.join("\n");
}

function describe({ cpu, cores, system, node, loadBefore, loadAfter, crowding, at }: Machine): string {
  const busy = crowding === undefined ? "" : `, wall ${crowding} × processor time`;
  return `${at.slice(0, 16).replace("T", " ")} UTC, ${cpu}, ${cores} cores, ${system}, Node ${node}, load ${loadBefore} before and ${loadAfter} after${busy}.`;
}

function row({ what, value, unit, median, peer, ratio, target, holds }: Figure): string {
  const verdict = holds === undefined ? "" : holds ? "yes" : "**no**";
  const cells = [what, `${value} ${unit}`, median ?? "", peer ?? "", ratio ?? "", target ?? "", verdict];
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}
