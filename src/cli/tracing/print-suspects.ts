/** The report of `coxswain trace localize` for people: the likeliest culprits, then why. */
import { printLine, type Shell } from "../shell.ts";
import { formatNumber, renderTable } from "../table.ts";
import type { LocalizeReport } from "./localize.ts";

const MOST = 10;

export function printSuspects(shell: Shell, report: LocalizeReport): void {
  const { traces, spans, normalTraces, isTrained, threshold, suspects } = report;
  const against =
    normalTraces > 0 ? `against ${normalTraces.toLocaleString("en-US")} of normal times` : "by themselves";
  printLine(
    shell,
    `${traces.toLocaleString("en-US")} traces, ${spans.toLocaleString("en-US")} spans, judged ${against}; ` +
      (isTrained
        ? `culprits score ${formatNumber(threshold)} or more`
        : "no trained model, so the order is all there is"),
  );
  const shown = suspects.slice(0, MOST);
  const rows = shown.map((suspect, k) => [
    `${k + 1}`,
    suspect.isBackground ? `${suspect.instance} (background)` : suspect.instance,
    suspect.request,
    formatNumber(suspect.score),
    formatNumber(suspect.relativeImportance),
    formatNumber(suspect.congestionIntensity),
    suspect.expectedSaving > 0 ? formatNumber(suspect.expectedSaving) : "",
  ]);
  printLine(shell, "");
  printLine(
    shell,
    renderTable(
      [
        { head: "", align: "right" },
        { head: "instance" },
        { head: "request" },
        { head: "score", align: "right" },
        { head: "r", align: "right" },
        { head: "p99/p50", align: "right" },
        { head: "saves ms", align: "right" },
      ],
      rows,
      { maxWidth: shell.stdout.columns },
    ),
  );
  const [first] = suspects;
  if (first !== undefined) printLine(shell, `\n${first.instance}: ${first.reason}`);
  if (suspects.length > MOST) printLine(shell, `and ${suspects.length - MOST} less likely: see --json`);
}
