/**
 * A fallback alone, as the loop drives an agent: what a workload would have without any learning.
 * Owns: the fallback's state across ticks and restarts. Not here: its rules (control/fallbacks), the guard (act).
 */
import type { GuardLimits, GuardState, Setting } from "../../act/index.ts";
import { freshGuardState, guard } from "../../act/index.ts";
import type { WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Fallback, Seen, Task, TaskReading } from "../index.ts";
import type { AgentTick, LoopAgent } from "./ports.ts";

export interface FallbackAgentOptions<R extends TaskReading, S extends Setting, O extends Seen, F> {
  readonly workload: WorkloadId;
  readonly task: Pick<Task<R, S, O>, "parse">;
  readonly fallback: Fallback<F, R, S>;
  readonly limits: GuardLimits;
}

const SCHEMA = 2;

/** The stage that it is always in. */
export const FALLBACK_ALONE = "FALLBACK";

export function fallbackAgent<R extends TaskReading, S extends Setting, O extends Seen, F>({
  workload,
  task,
  fallback,
  limits,
}: FallbackAgentOptions<R, S, O, F>): LoopAgent {
  let state = fallback.start();
  let guarded: GuardState = freshGuardState;
  let before = guarded;
  const quiet = { stage: FALLBACK_ALONE, who: "fallback", events: [] } as const;
  const hold = (rule: string): AgentTick => ({
    ...quiet,
    why: [{ by: fallback.name, rule }],
    action: { kind: "hold", workload },
  });
  return {
    parse: (arrived) => task.parse(arrived),
    tick: ({ reading, have, nodes, now }) => {
      if (!reading.ok) return hold(reading.failure.code);
      const { want, followers, state: after } = fallback.step(state, reading.value as R, now);
      state = after;
      if (!have.ok) return hold(have.failure.code);
      const measuredAt = reading.value.at;
      const verdict = guard<Setting>(
        followers === undefined ? { workload, want, measuredAt } : { workload, want, measuredAt, followers },
        { limits, state: guarded, have: have.value, nodes, now },
      );
      before = guarded;
      guarded = verdict.state;
      return { ...quiet, why: [{ by: fallback.name, rule: "alone" }], action: verdict.action };
    },
    acted: (outcome) => {
      if (!outcome.ok) guarded = before;
      return {};
    },
    training: () => undefined,
    adopt: () => ok(undefined),
    save: () =>
      new TextEncoder().encode(JSON.stringify({ schema: SCHEMA, workload, name: fallback.name, state, guarded })),
    load: (bytes) => {
      const saved = parsed(bytes);
      if (saved?.schema !== SCHEMA || saved.workload !== workload || saved.name !== fallback.name)
        return err(failure("loop.fallback-state", `the saved fallback of ${workload} cannot be used; it begins again`));
      state = saved.state as F;
      guarded = saved.guarded as GuardState;
      before = guarded;
      return ok(undefined);
    },
    dispose: () => undefined,
  };
}

interface Saved {
  readonly schema?: unknown;
  readonly workload?: unknown;
  readonly name?: unknown;
  readonly state?: unknown;
  readonly guarded?: unknown;
}

function parsed(bytes: Uint8Array): Saved | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
