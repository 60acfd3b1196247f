/**
 * The loop's own condition, measured beside it on its thread and told as plain data.
 * Owns: timings of ticks and turns, how often ports failed, the thread's lag, and their sum with the loop's status.
 * Not here: sending it to whoever shows it, and how that is written (plane-metrics.ts).
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { LoopDocument } from "../../contract/index.ts";
import type { LoopEvent, LoopStatus, PortName, TurnWatcher, WatchedTurn } from "../../control/loop/index.ts";
import { Timings } from "./timings.ts";

const RESOLUTION_MS = 10;

export interface LoopMeterOptions {
  /** Milliseconds from any beginning; the process's own where none is given. */
  readonly now?: () => number;
}

export class LoopMeter implements TurnWatcher {
  readonly #now: () => number;
  readonly #ticks = new Timings();
  readonly #turns = new Timings();
  readonly #failures: Partial<Record<PortName, number>> = {};
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor({ now = () => performance.now() }: LoopMeterOptions = {}) {
    this.#now = now;
    this.#delay.enable();
  }

  begin(): WatchedTurn {
    const now = this.#now;
    const began = now();
    let tickBegan: number | undefined;
    const endTick = (at: number): void => {
      if (tickBegan === undefined) return;
      this.#ticks.add((at - tickBegan) / 1_000);
      tickBegan = undefined;
    };
    return {
      enter: (phase) => {
        if (phase === "tick") tickBegan = now();
        else if (tickBegan !== undefined) endTick(now());
      },
      end: () => {
        const at = now();
        endTick(at);
        this.#turns.add((at - began) / 1_000);
      },
    };
  }

  /** To be shown every batch that goes to the loop's event sink. */
  note(events: readonly LoopEvent[]): void {
    for (const event of events)
      if (event.kind === "port-failing") this.#failures[event.port] = (this.#failures[event.port] ?? 0) + 1;
  }

  /** Everything since the beginning, but the lag, which is the worst since the last call. */
  figures({ agents, recorder, events, training }: LoopStatus): LoopDocument {
    const failing: Partial<Record<PortName, number>> = {};
    const sums = { turns: 0, skipped: 0, crashes: 0, abandoned: 0 };
    for (const agent of agents) {
      sums.turns += agent.turns;
      sums.skipped += agent.skipped;
      sums.crashes += agent.crashes;
      sums.abandoned += agent.abandoned;
      for (const { port } of agent.failing) failing[port] = (failing[port] ?? 0) + 1;
    }
    // The histogram counts the time between two looks, which is the resolution on a thread that is never late.
    const lag = Math.max(0, this.#delay.max / 1e9 - RESOLUTION_MS / 1_000);
    this.#delay.reset();
    const ports = { failures: { ...this.#failures }, failing };
    const [ticks, wholeTurns] = [this.#ticks.figures, this.#turns.figures];
    return { ...sums, ports, recorder, events, training, ticks, wholeTurns, lag };
  }

  close(): void {
    this.#delay.disable();
  }
}
