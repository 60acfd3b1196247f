/**
 * One decision of the loop as a document.
 * Owns: what was there, wished, done and would be there under the fallback alone, in units, and the latency expected of it.
 * Not here: deciding (control/lifecycle), events (event-texts.ts).
 */

import type { PlaneUpdate, StageName } from "../contract/index.ts";
import type { LoopEvent } from "../control/loop/index.ts";
import { expectedLatency } from "./expected-latency.ts";
import type { ManagedWorkload } from "./managed-workload.ts";

type Decision = Extract<PlaneUpdate, { readonly kind: "decision" }>["decision"];

export function decisionOf(
  { target, agent }: ManagedWorkload,
  { at, tick, applied }: LoopEvent & { readonly kind: "decision" },
): Decision {
  const had = agent.had;
  // Where there was nothing to do, what was there is what was done.
  const done = applied === null ? (tick.who === "nobody" ? null : had) : applied.ok ? applied.value : null;
  return {
    at,
    workload: target.id,
    agent: agent.id,
    stage: tick.stage as StageName,
    who: tick.who,
    why: tick.why,
    have: had,
    proposed: tick.wished ?? null,
    executed: done,
    fallback: tick.alone ?? null,
    expected: expectedLatency(tick.expectedNearness, agent.slo),
    failure: applied !== null && !applied.ok ? applied.failure.message : null,
  };
}
