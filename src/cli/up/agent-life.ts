/**
 * What an agent's document shows of its life so far and the agent itself does not keep: rewards of episodes, the newest
 * estimate.
 * Owns: these notes, and keeping them in one piece with the agent's saved state. Not here: the state with its stage and
 * how it came there (control/lifecycle), what people set (saved-plane.ts).
 */
import { z } from "zod";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import { stages } from "../../control/lifecycle/index.ts";
import type { AgentDocument } from "../../server/index.ts";

type Episode = AgentDocument["episodes"][number];

export interface AgentLife {
  begun: number;
  acting: AgentDocument["acting"];
  episodes: Episode[];
  estimate: AgentDocument["estimate"];
  updates: number;
}

export const freshLife = (at: number): AgentLife => ({
  begun: at,
  acting: "fallback",
  episodes: [],
  estimate: null,
  updates: 0,
});

const number = z.number();
const agentLife = z.strictObject({
  begun: number,
  acting: z.enum(["learner", "fallback", "nobody"]),
  episodes: z.array(z.strictObject({ episode: number, reward: number, violations: number, stage: z.enum(stages) })),
  estimate: z.strictObject({ at: number, mean: number, lower: number, upper: number }).nullable(),
  updates: number,
});

const LENGTH_BYTES = 4;

/** The notes' length, the notes, the state. */
export function withLife(life: AgentLife, state: Uint8Array): Uint8Array {
  const notes = new TextEncoder().encode(JSON.stringify(life));
  const both = new Uint8Array(LENGTH_BYTES + notes.length + state.length);
  new DataView(both.buffer).setUint32(0, notes.length, true);
  both.set(notes, LENGTH_BYTES);
  both.set(state, LENGTH_BYTES + notes.length);
  return both;
}

export function splitLife(both: Uint8Array): Result<{ readonly life: AgentLife; readonly state: Uint8Array }> {
  try {
    const end = LENGTH_BYTES + new DataView(both.buffer, both.byteOffset, both.byteLength).getUint32(0, true);
    const found = agentLife.safeParse(JSON.parse(new TextDecoder().decode(both.subarray(LENGTH_BYTES, end))));
    // A copy of its own: what reads it may need it aligned.
    if (found.success) return ok({ life: found.data, state: both.slice(end) });
  } catch {
    // Said below, whatever it was.
  }
  return err(
    failure("plane.agent-life", "an agent's saved state has no notes of this version; the one before it is tried"),
  );
}
