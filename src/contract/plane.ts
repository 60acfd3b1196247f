/**
 * What the control plane tells the outside: the documents of the HTTP API, one type each. START READING HERE.
 * Owns: shapes only. Times are milliseconds since 1970 of the managed world, and several worlds may be managed at once, each
 * with its own clock (a simulated cluster's runs ahead of the wall). So a time is compared only with times of the same
 * workload: "now" of a workload, its agent, its decisions and its events is the time of its newest sample.
 * load is in requests per second, latency in milliseconds, money in dollars, and a knob in the unit that its workload names.
 * Not here: how they arrive one by one (updates.ts), the loop's own condition (loop.ts), answers of the API as such
 * (api.ts), schemas (schemas/), routes and their checks (server/routes).
 */

import type { Actor, Mode, Reason, Stage } from "../base/index.ts";
import type { SeriesColumn } from "./series.ts";
import type { SloDocument } from "./slo.ts";

/** One of the things that are set for a workload. Which there are is the task's to say. */
export interface KnobDocument {
  /** As settings, series and reasons have it: "cpu". */
  readonly name: string;
  /**
   * As a person reads it: "CPU per pod". What is " per pod" is that of one member, and the knob whose unit is "pods" says
   * how many there are.
   */
  readonly title: string;
  /** "millicores". */
  readonly unit: string;
}

/** By knob, in its unit. */
export interface SettingDocument {
  readonly [knob: string]: number;
}

/** By knob, in its unit, over all members; null where nobody measured. */
export interface UseDocument {
  readonly [knob: string]: number | null;
}

/** One control step of one workload, measured; null where a measurement is missing. */
export interface Sample {
  readonly at: number;
  readonly load: number | null;
  readonly latency: number | null;
  /** SLO preservation: 1 is met. */
  readonly preservation: number | null;
  /** The latency that the model behind the decision before expected for this step; null without such a model. */
  readonly expected: number | null;
  readonly ready: number;
  readonly have: SettingDocument;
  readonly use: UseDocument;
  readonly reward: number | null;
  /** What the step cost. */
  readonly cost: number;
}

/** Sums since the workload was first seen. */
export interface Account {
  readonly steps: number;
  readonly violations: number;
  readonly cost: number;
  /** What the task adds up besides. Where it has `cpuUsed` and `cpuGranted`, their ratio is the utilisation of `cpu`. */
  readonly sums: { readonly [name: string]: number };
}

/**
 * How many steps may miss the SLO, and how fast that is used up. Steps are those that accounts count; time of which nothing
 * is known counts as kept, so that the first miss of a young workload is not taken for the first of very few.
 */
export interface BudgetDocument {
  /** The share of steps that is to keep the SLO: of 0.99, one step in a hundred may miss it. */
  readonly attainment: number;
  /** The time over which it is to hold; misses from before it are forgotten. */
  readonly windowMs: number;
  /** Seen in the window, and how many of them missed the SLO. */
  readonly steps: number;
  readonly missed: number;
  /** Share of the budget that is left: 1 is all of it, below 0 it is overspent. */
  readonly left: number;
  /** How fast it is spent: at 1, all of it is spent in just the window. Over the last hour, and over the last six. */
  readonly burn: { readonly short: number; readonly long: number };
}

export interface Trouble {
  readonly since: number;
  /** For a person: "Misses its SLO since 06:57 (210 ms, promised 100 ms at p95)". */
  readonly what: string;
  /** As far as it is known, and what was done about it; in small letters and without a full stop. */
  readonly why: string;
}

/** The whole sentence. */
export const troubleText = ({ what, why }: Pick<Trouble, "what" | "why">): string => `${what}: ${why}.`;

/** The software that a workload runs. */
export interface ReleaseDocument {
  readonly version: string;
  readonly since: number;
  /** What it needs more than the first one did: "1.8 times the CPU per request"; null where that is nothing. */
  readonly needs: string | null;
}

