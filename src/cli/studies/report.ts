/** A study's report for people: the table in the terminal, the page and the files in a results folder. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Figure, figureToPng, figureToSvg } from "../../adapters/plot/index.ts";
import { writeFileAtomically } from "../../adapters/runtime/index.ts";
import type { Study, StudyReport, StudyRow } from "../../studies/index.ts";
import { shortCommit } from "../package-info.ts";
import { clockTime } from "../progress.ts";
import { formatNumber, renderTable, type TableOptions } from "../table.ts";
import { seedOptions, seedsText } from "./seeds.ts";

export function reportTable(report: StudyReport, options: TableOptions = {}): string {
  const rows = report.rows.map((row) => [row.what, paperText(row), oursText(row), row.claim, verdictText(row, "NO")]);
  const head = [
    { head: "what" },
    { head: "paper" },
    { head: "ours (95 % interval)" },
    { head: "claim" },
    { head: "holds" },
  ];
  return [
    `${report.title}${report.quick ? " (quick)" : ""}`,
    "",
    renderTable(head, rows, options),
    "",
    provenance(report),
  ].join("\n");
}

function provenance(report: StudyReport): string {
  const { seeds, wallSeconds, version, commit, node, cpu, kernels } = report;
  return (
    `${seedsText(seeds)}, ${clockTime(wallSeconds * 1000)} on ${cpu}, Node ${node}, ` +
    `${kernels} kernels, coxswain ${version}, commit ${shortCommit(commit)}`
  );
}

function paperText({ paper }: StudyRow): string {
  if (paper === null) return "–";
  const range =
    paper.low === paper.high ? formatNumber(paper.low) : `${formatNumber(paper.low)} to ${formatNumber(paper.high)}`;
  return withUnit(range, paper.unit);
}

function oursText({ ours }: StudyRow): string {
  return withUnit(`${formatNumber(ours.mean)} [${formatNumber(ours.lo)}, ${formatNumber(ours.hi)}]`, ours.unit);
}

/** Nothing where nothing is judged. */
const verdictText = ({ holds }: StudyRow, no: string): string => (holds === null ? "" : holds ? "yes" : no);

function withUnit(text: string, unit: string): string {
  return unit === "" ? text : `${text} ${unit}`;
}

function commandOf(study: Study, { study: id, quick, seeds }: StudyReport): string {
  const words = ["coxswain reproduce", id, quick ? "--quick" : "", seedOptions(study, { quick, seeds })];
  return [...words.filter((word) => word !== ""), "--out docs/results"].join(" ");
}

export interface WriteOptions {
  readonly study: Study;
  readonly report: StudyReport;
  readonly figures: readonly Figure[];
  readonly folder: string;
}

/** Writes `<study>.json`, `<study>.md` and each figure as SVG and PNG; returns the files. */
export async function writeReport({ study, report, figures, folder }: WriteOptions): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const written: string[] = [];
  const write = (name: string, content: string | Uint8Array) => {
    const file = join(folder, name);
    writeFileAtomically(file, content);
    written.push(file);
  };
  write(`${report.study}.json`, `${JSON.stringify(report, null, 2)}\n`);
  const images: { readonly name: string; readonly title: string }[] = [];
  for (const figure of figures) {
    const name = figures.length === 1 ? report.study : `${report.study}-${figure.id}`;
    const svg = await figureToSvg(figure);
    write(`${name}.svg`, svg);
    write(`${name}.png`, await figureToPng(svg));
    images.push({ name, title: figure.title });
  }
  write(`${report.study}.md`, reportPage(study, report, images));
  return written;
}

export function reportPage(
  study: Study,
  report: StudyReport,
  images: readonly { readonly name: string; readonly title: string }[],
): string {
  const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  const rows = report.rows.map((row) => {
    const where = row.paper === null ? "" : ` (${row.paper.where})`;
    return `| ${[row.what, paperText(row) + where, oursText(row), row.claim, verdictText(row, "**no**")].map(cell).join(" | ")} |`;
  });
  return [
    `# ${report.title}`,
    "",
    study.about,
    "",
    "| what | published | ours, interquartile mean and 95 % interval | claim | holds |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    ...images.flatMap(({ name, title }) => [`![${title}](${name}.svg)`, ""]),
    `${provenance(report)}. ${report.quick ? "A quick run: fewer seeds and steps than the published table." : ""}`.trim(),
    `Made by \`${commandOf(study, report)}\`;`,
    `the numbers, the seeds and the whole configuration are in [${report.study}.json](${report.study}.json).`,
    "",
  ].join("\n");
}
