/**
 * How the documents change: what the plane posts, and what the stream sends on.
 * Owns: shapes only. Not here: the documents themselves (plane.ts), sending (server/stream-hub.ts).
 */
import type { FleetDocument } from "./fleet.ts";
import type { LoopDocument } from "./loop.ts";
import type {
  Account,
  AgentDocument,
  BudgetDocument,
  DecisionDocument,
  EventDocument,
  OverviewDocument,
  Sample,
  WorkloadDocument,
} from "./plane.ts";

/** What changes with every step is told with its samples. */
export type ToldWorkload = Omit<WorkloadDocument, "now" | "account" | "budget" | "twin">;

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
        readonly budget: BudgetDocument | null;
      }[];
    }
  | { readonly kind: "workload"; readonly workload: ToldWorkload }
  | { readonly kind: "agent"; readonly agent: AgentDocument }
  | { readonly kind: "decision"; readonly decision: Omit<DecisionDocument, "id"> }
  | { readonly kind: "event"; readonly event: Omit<EventDocument, "id"> }
  /** What only spans tell is different now: graph, suspects, paths, traces, requests. Whoever shows it asks for it. */
  | { readonly kind: "services"; readonly at: number }
  /** The newest of the fleet, whole. */
  | { readonly kind: "fleet"; readonly fleet: FleetDocument }
  /** For /metrics alone; whoever shows workloads passes over it. */
  | { readonly kind: "loop"; readonly loop: LoopDocument };

/** A PlaneUpdate as the stream sends it: what is listed has its id, and whoever shows the fleet asks for it. */
export type LiveUpdate =
  | Extract<PlaneUpdate, { readonly kind: "samples" | "workload" | "agent" | "services" }>
  | { readonly kind: "decision"; readonly decision: DecisionDocument }
  | { readonly kind: "event"; readonly event: EventDocument }
  | { readonly kind: "fleet"; readonly at: number };

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
