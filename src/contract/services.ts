/**
 * What is known of services from their spans, as the API gives it: who calls whom, critical paths, who is to blame, limits,
 * and the anomalies that a person lets happen.
 * Not here: the documents of the control plane (plane.ts), schemas (schemas/), routes.
 * Times are milliseconds since 1970 by the wall's clock, which is the spans' as well.
 */
import type { FaultKind, Resource } from "../base/index.ts";

/** Where spans are taken from senders; null where nothing listens. */
export interface SpanListeners {
  readonly http: string | null;
  readonly grpc: string | null;
  /** Why one is closed that was to be open. */
  readonly problems: readonly string[];
}

export interface SpanCounts {
  readonly requests: number;
  readonly spans: number;
  /** Requests that were refused, by the failure's code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Spans that could not be used, by the reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Spans that wait for the rest of their trace. */
  readonly waiting: number;
  readonly storedTraces: number;
  readonly storedSpans: number;
}

/** One type of request at the ingress of the simulated application. */
export interface ServiceRequests {
  readonly request: string;
  readonly sloMs: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Per second. */
  readonly offered: number;
  readonly completed: number;
  readonly failed: number;
  /** Of the same requests, with the same anomalies, in a twin that Kubernetes autoscaling alone looks after. */
  readonly twinP99Ms: number | null;
}

/** An anomaly that a person let happen. */
export interface AnomalyDocument {
  readonly id: string;
  readonly kind: FaultKind;
  /** `geo-0`, `node x86-0`, `requests search-hotels`, `all requests`. */
  readonly target: string;
  readonly intensity: number;
  readonly from: number;
  readonly until: number;
}

/** Nobody acts on the services, or whoever is in charge does. */
export const actingModes = ["observe", "act"] as const;
export type ActingMode = (typeof actingModes)[number];

export interface RemedyChange {
  readonly what: Resource | "replicas";
  readonly from: number;
  readonly to: number;
}

/** What was done about a broken SLO to one container, or to the replicas of a service. */
export interface RemedyDocument {
  readonly id: string;
  readonly service: string;
  /** null: its replicas. */
  readonly instance: string | null;
  /** Types of requests whose SLO was broken when it began. */
  readonly requests: readonly string[];
  readonly by: "learner" | "fallback";
  /** false: nobody was to act, and this is what would have been done. */
  readonly isDone: boolean;
  /** The first and the last decision. */
  readonly from: number;
  readonly until: number;
  /** From what it was before the first decision to what it is since the last. */
  readonly changes: readonly RemedyChange[];
  readonly why: string;
  /** Since when every type of request keeps its SLO again; null while one does not. */
  readonly endedAt: number | null;
  /** Per request, as it was expected and as it was measured ten seconds later; null where that is not known. */
  readonly saving: { readonly expectedMs: number; readonly measuredMs: number } | null;
}

/** Who changes limits and replicas of the simulated application. Of other spans' services nobody can. */
export interface ActingDocument {
  readonly mode: ActingMode;
  /** When a person chose the mode; null where nobody has. */
  readonly since: number | null;
  /** Why the services have no agents yet, so that their fallback acts alone; null where they have. */
  readonly waitsFor: string | null;
  /** Newest first. */
  readonly remedies: readonly RemedyDocument[];
  /** Limits that were fitted to what is used while nobody was harmed. */
  readonly fitted: number;
}

export interface AnomalyTargets {
  readonly instances: readonly string[];
  readonly nodes: readonly string[];
  readonly requests: readonly string[];
}

/** /v1/services */
export interface ServicesDocument {
  readonly at: number;
  readonly listeners: SpanListeners;
  readonly counts: SpanCounts;
  /** The application that is simulated here and sends its spans like any other; null where there is none. */
  readonly simulated: {
    readonly application: string;
    readonly requests: readonly ServiceRequests[];
    readonly targets: AnomalyTargets;
    /** In force now. */
    readonly anomalies: readonly AnomalyDocument[];
    readonly acting: ActingDocument;
  } | null;
}

/** A type of request with an SLO at its 99th percentile: of the simulated application, or one that a user has set. */
export interface RequestDocument {
  /** The operation of the root span. */
  readonly request: string;
  readonly sloMs: number;
  /** Whether the configuration or a person has set the SLO; else it is the simulated application's own. */
  readonly isOwn: boolean;
  /** Over the last ten seconds; null where none was answered. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly perSecond: number;
  /** Whether the SLO is broken now, by the spans of the last seconds. */
  readonly isBroken: boolean;
}

/** A service, or an instance of one. */
export interface GraphVertex {
  readonly name: string;
  /** Calls that came to it from others. */
  readonly calls: number;
  readonly errors: number;
  /** How long it alone held up a request, per request that was looked at. */
  readonly criticalMs: number;
  /** Of the requests, those that had it on their critical path; 0 to 1. */
  readonly criticalShare: number;
  /** How likely it is to blame, 0 to 1: the score of its likeliest instance. */
  readonly blame: number;
}

