/**
 * A real serverless platform as the ports have it: OpenWhisk over its REST API. START READING HERE.
 * Owns: putting the parts together. Not run against a live deployment: docs/guide/openwhisk.md says what was tested and what not.
 */
import type { Actuator } from "../../act/index.ts";
import type { Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { ActivationSource } from "../../observe/telemetry/index.ts";
import { openWhiskActuator, readNamespaceLimits } from "./actuator.ts";
import { beginCall } from "./client.ts";
import { boundsOf, type OpenWhiskBounds } from "./limits.ts";
import { type OpenWhiskOptions, openWhiskTarget } from "./options.ts";
import { openWhiskRecords } from "./records.ts";

/** A knob of the functions task that this platform has not, and why. */
export interface FixedKnob {
  readonly knob: "shares" | "containers";
  readonly because: string;
}

export interface OpenWhisk {
  readonly actuator: Actuator;
  readonly records: ActivationSource;
  readonly fixedKnobs: readonly FixedKnob[];
  /** What the namespace allows; knobs that cannot be set have a step that can never be made. */
  bounds(signal: AbortSignal): Promise<Result<OpenWhiskBounds>>;
}

export function openWhisk(options: OpenWhiskOptions): Result<OpenWhisk> {
  const checked = openWhiskTarget(options);
  if (!checked.ok) return checked;
  const target = checked.value;
  const shares: FixedKnob = { knob: "shares", because: "OpenWhisk derives cpu.shares from an action's memory" };
  const containers: FixedKnob = {
    knob: "containers",
    because: "only the scheduler of OpenWhisk 2.0 heeds an action's limit of containers",
  };
  return ok({
    actuator: openWhiskActuator(target),
    records: openWhiskRecords(target),
    fixedKnobs: target.hasScheduler ? [shares] : [shares, containers],
    async bounds(signal) {
      const limits = await readNamespaceLimits(target, beginCall(target, signal));
      return limits.ok ? ok(boundsOf(limits.value, target)) : limits;
    },
  });
}
