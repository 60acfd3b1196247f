/** What the thread for spans and services and the main thread say to each other: plain data, so that it can be cloned. */
import type { Failure, Result } from "../../../base/index.ts";
import type { ServicesQuestion } from "../../../server/index.ts";

/** A door for spans: its port, and whether somebody chose it, who is to be told if it can not be had. */
export interface WantedDoor {
  readonly port: number;
  readonly isChosen: boolean;
}

export interface ServicesSettings {
  /** null: nothing is kept between runs. */
  readonly folder: string | null;
  /** null: no spans are taken from senders. */
  readonly otlp: {
    readonly host: string;
    /** null: that door stays closed. */
    readonly http: WantedDoor | null;
    readonly grpc: WantedDoor | null;
    /** With at least one, every sender must send one. */
    readonly tokens: readonly string[];
  } | null;
  /** The application that is simulated here; null for none. */
  readonly application: string | null;
  readonly seed: number;
}

export type ToServices =
  | { readonly kind: "ask"; readonly id: number; readonly question: ServicesQuestion }
  | { readonly kind: "stop" };

export type FromServices =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Result<Uint8Array<ArrayBuffer>> }
  | { readonly kind: "say"; readonly level: "info" | "warn" | "error"; readonly text: string }
  /** It could not begin, or broke; nothing follows. */
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "stopped" };