export interface GraphEdge {
  readonly caller: string;
  readonly callee: string;
  readonly calls: number;
  readonly errors: number;
  readonly meanMs: number;
  readonly p99Ms: number;
  /** Calls that were on their request's critical path. */
  readonly criticalCalls: number;
}

/** /v1/services/graph */
export interface ServiceGraphDocument {
  readonly from: number;
  readonly to: number;
  readonly of: "services" | "instances";
  readonly vertices: readonly GraphVertex[];
  readonly edges: readonly GraphEdge[];
}

/** Who may be to blame, likeliest first; see docs/guide/localizing.md. */
export interface SuspectDocument {
  readonly instance: string;
  readonly service: string;
  readonly request: string;
  readonly isBackground: boolean;
  readonly resource: Resource;
  readonly score: number;
  readonly isCulprit: boolean;
  readonly relativeImportance: number;
  readonly congestionIntensity: number;
  readonly expectedSavingMs: number;
  readonly reason: string;
}

/** /v1/services/suspects */
export interface SuspectsDocument {
  /** The moment that it is about: traces are complete some seconds after their requests. */
  readonly at: number;
  /** Whether scores are learned from labels; else they are only an order. */
  readonly isTrained: boolean;
  readonly items: readonly SuspectDocument[];
}

export type ResourceAmounts = Readonly<Record<Resource, number>>;

/** A container of the simulated application, as telemetry has it. */
export interface InstanceDocument {
  readonly instance: string;
  readonly service: string;
  readonly node: string;
  readonly isReady: boolean;
  /** Cores, MB/s of memory bandwidth, MiB of cache, MB/s of disk, MB/s of network. */
  readonly limits: ResourceAmounts;
  readonly lower: ResourceAmounts;
  readonly upper: ResourceAmounts;
  /** Over the limit, 0 to 1; null where the sample is missing. */
  readonly use: ResourceAmounts | null;
}

export interface PathShare {
  /** `frontend/search > search/search > geo/search`. */
  readonly signature: string;
  readonly count: number;
  readonly meanMs: number;
}

/** /v1/services/paths: per window of time, which critical paths the requests of a type took. */
export interface PathsDocument {
  readonly request: string | null;
  /** All request types that were seen, most frequent first. */
  readonly requests: readonly string[];
  readonly windowMs: number;
  /** Oldest first. */
  readonly windows: readonly {
    readonly from: number;
    readonly requests: number;
    readonly meanMs: number | null;
    readonly paths: readonly PathShare[];
    /** Requests whose path is not kept apart. */
    readonly others: number;
  }[];
  /** Since the start: where the time of each path goes. */
  readonly paths: readonly {
    readonly signature: string;
    readonly count: number;
    readonly meanMs: number;
    readonly steps: readonly { readonly service: string; readonly operation: string; readonly exclusiveMs: number }[];
  }[];
}

export interface TraceSummaryDocument {
  readonly id: string;
  readonly service: string;
  readonly operation: string;
  readonly at: number;
  readonly durationMs: number;
  readonly spans: number;
  readonly errors: number;
  /** settled, rootless, pressure or flush: why it was taken as complete. */
  readonly sealedBy: string;
}

export interface TraceSpanDocument {
  readonly id: string;
  /** Its parent's place in the list; null for the root. */
  readonly parent: number | null;
  readonly service: string;
  readonly instance: string;
  readonly operation: string;
  readonly kind: string;
  readonly status: string;
  /** From the beginning of the trace. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How long it alone held up the request; null where it is not on the critical path. */
  readonly criticalMs: number | null;
}

/** /v1/traces/{id} */
export interface TraceDocument extends TraceSummaryDocument {
  /** The root first, every parent before its children. At most the first thousand. */
  readonly tree: readonly TraceSpanDocument[];
  /** The critical path: at every moment the one span that everybody waited for, by its place in the tree. */
  readonly path: readonly { readonly span: number; readonly fromMs: number; readonly toMs: number }[];
}

/** What a person asks for; the guard of anomalies may clamp or refuse it. */
export interface AnomalyWish {
  readonly kind: FaultKind;
  /** One of `AnomalyTargets`, of the sort that the kind needs. */
  readonly target: { readonly on: "instance" | "node" | "requests"; readonly name: string };
  readonly intensity: number;
  readonly seconds: number;
}

export type AnomalyCommand =
  | { readonly kind: "inject-anomaly"; readonly anomaly: AnomalyWish }
  | { readonly kind: "stop-anomaly"; readonly id: string };

export type ServicesCommand =
  | AnomalyCommand
  | { readonly kind: "set-acting"; readonly mode: ActingMode }
  /** null: the request type has no SLO of its own any more. */
  | { readonly kind: "set-request-slo"; readonly request: string; readonly sloMs: number | null };

export interface RequestSloDone {
  readonly request: string;
  readonly sloMs: number | null;
}

export interface ActingDone {
  readonly mode: ActingMode;
  readonly since: number;
}

export interface AnomalyDone {
  readonly anomaly: AnomalyDocument;
  /** What the guard made less of, in words; empty where it is as it was asked for. */
  readonly changed: readonly string[];
}