export interface WorkloadDocument {
  readonly id: string;
  /** Which sort of problem it is: "pods", "mitigation". Workloads of one task are in one world. */
  readonly task: string;
  readonly title: string;
  readonly slo: SloDocument;
  /** What its preservation is about where it has no SLO of its own: "the SLOs of requests through it". Nobody can set one then. */
  readonly judgedBy: string | null;
  /** What its agent wants, for a person: "least cost within the error budget"; null where nobody says. */
  readonly objective: string | null;
  /** In the order in which they are shown. */
  readonly knobs: readonly KnobDocument[];
  /** Who manages it. */
  readonly agent: string;
  /** null where nobody says. */
  readonly release: ReleaseDocument | null;
  readonly now: Sample | null;
  readonly account: Account;
  /** null before the first step, and where it has no SLO of its own. */
  readonly budget: BudgetDocument | null;
  /** Who acts in the twin: its agent's fallback alone, or an autoscaler as people run it; null without a twin. */
  readonly twinRules: FallbackDocument | null;
  /** The same workload, same requests, under those rules alone; null where nothing simulates it. */
  readonly twin: { readonly now: Sample | null; readonly account: Account } | null;
  readonly trouble: Trouble | null;
  /** Those that a person may inject. */
  readonly faults: readonly FaultName[];
  /** Rises with every change of what a person can set; sent as ETag, asked for by If-Match. */
  readonly revision: number;
}

/** Columns over time, oldest first, thinned to what was asked for; null where nothing was measured. */
export interface SeriesDocument {
  readonly workload: string;
  readonly at: readonly number[];
  readonly columns: SeriesColumns;
  /** The twin's, at the same times; null without a twin. */
  readonly twin: SeriesColumns | null;
}

/** One more for every knob, `<knob>`, and one for every knob whose use is measured, `<knob>Use`. */
export interface SeriesColumns extends Readonly<Record<SeriesColumn, readonly (number | null)[]>> {
  readonly [column: string]: readonly (number | null)[];
}

export interface Judged {
  readonly gate: string;
  readonly holds: boolean;
  readonly found: number | null;
  readonly asked: number | null;
  readonly about: string;
}

/** One tick of an agent: who acted, what was wished, what was done, and why. */
export interface DecisionDocument {
  /** Rises; also the cursor of the list. */
  readonly id: number;
  readonly at: number;
  readonly workload: string;
  readonly agent: string;
  readonly stage: Stage;
  readonly who: Actor;
  /** First why this one acts, then what canary, shield and guard changed. */
  readonly why: readonly Reason[];
  readonly have: SettingDocument | null;
  /** The learner's wish before shield and guard, where it had one. */
  readonly proposed: SettingDocument | null;
  readonly executed: SettingDocument | null;
  /** What there would be by now if the fallback had been alone; null where nobody can tell. */
  readonly fallback: SettingDocument | null;
  /** Latency in milliseconds that a model expects under what was done; null without a model or another kind of SLO. */
  readonly expected: number | null;
  /** Said where the actuator failed. */
  readonly failure: string | null;
}

export interface StageChange {
  readonly at: number;
  readonly from: Stage;
  readonly to: Stage;
  readonly because: string;
  readonly evidence: readonly Judged[];
}

/** What a shared, pre-trained model makes of the workload that an agent manages. */
export interface FamiliarityDocument {
  /** "neutral": too little was seen of it yet; "stranger": no member of the pool is as near as members usually are. */
  readonly state: "neutral" | "known" | "stranger";
  /** One sentence for a person. */
  readonly why: string;
  /** Which model. */
  readonly model: string;
  /** Empty while it is neutral. */
  readonly embedding: readonly number[];
  /** Members of the pool, most alike first. */
  readonly kin: readonly { readonly name: string; readonly similarity: number }[];
}

