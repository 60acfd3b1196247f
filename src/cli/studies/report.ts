/** A study's report for people: the table in the terminal, the page and the files in a results folder. */

import { join } from "node:path";
import { type Figure, figureToPng, figureToSvg } from "../../adapters/plot/index.ts";
import { makeFolder, writeFileAtomically } from "../../adapters/runtime/index.ts";
import { tallyOf } from "../../contract/index.ts";
import type { Study, StudyReport } from "../../studies/index.ts";
import { shortCommit } from "../package-info.ts";
import { clockTime } from "../progress.ts";
import { renderTable, type TableOptions } from "../table.ts";
import { markdownTable, rowTables, tallyText } from "./row-tables.ts";
import { seedOptions, seedsText } from "./seeds.ts";

export function reportTable(report: StudyReport, options: TableOptions = {}): string {
  const tables = rowTables(report.rows, { emphasise: (text) => text.toUpperCase(), withSource: false });
  return [
    `${report.title}${report.quick ? " (quick)" : ""}`,
    "",
    ...tables.flatMap(({ title, head, cells }) => [
      title,
      renderTable(
        head.map((text) => ({ head: text })),
        cells,
        options,
      ),
      "",
    ]),
    `${capital(tallyText(tallyOf(report.rows)))}.`,
    provenance(report),
  ].join("\n");
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function provenance(report: StudyReport): string {
  const { seeds, wallSeconds, version, commit, node, cpu, kernels } = report;
  return (
    `${seedsText(seeds)}, ${clockTime(wallSeconds * 1000)} on ${cpu}, Node ${node}, ` +
    `${kernels} kernels, coxswain ${version}, commit ${shortCommit(commit)}`
  );
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
  makeFolder(folder);
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
  const tables = rowTables(report.rows, { emphasise: (text) => `**${text}**`, withSource: true });
  return [
    `# ${report.title}`,
    "",
    study.about,
    "",
    `${capital(tallyText(tallyOf(report.rows)))}.`,
    "",
    ...tables.flatMap((table) => [`## ${table.title}`, "", markdownTable(table), ""]),
    ...images.flatMap(({ name, title }) => [`![${title}](${name}.svg)`, ""]),
    `${provenance(report)}. ${report.quick ? "A quick run: fewer seeds and steps than the published table." : ""}`.trim(),
    `Made by \`${commandOf(study, report)}\`;`,
    `the numbers, the seeds and the whole configuration are in [${report.study}.json](${report.study}.json).`,
    "",
  ].join("\n");
}
