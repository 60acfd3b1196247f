/**
 * HPA and VPA alone, as the loop drives an agent: what the workload would have without any learning.
 * Owns: the rules' state across ticks and restarts. Not here: the rules (control/fallbacks), the guard (act).
 */
import type { GuardLimits, GuardState } from "../../act/index.ts";
import { freshGuardState, guard } from "../../act/index.ts";
import type { WorkloadId } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Fallback, FallbackStart } from "../../control/fallbacks/index.ts";
import type { AgentTick, LoopAgent } from "../../control/loop/index.ts";

export interface RulesSeatOptions<S> {
  readonly workload: WorkloadId;
  readonly fallback: Fallback<S>;
  readonly start: FallbackStart;
  readonly limits: GuardLimits;
}

const SCHEMA = 1;

export function rulesSeat<S>({ workload, fallback, start, limits }: RulesSeatOptions<S>): LoopAgent {
  let state = fallback.start(start);
  let guarded: GuardState = freshGuardState;
  let before = guarded;
  const quiet = { stage: "RULES", who: "fallback", events: [] } as const;
  const hold = (why: string): AgentTick => ({ ...quiet, why: [why], action: { kind: "hold", workload } });
  return {
    tick: ({ reading, have, nodes, now }) => {
      if (!reading.ok) return hold(reading.failure.message);
      const step = fallback.step(state, reading.value, now);
      state = step.state;
      if (!have.ok) return hold(have.failure.message);
      const proposal = { workload, want: step.want, measuredAt: reading.value.at };
      const verdict = guard(step.pods === undefined ? proposal : { ...proposal, pods: step.pods }, {
        limits,
        state: guarded,
        have: have.value,
        nodes,
        now,
      });
      before = guarded;
      guarded = verdict.state;
      return { ...quiet, why: ["rules alone"], action: verdict.action };
    },
    acted: (outcome) => {
      if (!outcome.ok) guarded = before;
      return {};
    },
    training: () => undefined,
    adopt: () => ok(undefined),
    save: () => new TextEncoder().encode(JSON.stringify({ schema: SCHEMA, workload, state, guarded })),
    load: (bytes) => {
      const saved = parsed(bytes);
      if (saved?.schema !== SCHEMA || saved.workload !== workload)
        return err(failure("plane.rules-state", `the saved rules of ${workload} can not be used; they begin again`));
      state = saved.state as S;
      guarded = saved.guarded as GuardState;
      before = guarded;
      return ok(undefined);
    },
    dispose: () => undefined,
  };
}

function parsed(
  bytes: Uint8Array,
): { schema?: unknown; workload?: unknown; state?: unknown; guarded?: unknown } | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