/** Decisions in which the learner acted, and how many of them were really its own. */
export interface SteeringCounts {
  readonly decisions: number;
  /** What it proposed is what was done, in every knob. */
  readonly asProposed: number;
  /** What was done is less than the fallback alone would have: cheaper, or, without prices, less of a knob and more of none. */
  readonly less: number;
}

/** Of the newest decisions, at most a thousand. */
export interface SteeringDocument extends SteeringCounts {
  /** Of all, since it began. */
  readonly total: SteeringCounts;
}

/** Who acts while the learner does not. */
export interface FallbackDocument {
  /** As reasons have it in `by`: "hpa+vpa". */
  readonly name: string;
  /** As a person reads it: "HPA and VPA". */
  readonly title: string;
}

export interface AgentDocument {
  readonly id: string;
  readonly workload: string;
  readonly fallback: FallbackDocument;
  readonly stage: Stage;
  readonly since: number;
  readonly acting: Actor;
  readonly mode: Mode;
  /** A person has stopped it: the fallback acts, nothing is learned. */
  readonly isPaused: boolean;
  readonly history: readonly StageChange[];
  /** Newest episodes, oldest first. */
  readonly episodes: readonly {
    readonly episode: number;
    readonly reward: number;
    readonly violations: number;
    readonly stage: Stage;
  }[];
  /** In reward per episode; null where not known yet. */
  readonly thresholds: {
    readonly online: number | null;
    readonly serving: number | null;
    readonly fallback: number | null;
  };
  readonly estimate: {
    readonly at: number;
    readonly mean: number;
    readonly lower: number;
    readonly upper: number;
  } | null;
  /** What has to hold for the next stage, as judged last. */
  readonly gates: readonly Judged[];
  readonly canaryBand: number | null;
  /** Share of proposals that the guard changed lately. */
  readonly guardTripRate: number;
  readonly steering: SteeringDocument;
  readonly rollbacks: number;
  readonly updates: number;
  /** null where it began without a shared model. */
  readonly familiarity: FamiliarityDocument | null;
  readonly revision: number;
}

export const severities = ["info", "notice", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

export interface EventDocument {
  /** Rises; also the cursor of the list and the id of the stream. */
  readonly id: number;
  readonly at: number;
  readonly severity: Severity;
  readonly kind: string;
  readonly workload: string | null;
  readonly agent: string | null;
  readonly text: string;
  readonly evidence: unknown;
}

export interface TrajectoryDocument {
  readonly episode: string;
  readonly step: number;
  readonly obs: readonly number[];
  readonly proposed: readonly number[];
  readonly executed: readonly number[];
  readonly reward: number | null;
}

/** A world that is managed here. Each has its own clock, so there is no time that holds for all of them. */
export interface WorldDocument {
  readonly kind: string;
  /** Of the workloads in it. */
  readonly tasks: readonly string[];
  readonly startedAt: number;
  /** Times the wall's. */
  readonly speed: number;
  /** Its time: the newest at which something was measured there. */
  readonly at: number;
}

export interface OverviewDocument {
  /** The cluster's first. */
  readonly worlds: readonly WorldDocument[];
  /** Workloads come and go, and share machines: /v1/fleet tells of it. */
  readonly hasFleet: boolean;
  readonly version: string;
  readonly workloads: readonly WorkloadDocument[];
  readonly agents: readonly Pick<
    AgentDocument,
    "id" | "workload" | "stage" | "since" | "acting" | "mode" | "isPaused"
  >[];
}

/** What a person can ask for; every one is written to the audit log, refused or not. */
export type Command =
  | { readonly kind: "pause" | "resume" | "promote" | "roll-back"; readonly agent: string }
  | { readonly kind: "set-mode"; readonly agent: string; readonly mode: Mode }
  | { readonly kind: "set-slo"; readonly workload: string; readonly slo: SloDocument }
  | { readonly kind: "inject"; readonly workload: string; readonly fault: FaultName };

export const faults = ["telemetry-lost", "node-lost", "load-surge", "learner-crash", "slow-pods"] as const;
export type FaultName = (typeof faults)[number];
