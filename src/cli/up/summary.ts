/**
 * What a run came to, workload by workload, beside the same workload under HPA and VPA alone.
 * Owns: the figures and their table. Not here: the sums they are made of (measure.ts).
 */
import type { Account, PlaneUpdate, StageName } from "../../server/index.ts";
import { renderTable } from "../table.ts";

export interface Side {
  /** Share of steps in which the SLO was met. */
  readonly attainment: number | null;
  readonly cpuUtilisation: number | null;
  readonly memoryUtilisation: number | null;
  readonly dollars: number;
}

export interface WorkloadSummary {
  readonly workload: string;
  readonly title: string;
  readonly stage: StageName;
  readonly steps: number;
  readonly managed: Side;
  readonly twin: Side;
  /** Cost less the twin's, as a share of the twin's. */
  readonly costDifference: number | null;
}

/** Listens to a plane and knows at any moment what it came to. */
export class Tally {
  readonly #titles = new Map<string, string>();
  readonly #stages = new Map<string, StageName>();
  readonly #accounts = new Map<string, { readonly managed: Account; readonly twin: Account }>();
  #at = 0;

  take(updates: readonly PlaneUpdate[]): void {
    for (const update of updates) {
      if (update.kind === "workload") this.#titles.set(update.workload.id, update.workload.title);
      if (update.kind === "agent") this.#stages.set(update.agent.workload, update.agent.stage);
      if (update.kind !== "samples") continue;
      this.#at = update.at;
      for (const { workload, account, twinAccount } of update.samples)
        if (twinAccount !== null) this.#accounts.set(workload, { managed: account, twin: twinAccount });
    }
  }

  /** World time of the newest sample; 0 before the first. */
  get at(): number {
    return this.#at;
  }

  summaries(): readonly WorkloadSummary[] {
    return [...this.#titles].map(([workload, title]) => {
      const account = this.#accounts.get(workload);
      const managed = sideOf(account?.managed);
      const twin = sideOf(account?.twin);
      return {
        workload,
        title,
        stage: this.#stages.get(workload) ?? "INITIALIZED",
        steps: account?.managed.steps ?? 0,
        managed,
        twin,
        costDifference: twin.dollars > 0 ? managed.dollars / twin.dollars - 1 : null,
      };
    });
  }
}

const ratioOf = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

function sideOf(account: Account | undefined): Side {
  if (account === undefined) return { attainment: null, cpuUtilisation: null, memoryUtilisation: null, dollars: 0 };
  const { steps, violations, cpuUsed, cpuGranted, memoryUsed, memoryGranted, cost } = account;
  return {
    attainment: ratioOf(steps - violations, steps),
    cpuUtilisation: ratioOf(cpuUsed, cpuGranted),
    memoryUtilisation: ratioOf(memoryUsed, memoryGranted),
    dollars: cost,
  };
}

const figure = (share: number | null): string => (share === null ? "–" : (100 * share).toFixed(1));
/** With the agent, and under HPA and VPA alone. */
const pair = (managed: number | null, twin: number | null): string => `${figure(managed)} / ${figure(twin)} %`;
const signed = (share: number | null): string =>
  share === null ? "–" : `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

export function summaryTable(summaries: readonly WorkloadSummary[], maxWidth?: number): string {
  const right = "right" as const;
  const table = renderTable(
    [
      { head: "workload" },
      { head: "stage" },
      { head: "SLO met", align: right },
      { head: "CPU used", align: right },
      { head: "memory used", align: right },
      { head: "cost", align: right },
      { head: "against HPA+VPA", align: right },
    ],
    summaries.map(({ title, stage, managed, twin, costDifference }) => [
      title,
      stage,
      pair(managed.attainment, twin.attainment),
      pair(managed.cpuUtilisation, twin.cpuUtilisation),
      pair(managed.memoryUtilisation, twin.memoryUtilisation),
      `$${managed.dollars.toFixed(2)}`,
      signed(costDifference),
    ]),
    { maxWidth },
  );
  return `${table}\n\nwith the agent / under HPA and VPA alone`;
}
