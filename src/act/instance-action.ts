/**
 * What can be done to the services of an application: the five limits of one container, or how many containers there are.
 * Owns: the ServiceAction union and what a controller says with it.
 * Not here: whether it may be done (instance-guard.ts), whole workloads with CPU and memory only (action.ts).
 */
import type { Limits, Ms } from "../base/index.ts";

export type ServiceAction =
  | { readonly kind: "hold" }
  /** Limits that are left out stay as they are. */
  | { readonly kind: "set-limits"; readonly instance: string; readonly limits: Partial<Limits> }
  | { readonly kind: "scale-service"; readonly service: string; readonly replicas: number };

export interface ServiceProposal {
  readonly action: ServiceAction;
  /** When the newest measurement was taken that the decision rests on. */
  readonly measuredAt: Ms;
  /** One sentence for people: what was seen, what this is to do. */
  readonly why: string;
}
