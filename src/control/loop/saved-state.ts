/**
 * An agent's state across restarts.
 * Owns: when it is saved, which saved one is believed, and that a good one is never overwritten by a fresh start.
 * Not here: the bytes (the agent's), the files (the StateStore port), what the agent learns from (recall-desk.ts).
 */
import type { Failure, Result } from "../../base/index.ts";
import { err, failure, failureOf } from "../../base/index.ts";
import type { LoopIo } from "./io.ts";
import { note, post } from "./io.ts";
import type { SavedStates } from "./ports.ts";
import type { Seat } from "./seat.ts";
import { failureIn } from "./seat.ts";

/**
 * Looks for saved state and loads the newest that is whole and of this version. While the store does not answer the
 * agent goes on as on its first day, which means that its fallback acts, and nothing is saved over what may be there.
 */
export async function restore(seat: Seat, io: LoopIo): Promise<void> {
  await findState(seat, io);
  if (seat.isRestored) beginRecall(seat, io);
}

/** Looks for what the agent could learn from, without waiting for it. */
export function beginRecall(seat: Seat, io: LoopIo): void {
  io.recalls.begin(seat, (event) => post(seat, io, event));
}

async function findState(seat: Seat, io: LoopIo): Promise<void> {
  const { state } = io;
  if (state === undefined) {
    seat.isRestored = true;
    return;
  }
  const deadline = io.deadlines.start(io.limits.state);
  const found = await seat.lanes.state.call((signal) => state.read(seat.spec.agent, signal), deadline);
  note(seat, io, { port: "state", failure: failureIn(found), lane: seat.lanes.state });
  if (found.ok) {
    const { damaged, loaded } = loadNewest(seat, found.value);
    const isRefused = loaded === "nothing" && found.value.states.length > 0;
    const aside = isRefused
      ? await seat.lanes.state.call((signal) => state.setAside(seat.spec.agent, signal), deadline)
      : undefined;
    // A state that was refused and could not be moved out of the way must not be overwritten: try again next turn.
    seat.isRestored = aside?.ok ?? true;
    if (seat.isRestored && (loaded !== "nothing" || damaged.length > 0 || !seat.isFirstLife))
      post(seat, io, { kind: "restarted", from: loaded, damaged });
  }
  deadline.end();
}

function loadNewest(seat: Seat, { states, damaged }: SavedStates) {
  const refused: Failure[] = [...damaged];
  for (const [age, bytes] of states.entries()) {
    const loaded = attempt(() => seat.agent.load(bytes));
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
export function saveIfDue(seat: Seat, io: LoopIo, { isUrgent }: { readonly isUrgent: boolean }): void {
  seat.turnsSinceSave += 1;
  if (!isUrgent && seat.turnsSinceSave < io.limits.saveEvery) return;
  void saveNow(seat, io);
}

/** Behind a save that is under way: what happened since is not in that one. */
export async function saveLast(seat: Seat, io: LoopIo): Promise<void> {
  await seat.saving;
  await saveNow(seat, io);
}

/** Resolves when the save is over, one way or the other. */
async function saveNow(seat: Seat, io: LoopIo): Promise<void> {
  if (io.state === undefined || !seat.isRestored || seat.lanes.state.isBusyAt(io.clock.monotonic())) return;
  seat.saving = write(seat, io);
  await seat.saving;
}

async function write(seat: Seat, io: LoopIo): Promise<void> {
  const { state } = io;
  if (state === undefined) return;
  const bytes = attempt(() => ({ ok: true, value: seat.agent.save() }));
  if (!bytes.ok) {
    note(seat, io, { port: "state", failure: bytes.failure });
    return;
  }
  const deadline = io.deadlines.start(io.limits.state);
  const saved = await seat.lanes.state.call((signal) => state.write(seat.spec.agent, bytes.value, signal), deadline);
  deadline.end();
  if (saved.ok) seat.turnsSinceSave = 0;
  note(seat, io, { port: "state", failure: failureIn(saved), lane: seat.lanes.state });
}
