/**
 * What the control plane tells the outside: the documents of the HTTP API, one type each. START READING HERE.
 * Owns: shapes only. Times are milliseconds since 1970 of the managed world (a simulated one runs ahead of the wall),
 * CPU is in millicores, memory in bytes, load in requests per second, latency in milliseconds, money in dollars.
 * Not here: routes and their checks (routes/), where the values come from. It imports nothing, so that the dashboard can
 * take it without taking the server.
 */

export const stages = ["INITIALIZED", "OFFLINE", "ONLINE", "SERVING"] as const;
export type StageName = (typeof stages)[number];

export const modes = ["recommend", "canary", "act"] as const;
export type ModeName = (typeof modes)[number];

export type SloDocument =
  | { readonly kind: "latency"; readonly percentile: number; readonly target: number }
  | { readonly kind: "throughput"; readonly target: number }
  | { readonly kind: "none" };

export interface AllocationDocument {
  readonly replicas: number;
  readonly cpu: number;
  readonly memory: number;
}

/** One control step of one workload, measured; null where a measurement is missing. */
export interface Sample {
  readonly at: number;
  readonly load: number | null;
  readonly latency: number | null;
  /** SLO preservation: 1 is met. */
  readonly preservation: number | null;
  readonly ready: number;
  readonly have: AllocationDocument;
  readonly use: { readonly cpu: number | null; readonly memory: number | null };
  readonly reward: number | null;
  /** What the step cost. */
  readonly cost: number;
}

/** Sums since the workload was first seen. */
export interface Account {
  readonly steps: number;
  readonly violations: number;
  readonly cost: number;
  /** Used and granted, summed over steps: their ratio is the utilisation. */
  readonly cpuUsed: number;
  readonly cpuGranted: number;
  readonly memoryUsed: number;
  readonly memoryGranted: number;
}

export interface Trouble {
  readonly since: number;
  /** One sentence for a person: what, and why as far as it is known. */
  readonly what: string;
}

/** The software that a workload runs. */
export interface ReleaseDocument {
  readonly version: string;
  readonly since: number;
  /** What it needs more than the first one did: "1.8 times the CPU per request"; null where that is nothing. */
  readonly needs: string | null;
}

export interface WorkloadDocument {
  readonly id: string;
  readonly title: string;
  readonly slo: SloDocument;
  /** Who manages it. */
  readonly agent: string;
  /** null where nobody says. */
  readonly release: ReleaseDocument | null;
  readonly now: Sample | null;
  readonly account: Account;
  /** The same workload, same requests, under HPA and VPA alone; null where nothing simulates it. */
  readonly twin: { readonly now: Sample | null; readonly account: Account } | null;
  readonly trouble: Trouble | null;
  /** Rises with every change of what a person can set; sent as ETag, asked for by If-Match. */
  readonly revision: number;
}

/** Columns over time, oldest first, thinned to what was asked for; null where nothing was measured. */
export interface SeriesDocument {
  readonly workload: string;
  readonly at: readonly number[];
  readonly columns: { readonly [name in SeriesColumn]: readonly (number | null)[] };
  /** The twin's, at the same times; null without a twin. */
  readonly twin: { readonly [name in SeriesColumn]: readonly (number | null)[] } | null;
}

export const seriesColumns = [
  "load",
  "latency",
  "preservation",
  "replicas",
  "cpu",
  "memory",
  "cpuUse",
  "memoryUse",
  "reward",
  "cost",
] as const;
export type SeriesColumn = (typeof seriesColumns)[number];

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
  readonly stage: StageName;
  readonly who: "learner" | "fallback" | "nobody";
  readonly why: readonly string[];
  readonly have: AllocationDocument | null;
  /** The learner's wish before shield and guard, where it had one. */
  readonly proposed: AllocationDocument | null;
  readonly executed: AllocationDocument | null;
  /** Said where the actuator failed. */
  readonly failure: string | null;
}

