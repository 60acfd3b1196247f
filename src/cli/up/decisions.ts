/**
 * One decision of the loop as a document.
 * Owns: what was there, wished and done, in units. Not here: deciding (control/lifecycle), events (event-texts.ts).
 */
import type { LoopEvent } from "../../control/loop/index.ts";
import { decodeAction } from "../../control/tasks/index.ts";
import type { PlaneUpdate, StageName } from "../../server/index.ts";
import { allocationDocument } from "./measure.ts";
import type { Ward } from "./ward.ts";

type Decision = Extract<PlaneUpdate, { readonly kind: "decision" }>["decision"];

export function decisionOf(
  { workload, agent }: Ward,
  { at, tick, applied }: LoopEvent & { readonly kind: "decision" },
): Decision {
  const { step } = tick;
  const { had } = agent;
  // Where there was nothing to do, what was there is what was done.
  const done =
    applied === null ? (tick.who === "nobody" ? null : had) : applied.ok ? allocationDocument(applied.value) : null;
  // Where the learner had no wish of its own, the two are one and the same array.
  const wished = step !== undefined && step.proposed !== step.executed;
  return {
    at,
    workload: workload.id,
    agent: agent.id,
    stage: tick.stage as StageName,
    who: tick.who,
    why: tick.why,
    have: had,
    proposed: wished ? allocationDocument(decodeAction(agent.task, step.proposed)) : null,
    executed: done,
    failure: applied !== null && !applied.ok ? applied.failure.message : null,
  };
}
