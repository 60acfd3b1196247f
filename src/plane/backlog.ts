/**
 * What went before in this run, for those who begin to listen later: the newest documents, and the newest of what only adds
 * up. Owns: keeping it small. Not here: serving it in portions and by time (server's read model), earlier runs (history.ts).
 */
import type { PlaneUpdate } from "../contract/index.ts";

const KEPT = { samples: 60, decisions: 500, events: 500 };

export class Backlog {
  readonly #workloads = new Map<string, PlaneUpdate>();
  readonly #agents = new Map<string, PlaneUpdate>();
  #samples: PlaneUpdate[] = [];
  #decisions: PlaneUpdate[] = [];
  #events: PlaneUpdate[] = [];
  #loop: PlaneUpdate | undefined;
  #fleet: PlaneUpdate | undefined;

  add(updates: readonly PlaneUpdate[]): void {
    for (const update of updates) {
      if (update.kind === "workload") this.#workloads.set(update.workload.id, update);
      else if (update.kind === "agent") this.#agents.set(update.agent.id, update);
      else if (update.kind === "samples") this.#samples.push(update);
      else if (update.kind === "decision") this.#decisions.push(update);
      else if (update.kind === "event") this.#events.push(update);
      else if (update.kind === "loop") this.#loop = update;
      else if (update.kind === "fleet") this.#fleet = update;
    }
    // Cut now and then, not at every update: a copy of hundreds for one more would be dear.
    this.#samples = newest(this.#samples, KEPT.samples);
    this.#decisions = newest(this.#decisions, KEPT.decisions);
    this.#events = newest(this.#events, KEPT.events);
  }

  /** Documents first, so that nothing speaks of a workload that was not introduced. */
  all(): readonly PlaneUpdate[] {
    const { samples, decisions, events } = KEPT;
    return [
      ...this.#workloads.values(),
      ...this.#agents.values(),
      ...this.#samples.slice(-samples),
      ...this.#decisions.slice(-decisions),
      ...this.#events.slice(-events),
      ...[this.#fleet, this.#loop].flatMap((update) => update ?? []),
    ];
  }
}

const newest = (updates: PlaneUpdate[], most: number): PlaneUpdate[] =>
  updates.length > 2 * most ? updates.slice(-most) : updates;