export interface StageChange {
  readonly at: number;
  readonly from: StageName;
  readonly to: StageName;
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

export interface AgentDocument {
  readonly id: string;
  readonly workload: string;
  readonly stage: StageName;
  readonly since: number;
  readonly acting: "learner" | "fallback" | "nobody";
  readonly mode: ModeName;
  /** A person has stopped it: the fallback acts, nothing is learned. */
  readonly isPaused: boolean;
  readonly history: readonly StageChange[];
  /** Newest episodes, oldest first. */
  readonly episodes: readonly {
    readonly episode: number;
    readonly reward: number;
    readonly violations: number;
    readonly stage: StageName;
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

export interface OverviewDocument {
  readonly at: number;
  readonly world: {
    readonly kind: string;
    readonly startedAt: number /** Times the wall's speed. */;
    readonly speed: number;
  };
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
  | { readonly kind: "set-mode"; readonly agent: string; readonly mode: ModeName }
  | { readonly kind: "set-slo"; readonly workload: string; readonly slo: SloDocument }
  | { readonly kind: "inject"; readonly workload: string; readonly fault: FaultName };

export const faults = ["telemetry-lost", "node-lost", "load-surge", "learner-crash", "slow-pods"] as const;
export type FaultName = (typeof faults)[number];

/** A list in portions: `next` is the cursor of the following one, null at the end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** RFC 9457; `code` is one of docs/guide/failures.md. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
}

/** The control loop's own condition: sums since it started, and what is waiting now. For its operators; no route shows it. */
export interface LoopDocument {
  readonly turns: number;
  /** Turns that were due while an earlier one was not over, or while the process slept. */
  readonly skipped: number;
  readonly crashes: number;
  /** Calls to ports that were given up and have not returned. */
  readonly abandoned: number;
  readonly ports: {
    /** How often a port began to fail, or failed differently. */
    readonly failures: { readonly [port: string]: number };
    /** Agents for which it is failing now. */
    readonly failing: { readonly [port: string]: number };
  };
  readonly recorder: {
    readonly durable: number;
    readonly lost: number;
    readonly refused: number;
    readonly waiting: number;
    readonly reopened: number;
  };
  readonly events: {
    readonly delivered: number;
    readonly dropped: number;
    readonly lost: number;
    readonly waiting: number;
  };
  readonly training: {
    readonly underWay: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly turnedAway: number;
  } | null;
  /** Wall time of the decisions alone, and of whole turns. */
  readonly ticks: TimingsDocument;
  readonly wholeTurns: TimingsDocument;
  /** By how many seconds the loop's thread was late since the last of these, at worst. */
  readonly lag: number;
}

/** How many took at most so many seconds: one count per bound, each for itself, and one more for what took longer. */
export interface TimingsDocument {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** What flows from the control plane to whoever shows it. Plain data: it crosses threads and the stream alike. */
export type PlaneUpdate =
  | {
      readonly kind: "samples";
      readonly at: number;
      readonly samples: readonly {
        readonly workload: string;
        readonly sample: Sample;
        readonly twin: Sample | null;
        readonly account: Account;
        readonly twinAccount: Account | null;
      }[];
    }
  | { readonly kind: "workload"; readonly workload: Omit<WorkloadDocument, "now" | "account" | "twin"> }
  | { readonly kind: "agent"; readonly agent: AgentDocument }
  | { readonly kind: "decision"; readonly decision: Omit<DecisionDocument, "id"> }
  | { readonly kind: "event"; readonly event: Omit<EventDocument, "id"> }
  /** For /metrics alone; whoever shows workloads passes over it. */
  | { readonly kind: "loop"; readonly loop: LoopDocument };

/** A PlaneUpdate as the stream sends it: what is listed has its id. */
export type LiveUpdate =
  | Extract<PlaneUpdate, { readonly kind: "samples" | "workload" | "agent" }>
  | { readonly kind: "decision"; readonly decision: DecisionDocument }
  | { readonly kind: "event"; readonly event: EventDocument };

/**
 * What GET /v1/stream sends, as JSON in `data:`, under the name in `event:`. `snapshot` comes first and again after a gap;
 * `updates` follow. A client that reads too slowly loses updates, is told how many samples (`lagged`), and gets a new
 * snapshot; what is missing of the series can be read from /v1/workloads/{id}/series.
 */
export interface StreamMessages {
  readonly snapshot: {
    readonly overview: OverviewDocument;
    readonly agents: readonly AgentDocument[];
    /** The newest, newest first. */
    readonly events: readonly EventDocument[];
  };
  readonly updates: readonly LiveUpdate[];
  readonly lagged: { readonly samples: number };
}

/** The whole, in figures: /v1/metrics. What is null has no data yet. */
export interface MetricsDocument {
  readonly at: number;
  readonly workloads: number;
  readonly inTrouble: number;
  readonly agentsByStage: { readonly [stage in StageName]: number };
  readonly agentsPaused: number;
  readonly learned: MetricsSide;
  /** Over the workloads that have a twin. */
  readonly twin: MetricsSide;
  readonly server: {
    readonly streams: number;
    /** Samples that slow readers of the stream did not get, since the start. */
    readonly samplesDropped: number;
    readonly updatesRefused: number;
  };
}

export interface MetricsSide {
  readonly steps: number;
  /** Share of steps within the SLO. */
  readonly attainment: number | null;
  readonly cpuUtilisation: number | null;
  readonly memoryUtilisation: number | null;
  readonly cost: number;
}

/** One line of /v1/studies; the whole is at /v1/studies/{id}, its figures at /v1/studies/{id}/figures/{name}. */
export interface StudySummary {
  readonly id: string;
  readonly title: string;
  readonly quick: boolean;
  readonly version: string;
  readonly seeds: number;
  readonly claims: number;
  readonly claimsHeld: number;
  readonly figures: readonly string[];
}

/** The answer to every command that was carried out. */
export interface CommandDone {
  /** Of the agent or workload, after it. */
  readonly revision: number;
}
