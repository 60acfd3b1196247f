/**
 * What a run came to, workload by workload, beside the same workload under its fallback alone.
 * Owns: the figures and their table. Not here: the sums they are made of (a task's view).
 */
import type { Account, AgentDocument, KnobDocument, PlaneUpdate, StageName } from "../../contract/index.ts";
import { utilisationOf } from "../../contract/index.ts";
import { renderTable } from "../table.ts";

export interface Side {
  /** Share of steps in which the SLO was met. */
  readonly attainment: number | null;
  /** What was used of what was granted, by name. */
  readonly utilisation: { readonly [name: string]: number | null };
  readonly dollars: number;
}

export interface WorkloadSummary {
  readonly workload: string;
  readonly title: string;
  readonly knobs: readonly KnobDocument[];
  readonly stage: StageName;
  /** What its fallback is called. */
  readonly fallback: string;
  readonly steps: number;
  readonly managed: Side;
  readonly twin: Side;
  /** Cost less the twin's, as a share of the twin's. */
  readonly costDifference: number | null;
}

/** Listens to a plane and knows at any moment what it came to. */
export class Tally {
  readonly #workloads = new Map<string, Pick<WorkloadSummary, "title" | "knobs">>();
  readonly #agents = new Map<string, Pick<AgentDocument, "stage" | "fallback">>();
  readonly #accounts = new Map<string, { readonly managed: Account; readonly twin: Account }>();
  #at = 0;
  #hasFleet = false;

  take(updates: readonly PlaneUpdate[]): void {
    for (const update of updates) {
      if (update.kind === "workload") this.#workloads.set(update.workload.id, update.workload);
      if (update.kind === "agent") this.#agents.set(update.agent.workload, update.agent);
      if (update.kind === "fleet") this.#hasFleet = true;
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

  get hasFleet(): boolean {
    return this.#hasFleet;
  }

  summaries(): readonly WorkloadSummary[] {
    return [...this.#workloads].map(([workload, { title, knobs }]) => {
      const account = this.#accounts.get(workload);
      const managed = sideOf(account?.managed);
      const twin = sideOf(account?.twin);
      return {
        workload,
        title,
        knobs,
        stage: this.#agents.get(workload)?.stage ?? "INITIALIZED",
        fallback: this.#agents.get(workload)?.fallback.title ?? "the fallback",
        steps: account?.managed.steps ?? 0,
        managed,
        twin,
        costDifference: twin.dollars > 0 ? managed.dollars / twin.dollars - 1 : null,
      };
    });
  }
}

function sideOf(account: Account | undefined): Side {
  if (account === undefined) return { attainment: null, utilisation: {}, dollars: 0 };
  const { steps, violations, cost } = account;
  return {
    attainment: steps > 0 ? (steps - violations) / steps : null,
    utilisation: utilisationOf(account),
    dollars: cost,
  };
}

const figure = (share: number | null): string => (share === null ? "–" : (100 * share).toFixed(1));
/** With the agent, and under the fallback alone. */
const pair = (managed: number | null, twin: number | null): string => `${figure(managed)} / ${figure(twin)} %`;
const signed = (share: number | null): string =>
  share === null ? "–" : `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

/** The knob's title within a head, without its member: "CPU per pod" is "CPU", "Memory per pod" is "memory". */
function nameOf(name: string, knobs: readonly KnobDocument[]): string {
  const [title = name] = knobs.find((knob) => knob.name === name)?.title.split(" per ") ?? [];
  return /^[A-Z][a-z]/.test(title) ? `${title.charAt(0).toLowerCase()}${title.slice(1)}` : title;
}

export function summaryTable(summaries: readonly WorkloadSummary[], maxWidth?: number): string {
  const right = "right" as const;
  const used = [...new Set(summaries.flatMap(({ managed }) => Object.keys(managed.utilisation)))];
  const knobs = summaries.flatMap((summary) => summary.knobs);
  const table = renderTable(
    [
      { head: "workload" },
      { head: "stage" },
      { head: "SLO met", align: right },
      ...used.map((name) => ({ head: `${nameOf(name, knobs)} used`, align: right })),
      { head: "cost", align: right },
      { head: "against twin", align: right },
    ],
    summaries.map(({ title, stage, managed, twin, costDifference }) => [
      title,
      stage,
      pair(managed.attainment, twin.attainment),
      ...used.map((name) => pair(managed.utilisation[name] ?? null, twin.utilisation[name] ?? null)),
      `$${managed.dollars.toFixed(2)}`,
      signed(costDifference),
    ]),
    { maxWidth },
  );
  const fallbacks = [...new Set(summaries.map(({ fallback }) => fallback))].join(" or ");
  return `${table}\n\nwith the agent / under ${fallbacks} alone`;
}
