/** The report of critical paths for people: the paths of each request type, then one request's timeline. */
import { printLine, type Shell } from "../shell.ts";
import { formatNumber, renderTable } from "../table.ts";
import type { CriticalPathsReport, ShownTrace } from "./critical-paths.ts";

/** Of each request type, and request types; the rest is told as a number. */
const MOST_PATHS = 5;
const MOST_TYPES = 10;
const BAR = 24;

export function printPaths(shell: Shell, report: CriticalPathsReport): void {
  const { traces, spans, algorithm, requestTypes } = report;
  const form = algorithm === "printed" ? "Algorithm 3.1 as printed" : "corrected Algorithm 3.1";
  printLine(shell, `${count(traces, "trace")}, ${count(spans, "span")}; critical paths by the ${form}`);
  for (const note of notesOf(report)) printLine(shell, note);
  for (const { name, requests, paths } of requestTypes.slice(0, MOST_TYPES)) {
    printLine(shell, `\n${name}: ${count(requests, "request")}\n`);
    const rows = paths
      .slice(0, MOST_PATHS)
      .map(({ share, meanUs, longestUs, steps, exclusiveUs }) => [
        `${formatNumber(100 * share)} %`,
        milliseconds(meanUs),
        milliseconds(longestUs),
        steps.map((step, k) => `${step.service}/${step.operation} ${milliseconds(exclusiveUs[k] ?? 0)}`).join(" → "),
      ]);
    printLine(
      shell,
      renderTable(
        [
          { head: "share", align: "right" },
          { head: "mean ms", align: "right" },
          { head: "longest ms", align: "right" },
          {
            head:
              algorithm === "printed"
                ? "path, with the mean ms of each span"
                : "path, with the ms that each alone held it up",
          },
        ],
        rows,
        { maxWidth: shell.stdout.columns },
      ),
    );
    if (paths.length > MOST_PATHS)
      printLine(shell, `and ${count(paths.length - MOST_PATHS, "rarer path")}: see --json`);
  }
  if (requestTypes.length > MOST_TYPES)
    printLine(shell, `\nand ${count(requestTypes.length - MOST_TYPES, "other request type")}: see --json`);
  printTrace(shell, report.shown, algorithm);
}

function notesOf({ orphans, skewed, dropped }: CriticalPathsReport): string[] {
  const reasons = Object.entries(dropped).map(([reason, number]) => `${number} ${reason}`);
  return [
    ...(orphans > 0 ? [`${count(orphans, "span")} without their parent hang below the root`] : []),
    ...(skewed > 0 ? [`${count(skewed, "span")} of a wrong clock were moved into their callers' time`] : []),
    ...(reasons.length > 0 ? [`not used: ${reasons.join(", ")}`] : []),
  ];
}

function printTrace(shell: Shell, trace: ShownTrace, algorithm: CriticalPathsReport["algorithm"]): void {
  printLine(shell, `\ntrace ${trace.traceId}: ${milliseconds(trace.durationUs)} ms, ${count(trace.spans, "span")}\n`);
  const rows = trace.path.map(({ service, instance, operation, startUs, durationUs, exclusiveUs }) => [
    instance === service ? service : `${service} (${instance})`,
    operation,
    milliseconds(startUs),
    milliseconds(durationUs),
    milliseconds(exclusiveUs),
    bar(exclusiveUs / trace.durationUs),
  ]);
  const last = algorithm === "printed" ? "of its duration" : "alone ms";
  printLine(
    shell,
    renderTable(
      [
        { head: "service" },
        { head: "operation" },
        { head: "from ms", align: "right" },
        { head: "took ms", align: "right" },
        { head: last, align: "right" },
        { head: "share" },
      ],
      rows,
      { maxWidth: shell.stdout.columns },
    ),
  );
  if (trace.background.length > 0) printLine(shell, `\nin the background: ${trace.background.join(", ")}`);
}

const bar = (share: number): string =>
  Number.isFinite(share) ? "█".repeat(Math.round(BAR * Math.max(0, Math.min(1, share)))) : "";

const milliseconds = (us: number): string => formatNumber(us / 1_000);

const count = (number: number, what: string): string =>
  `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;
