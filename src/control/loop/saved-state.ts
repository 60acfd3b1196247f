/**
 * An agent's state across restarts.
 * Owns: when it is saved, which saved one is believed, and that a good one is never overwritten by a fresh start.
 * Not here: the bytes (the agent's), the files (the StateStore port), what the agent learns from (recall-queue.ts).
 */
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, failureOf } from "../../base/index.ts";
import type { LoopIo } from "./io.ts";
import { note, post } from "./io.ts";
import type { SavedStates } from "./ports.ts";
import type { Slot } from "./slot.ts";
import { failureIn } from "./slot.ts";

/**
 * Looks for saved state and loads the newest that is whole and of this version. While the store does not answer the
 * agent goes on as on its first day, which means that its fallback acts, and nothing is saved over what may be there.
 */
export async function restore(slot: Slot, io: LoopIo): Promise<void> {
  await findState(slot, io);
  if (slot.isRestored) beginRecall(slot, io);
}

/** Looks for what the agent could learn from, without waiting for it. */
export function beginRecall(slot: Slot, io: LoopIo): void {
  io.recalls.begin(slot, (event) => post(slot, io, event));
}

async function findState(slot: Slot, io: LoopIo): Promise<void> {
  const { state } = io;
  if (state === undefined) {
    slot.isRestored = true;
    return;
  }
  const deadline = io.deadlines.start(io.limits.state);
  const found = await slot.lanes.state.call((signal) => state.read(slot.spec.agent, signal), deadline);
  note(slot, io, { port: "state", failure: failureIn(found), lane: slot.lanes.state });
  if (found.ok) {
    const { damaged, loaded } = loadNewest(slot, found.value);
    const isRefused = loaded === "nothing" && found.value.states.length > 0;
    const aside = isRefused
      ? await slot.lanes.state.call((signal) => state.setAside(slot.spec.agent, signal), deadline)
      : undefined;
    // A state that was refused and could not be moved out of the way must not be overwritten: try again next turn.
    slot.isRestored = aside?.ok ?? true;
    if (slot.isRestored && (loaded !== "nothing" || damaged.length > 0 || !slot.isFirstLife))
      post(slot, io, { kind: "restarted", from: loaded, damaged });
  }
  deadline.end();
}

function loadNewest(slot: Slot, { states, damaged }: SavedStates) {
  const refused: Failure[] = [...damaged];
  for (const [age, bytes] of states.entries()) {
    const loaded = attempt(() => slot.agent.load(bytes));
    if (loaded.ok) return { damaged: refused, loaded: age === 0 ? ("saved" as const) : ("previous" as const) };
    refused.push(loaded.failure);
  }
  return { damaged: refused, loaded: "nothing" as const };
}

function attempt<T>(work: () => Result<T>): Result<T> {
  try {
    return work();
  } catch (cause) {
    const known = failureOf(cause);
    return err(
      known ?? failure("loop.state", "an agent threw while its state was saved or loaded; see the cause", { cause }),
    );
  }
}

/** Begins a save without waiting for it; while one is under way no second one begins. */
export function saveIfDue(slot: Slot, io: LoopIo, { isUrgent }: { readonly isUrgent: boolean }): void {
  slot.turnsSinceSave += 1;
  if (!isUrgent && slot.turnsSinceSave < io.limits.saveEvery) return;
  void saveNow(slot, io);
}

/** Behind a save that is under way: what happened since is not in that one. */
export async function saveLast(slot: Slot, io: LoopIo): Promise<void> {
  await slot.saving;
  await saveNow(slot, io);
}

/** Resolves when the save is over, one way or the other. */
async function saveNow(slot: Slot, io: LoopIo): Promise<void> {
  if (io.state === undefined || !slot.isRestored || slot.lanes.state.isBusyAt(io.clock.monotonic())) return;
  slot.saving = write(slot, io);
  await slot.saving;
}

async function write(slot: Slot, io: LoopIo): Promise<void> {
  const { state } = io;
  if (state === undefined) return;
  const bytes = attempt(() => ({ ok: true, value: slot.agent.save() }));
  if (!bytes.ok) {
    note(slot, io, { port: "state", failure: bytes.failure });
    return;
  }
  const deadline = io.deadlines.start(io.limits.state);
  const saved = await slot.lanes.state.call((signal) => state.write(slot.spec.agent, bytes.value, signal), deadline);
  deadline.end();
  if (saved.ok) slot.turnsSinceSave = 0;
  note(slot, io, { port: "state", failure: failureIn(saved), lane: slot.lanes.state });
}
