/**
 * One injected anomaly: what, where, when, how strong.
 * Owns: targets, patterns, and the intensity at a moment.
 * Not here: what an intensity does to a world (sim/microservices, later the live testbed), whether it may be done (fault-guard.ts).
 *
 * Intensity is a function of time and zero outside of its span, so an injection ends by itself: nobody has to call it off.
 */
import type { FaultKind, Ms } from "../../base/index.ts";
import { assertNever } from "../../base/index.ts";

export type FaultTarget =
  /** Beside the service, inside its container, within the container's limits. */
  | { readonly on: "instance"; readonly service: string /** From 0. */; readonly replica: number }
  /** Another tenant of the node, with no limits of its own. */
  | { readonly on: "node"; readonly node: string }
  /** The clients: a request type, or all of them. */
  | { readonly on: "requests"; readonly request: string | "all" };

/** Constant; rising from nothing to its intensity; on and off by turns of one second each. */
export const faultPatterns = ["constant", "ramp", "pulse"] as const;
export type FaultPattern = (typeof faultPatterns)[number];
export const PULSE_HALF: Ms = 1_000 as Ms;

export interface Injection {
  readonly id: string;
  readonly kind: FaultKind;
  readonly target: FaultTarget;
  readonly start: Ms;
  readonly duration: Ms;
  readonly pattern: FaultPattern;
  /** From 0, nothing, to 1, all that the injector can do. */
  readonly intensity: number;
}

export const endOf = ({ start, duration }: Injection): Ms => (start + duration) as Ms;

export function intensityAt(injection: Injection, at: number): number {
  const since = at - injection.start;
  if (!(since >= 0 && since < injection.duration)) return 0;
  switch (injection.pattern) {
    case "constant":
      return injection.intensity;
    case "ramp":
      return (injection.intensity * since) / injection.duration;
    case "pulse":
      return Math.floor(since / PULSE_HALF) % 2 === 0 ? injection.intensity : 0;
    default:
      return assertNever(injection.pattern);
  }
}

/** Load comes from clients; everything else is done to a container or a node. */
export const kindFits = (kind: FaultKind, { on }: FaultTarget): boolean =>
  (kind === "workload-variation") === (on === "requests");

/** text-service-0, node x86-1, requests compose-post. */
export function targetName(target: FaultTarget): string {
  switch (target.on) {
    case "instance":
      return `${target.service}-${target.replica}`;
    case "node":
      return `node ${target.node}`;
    case "requests":
      return target.request === "all" ? "all requests" : `requests ${target.request}`;
    default:
      return assertNever(target);
  }
}
