/**
 * What an agent's document shows of its life so far and the agent itself does not keep: rewards of episodes, the newest
 * estimate, whether it steers.
 * Owns: these notes, and keeping them in one piece with the agent's saved state. Not here: the state with its stage and
 * how it came there (control/lifecycle), what people set (saved-plane.ts).
 */
import type { Result } from "../base/index.ts";
import { err, failure, ok } from "../base/index.ts";
import type { AgentNotes } from "../contract/schemas/index.ts";
import { agentNotesSchema } from "../contract/schemas/index.ts";
import { freshSteering } from "./steering.ts";

export const freshNotes = (at: number): AgentNotes => ({
  begun: at,
  acting: "fallback",
  episodes: [],
  estimate: null,
  updates: 0,
  steering: freshSteering,
});

const LENGTH_BYTES = 4;

/** The notes' length, the notes, the state. */
export function withNotes(notes: AgentNotes, state: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(notes));
  const both = new Uint8Array(LENGTH_BYTES + text.length + state.length);
  new DataView(both.buffer).setUint32(0, text.length, true);
  both.set(text, LENGTH_BYTES);
  both.set(state, LENGTH_BYTES + text.length);
  return both;
}

export function splitNotes(both: Uint8Array): Result<{ readonly notes: AgentNotes; readonly state: Uint8Array }> {
  try {
    const end = LENGTH_BYTES + new DataView(both.buffer, both.byteOffset, both.byteLength).getUint32(0, true);
    const found = agentNotesSchema.safeParse(JSON.parse(new TextDecoder().decode(both.subarray(LENGTH_BYTES, end))));
    // A copy of its own: what reads it may need it aligned.
    if (found.success) return ok({ notes: found.data, state: both.slice(end) });
  } catch {
    // Said below, whatever it was.
  }
  return err(
    failure("plane.agent-notes", "an agent's saved state has no notes of this version; the one before it is tried"),
  );
}
