/**
 * What the server needs from whoever takes spans and knows services.
 * Owns: the port. Not here: who implements it (cli/up/services, on a thread of its own), the documents
 * (services.ts).
 *
 * Answers come as JSON that is encoded already: a trace may have a thousand spans, and the thread that answers people is
 * not to be kept from the next one by writing them out.
 */
import type { Result } from "../base/index.ts";
import type { ServicesCommand } from "./services.ts";

export type ServicesQuestion =
  | { readonly kind: "services" }
  | { readonly kind: "graph"; readonly from?: number; readonly to?: number; readonly of: "services" | "instances" }
  | { readonly kind: "suspects"; readonly limit: number }
  | { readonly kind: "instances" }
  | { readonly kind: "requests" }
  | { readonly kind: "paths"; readonly request?: string }
  | {
      readonly kind: "traces";
      readonly service?: string;
      readonly operation?: string;
      readonly from?: number;
      readonly to?: number;
      readonly leastMs?: number;
      readonly order: "newest" | "slowest";
      readonly limit: number;
    }
  | { readonly kind: "trace"; readonly id: string }
  | ServicesCommand;

export interface ServicesPlane {
  ask(question: ServicesQuestion): Promise<Result<Uint8Array<ArrayBuffer>>>;
}
