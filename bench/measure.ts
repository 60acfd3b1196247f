/**
 * Interleaved rounds over contenders.
 * All contenders of a comparison take turns (A B C A B C …), so that a machine that slows down or gets busy does so
 * for everybody. The engine's contenders are processes, so that one's garbage, compiled code and threads are its own.
 */

import { iterationsFor, type Lap, summarise, type Timing } from "./statistics.ts";

/** Whoever can do a task and say how long it took: a process (contender.ts) or, for small things, a function. */
export interface Timed {
  time(task: string, iterations: number): Promise<Lap>;
}

export interface Entry {
  /** Key of the result: `wasm`, `torch`, … */
  readonly key: string;
  readonly contender: Timed;
  readonly task: string;
}

export interface Rounds {
  readonly count: number;
  readonly lengthMs: number;
  readonly warmupMs: number;
  readonly signal: AbortSignal;
}

export interface Outcome {
  readonly timings: ReadonlyMap<string, Timing>;
  /** Contenders that failed, with their own words. */
  readonly failed: ReadonlyMap<string, string>;
}

export async function interleave(entries: readonly Entry[], rounds: Rounds): Promise<Outcome> {
  const failed = new Map<string, string>();
  const running: { entry: Entry; iterations: number; laps: Lap[] }[] = [];
  for (const entry of entries) {
    rounds.signal.throwIfAborted();
    try {
      running.push({ entry, iterations: await calibrate(entry, rounds), laps: [] });
    } catch (error) {
      failed.set(entry.key, error instanceof Error ? error.message : String(error));
    }
  }
  for (let round = 0; round < rounds.count; round++) {
    for (const { entry, iterations, laps } of running) {
      rounds.signal.throwIfAborted();
      laps.push(await entry.contender.time(entry.task, iterations));
    }
  }
  return { timings: new Map(running.map(({ entry, laps }) => [entry.key, summarise(laps)])), failed };
}

/** A contender inside this process, for parts that do not disturb each other. */
export function local(run: (iterations: number) => void): Timed {
  return {
    async time(_task, iterations) {
      const cpu = process.cpuUsage();
      const wall = process.hrtime.bigint();
      run(iterations);
      const wallNs = Number(process.hrtime.bigint() - wall);
      const used = process.cpuUsage(cpu);
      return { iterations, wallNs, cpuNs: (used.user + used.system) * 1_000 };
    },
  };
}

/** Warms up (compilers of every kind need it) and finds how many calls fill a round. */
async function calibrate({ contender, task }: Entry, { lengthMs, warmupMs }: Rounds): Promise<number> {
  let lap = await contender.time(task, 1);
  let spent = 0;
  // The first call pays for loading and compiling; it says nothing about the next ones.
  for (let calls = 1; spent < warmupMs * 1e6; ) {
    lap = await contender.time(task, calls);
    spent += lap.wallNs;
    calls = Math.min(calls * 4, iterationsFor(lap, lengthMs * 1e6));
  }
  return iterationsFor(lap, lengthMs * 1e6);
}
