/**
 * How urgent a thread's work is: those who answer people go before those who compute.
 * Owns: lowering the priority of the thread that calls. Not here: who calls it.
 *
 * Node knows the priority of processes. On Linux every thread is a process to the scheduler, with a number of its own, so
 * the same call serves a thread; elsewhere there is no such number, and nothing is changed.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

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
