/**
 * How urgent a thread's work is: those who answer people go before those who compute.
 * Owns: lowering the priority of the thread that calls, or of all others. Not here: who calls it.
 *
 * Node knows the priority of processes. On Linux every thread is a process to the scheduler, with a number of its own, so
 * the same call serves a thread; elsewhere there is no such number, and nothing is changed.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { setFlagsFromString } from "node:v8";

/** The number under which Linux knows the calling thread; undefined elsewhere. */
export function threadNumber(): number | undefined {
  try {
    // "<process>/task/<thread>", of whoever asks.
    const number = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    return Number.isSafeInteger(number) && number > 0 ? number : undefined;
  } catch {
    return undefined;
  }
}

/** 0 is usual, 19 gives way to everybody. Threads that this one starts begin with it, too. */
export function giveWay(nice: number): boolean {
  const thread = threadNumber();
  if (thread === undefined) return false;
  try {
    setPriority(thread, nice);
    return true;
  } catch {
    // Whoever may not change it computes as urgently as before.
    return false;
  }
}

/**
 * All threads of this process but the calling one: the engine's own, which collect and compile for every thread, and those
 * that read and write files. There are as many as cores and more, so one collection elsewhere would take every core.
 * Those that give way further already stay as they are. Says how many were changed.
 *
 * Young objects are collected by each thread alone from then on: it would share that work with the engine's threads and
 * wait for them, and now they come last. Measured in the thread that answers, beside threads that train: waits of 7 to
 * 30 ms a few times a second, of which it computed one or two; by itself it takes these, and the waits are gone.
 */
export function othersGiveWay(nice: number): number {
  const own = threadNumber();
  if (own === undefined) return 0;
  let changed = 0;
  for (const name of readdirSync("/proc/self/task")) {
    const thread = Number(name);
    if (thread === own) continue;
    try {
      if (getPriority(thread) >= nice) continue;
      setPriority(thread, nice);
      changed += 1;
    } catch {
      // It ended meanwhile, or may not be changed.
    }
  }
  if (changed > 0) setFlagsFromString("--no-parallel-scavenge");
  return changed;
}
