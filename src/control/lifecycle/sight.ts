/**
 * What an agent makes of what it is shown: usable or not, and why not.
 * Owns: telling a vanished workload, a jumped clock, stale and unusable telemetry apart. Pure.
 * Not here: what follows (health.ts), the encoding itself (the task's).
 */
import type { GuardLimits, GuardState, Setting } from "../../act/index.ts";
import { reachOf } from "../../act/index.ts";
import type { Failure, Ms, Result } from "../../base/index.ts";
import type { Seen, Task, TaskReading } from "../index.ts";
import type { Health } from "./health.ts";
import type { TickInput } from "./tick.ts";

export interface Sight<R, S, O> {
  /** Only where it is fresh: nobody decides on an old one. */
  readonly reading: R | null;
  readonly have: S | null;
  readonly observation: O | null;
  readonly health: Pick<Health, "workload" | "allocation" | "clock" | "telemetry" | "model">;
  /** For people: the sentence behind the first thing that is wrong. */
  readonly detail: string;
}

export interface SightContext<R extends TaskReading, S extends Setting, O extends Seen> {
  readonly task: Task<R, S, O>;
  readonly memory: unknown;
  readonly limits: Pick<GuardLimits, "knobs" | "maxDataAge">;
  readonly guard: GuardState;
  /** Time of the tick before; null at the first. */
  readonly before: Ms | null;
}

/** Steps that may be missed (a busy machine, a restart of the loop) before it counts as a jump of the clock. */
const MISSED_STEPS = 4;

export function look<R extends TaskReading, S extends Setting, O extends Seen>(
  { reading, have, now, health }: TickInput<R, S>,
  context: SightContext<R, S, O>,
): Sight<R, S, O> {
  const { task, memory, limits, before } = context;
  const maxAge = limits.maxDataAge;
  const isGone = isUnknown(reading) || isUnknown(have);
  const jump = health?.clockJump ?? jumpOf(now, before, task.controlStep);
  const state = telemetryState(reading, { now, maxAge });
  const fresh = state.telemetry === "fresh" && reading.ok ? reading.value : null;
  const usable =
    have.ok && limits.knobs.every(({ name }) => Number.isFinite((have.value as Setting)[name])) ? have.value : null;
  const encoded =
    fresh &&
    task.encode(
      fresh,
      usable === null
        ? { memory, now }
        : { memory, now, reach: reachOf({ limits, state: context.guard, have: usable, now }) },
    );
  const telemetry = encoded && !encoded.ok ? "unusable" : state.telemetry;
  const isReady = !encoded?.ok || (task.isReady?.(encoded.value) ?? true);
  return {
    reading: isGone ? null : fresh,
    have: usable,
    observation: encoded?.ok && !isGone ? encoded.value : null,
    health: {
      workload: isGone ? "vanished" : "present",
      allocation: usable === null ? "unknown" : "known",
      clock: jump === undefined ? "steady" : "jumped",
      telemetry,
      model: isReady ? "ready" : "learning",
    },
    detail: isGone
      ? "the workload is not there any more"
      : (!have.ok && have.failure.message) ||
        (jump !== undefined && `the clock moved by ${jump} ms since the step before`) ||
        state.detail ||
        (encoded && !encoded.ok && encoded.failure.message) ||
        (isReady ? "" : "too little was seen of the workload to say what it needs"),
  };
}

const isUnknown = (result: Result<unknown>): boolean => !result.ok && result.failure.code.endsWith(".unknown-workload");

/** How far the clock went, where that is not a step or a few. A clock that says NaN has jumped too. */
function jumpOf(now: Ms, before: Ms | null, step: Ms): number | undefined {
  if (before === null) return Number.isFinite(now) ? undefined : now;
  const passed = now - before;
  return passed > 0 && passed <= (MISSED_STEPS + 1) * step ? undefined : passed;
}

function telemetryState(
  reading: Result<TaskReading>,
  { now, maxAge }: { readonly now: Ms; readonly maxAge: Ms },
): { readonly telemetry: Health["telemetry"]; readonly detail: string } {
  if (!reading.ok) return { telemetry: stateOf(reading.failure), detail: reading.failure.message };
  const age = now - reading.value.at;
  if (age <= maxAge) return { telemetry: "fresh", detail: "" };
  return { telemetry: "stale", detail: `the newest measurement is ${Math.round(age / 1000)} s old` };
}

/** What was sent and makes no sense is unusable; what was not sent in time is stale. */
const stateOf = ({ code }: Failure): Health["telemetry"] =>
  code === "telemetry.malformed" || code === "telemetry.not-a-measure" ? "unusable" : "stale";
