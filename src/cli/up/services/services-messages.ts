/** What the thread for spans and services and the main thread say to each other: plain data, so that it can be cloned. */
import type { Failure, Result } from "../../../base/index.ts";
import type { Command, ManagedWorld, PlaneUpdate, Readiness, ServicesQuestion } from "../../../contract/index.ts";
import type { CommandAnswer, TrajectoryPage, TrajectoryQuery } from "../../../plane/index.ts";

/** A listener for spans: its port, and whether somebody chose it, who is to be told if it cannot be had. */
export interface WantedListener {
  readonly port: number;
  readonly isChosen: boolean;
}

export interface ServicesSettings {
  /** null: nothing is kept between runs. */
  readonly folder: string | null;
  /** null: no spans are taken from senders. */
  readonly otlp: {
    readonly host: string;
    /** null: that listener stays closed. */
    readonly http: WantedListener | null;
    readonly grpc: WantedListener | null;
    /** With at least one, every sender must send one. */
    readonly tokens: readonly string[];
  } | null;
  /** The application that is simulated here; null for none. */
  readonly application: string | null;
  readonly seed: number;
  /** SLOs of request types from the configuration, in milliseconds. */
  readonly requests: Readonly<Record<string, number>>;
}

export type ToServices =
  | { readonly kind: "ask"; readonly id: number; readonly question: ServicesQuestion }
  | { readonly kind: "command"; readonly id: number; readonly command: Command; readonly revision: number | null }
  | { readonly kind: "trajectories"; readonly id: number; readonly query: TrajectoryQuery }
  | { readonly kind: "stop" };

export type FromServices =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Result<Uint8Array<ArrayBuffer>> }
  | { readonly kind: "done"; readonly id: number; readonly answer: Result<CommandAnswer | TrajectoryPage> }
  /** The services are managed from now on; `past` is what was told of them before a restart, oldest first. */
  | { readonly kind: "managed"; readonly world: ManagedWorld; readonly past: readonly PlaneUpdate[] }
  | { readonly kind: "updates"; readonly updates: readonly PlaneUpdate[] }
  /** Whenever it is another than before; the first one comes before `ready`. */
  | { readonly kind: "readiness"; readonly readiness: Readiness }
  | { readonly kind: "say"; readonly level: "info" | "warn" | "error"; readonly text: string }
  /** It could not begin, or broke; nothing follows. */
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "stopped" };
