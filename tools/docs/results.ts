/**
 * The part of a page of results that is made from the studies' reports. Such a page says in its first marker which
 * studies it is about:
 *
 *     <!-- results of: rl-cartpole rl-pendulum -->
 *     …
 *     <!-- end of results -->
 *
 * Owns: counts and tables between the markers. Not here: the words around them, which people write in the page itself.
 */
import { markdownTable, type RowTable, rowTables, tallyText } from "../../src/cli/studies/row-tables.ts";
import { seedsText } from "../../src/cli/studies/seeds.ts";
import { tallyOf } from "../../src/contract/index.ts";
import type { StudyReport } from "../../src/studies/index.ts";

const BLOCK = /(<!-- results of: ([a-z0-9- ]+) -->\n)[\s\S]*?(<!-- end of results -->)/;

/** The page with its tables made anew; the very same page where it has no markers. */
export function withResults(page: string, reportOf: (study: string) => StudyReport): string {
  const found = BLOCK.exec(page);
  if (found === null) return page;
  const [block, from = "", ids = "", to = ""] = found;
  const reports = ids.trim().split(/\s+/).map(reportOf);
  return page.replace(block, () => `${from}\n${blockOf(reports)}\n${to}`);
}

function blockOf(reports: readonly StudyReport[]): string {
  const all = tallyOf(reports.flatMap(({ rows }) => rows));
  return [
    `**${capital(tallyText(all))}.**`,
    "",
    countsOf(reports),
    "",
    ...judgedTables(reports).flatMap((table) => [`## ${table.title}`, "", markdownTable(table), ""]),
  ].join("\n");
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function countsOf(reports: readonly StudyReport[]): string {
  return markdownTable({
    head: ["study", "promises kept", "figures reproduced", "same direction", "not", "shown", "run"],
    cells: reports.map(({ study, title, rows, seeds, wallSeconds, kernels }) => {
      const { promises, promisesHeld, reproductions, reproduced, sameDirection } = tallyOf(rows);
      const some = (count: number, of: number): string => (of === 0 ? "–" : `${count} of ${of}`);
      const minutes = Math.max(1, Math.round(wallSeconds / 60));
      return [
        `[${title}](${study}.md)`,
        some(promisesHeld, promises),
        some(reproduced, reproductions),
        reproductions === 0 ? "–" : `${sameDirection}`,
        reproductions === 0 ? "–" : `${reproductions - reproduced - sameDirection}`,
        `${rows.filter(({ kind }) => kind === "shown").length}`,
        `${seedsText(seeds)}, ${minutes} min, ${kernels} kernels`,
      ];
    }),
  });
}

/** All promises of the page in one table, and all reproductions in another; what is only shown is on the studies' pages. */
function judgedTables(reports: readonly StudyReport[]): readonly RowTable[] {
  const options = { emphasise: (text: string) => `**${text}**`, withSource: true };
  const each = reports.map(({ study, rows }) => ({ study, tables: rowTables(rows, options) }));
  return ["Promises", "Reproductions"].flatMap((title) => {
    const own = each.flatMap(({ study, tables }) =>
      tables.filter((table) => table.title === title).map((table) => ({ study, table })),
    );
    const [first] = own;
    if (first === undefined) return [];
    const cells = own.flatMap(({ study, table }) => table.cells.map((texts) => [`[${study}](${study}.md)`, ...texts]));
    return [{ title, head: ["study", ...first.table.head], cells }];
  });
}
