/** What a campaign did, for people and as JSON. */
import { targetName } from "../../act/faults/index.ts";
import { printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import type { Campaign } from "./campaign-schema.ts";
import type { InjectedRow, InjectOutcome } from "./run-inject.ts";

const right = (head: string) => ({ head, align: "right" as const });
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export function printOutcome(shell: Shell, campaign: Campaign, { rows, seconds, requests }: InjectOutcome): void {
  const maxWidth = shell.stdout.columns;
  const columns = [right("from s"), right("for s"), { head: "target" }, { head: "kind" }, { head: "pattern" }];
  const injected = renderTable(
    [...columns, right("intensity"), right("breaks from"), { head: "culprit" }, right("missed SLO"), { head: "guard" }],
    rows.map(textOf),
    { maxWidth },
  );
  printLine(shell, injected);
  printLine(shell);
  printLine(
    shell,
    renderTable(
      ["request", "SLO ms", "arrived", "late", "timed out", "dropped", "broken s"].map((head, i) =>
        i === 0 ? { head } : right(head),
      ),
      requests.map((r) => [
        r.request,
        r.sloMs.toFixed(1),
        ...[r.arrived, r.late, r.timedOut, r.dropped, r.brokenSeconds].map((n) => n.toLocaleString("en-US")),
      ]),
      { maxWidth },
    ),
  );
  const disturbed = seconds.filter(({ active }) => active > 0);
  const calm = seconds.filter(({ active }) => active === 0);
  const share = (list: typeof seconds): string => {
    const arrived = list.reduce((sum, { arrived: n }) => sum + n, 0);
    return arrived === 0 ? "–" : percent(list.reduce((sum, { missed }) => sum + missed, 0) / arrived);
  };
  const culprits = rows.filter(({ label }) => label?.isCulprit === true).length;
  const labelled = rows.filter(({ label }) => label !== null).length;
  printLine(
    shell,
    `\n${campaign.application.name}, ${campaign.load} requests/s, seed ${campaign.seed}, ${seconds.length} s: ` +
      `${share(disturbed)} of requests missed their SLO while something was injected, ${share(calm)} otherwise` +
      (labelled > 0 ? `; ${culprits} of ${labelled} injections are culprits` : ""),
  );
}

function textOf({ verdict, label, missedDuring, endedDuring }: InjectedRow): readonly string[] {
  const { wished, done, refused, changed } = verdict;
  const shown = done ?? wished;
  const threshold = label === null ? "" : label.threshold === null ? "never" : label.threshold.toFixed(2);
  const guard = refused === null ? changed.map(({ field }) => `${field} clamped`).join(", ") : `refused: ${refused}`;
  return [
    (shown.start / 1_000).toFixed(1),
    (shown.duration / 1_000).toFixed(1),
    targetName(shown.target),
    shown.kind,
    shown.pattern,
    shown.intensity.toFixed(2),
    threshold,
    label === null ? "" : label.isCulprit ? "yes" : "no",
    done === null || endedDuring === 0 ? "" : percent(missedDuring / endedDuring),
    guard,
  ];
}

export function outcomeJson(campaign: Campaign, { rows, seconds, requests }: InjectOutcome) {
  return {
    application: campaign.application.name,
    seed: campaign.seed,
    load: campaign.load,
    seconds: campaign.until / 1_000,
    injections: rows.map(({ verdict, label, missedDuring, endedDuring }) => {
      const { wished, done, refused, changed } = verdict;
      const shown = done ?? wished;
      return {
        id: shown.id,
        kind: shown.kind,
        target: targetName(shown.target),
        startMs: shown.start,
        durationMs: shown.duration,
        pattern: shown.pattern,
        intensity: shown.intensity,
        refused,
        changed,
        label:
          label === null
            ? null
            : { threshold: label.threshold, isCulprit: label.isCulprit, fromMs: label.from, toMs: label.to },
        missedDuring,
        endedDuring,
      };
    }),
    requests,
    timeline: seconds,
  };
}
