/**
 * The plane's own condition, measured on its thread: timings and queues for the metrics page, traces where they are asked for.
 * Owns: how often it is told, and that lost traces are told too. Not here: the page and the spans (adapters/observability).
 */
import { LoopMeter, openTracing, type Tracing, watchedByAll } from "../../adapters/observability/index.ts";
import type { Failure, Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import type { LoopEvent, LoopStatus, TurnWatcher } from "../../control/loop/index.ts";

/** Of the wall's time: scrapes are seconds apart. */
const TELL_EVERY_MS = 1_000;

export interface PlaneWatchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}

/** A failure where the environment names an address for traces that is none. */
export function openPlaneWatch({ env, version }: PlaneWatchOptions): Result<PlaneWatch> {
  const lost: Failure[] = [];
  const tracing = openTracing({ env, version, onFailure: (why) => lost.push(why) });
  return tracing.ok ? ok(new PlaneWatch(tracing.value, lost)) : tracing;
}

export class PlaneWatch {
  readonly watcher: TurnWatcher | undefined;
  readonly #meter = new LoopMeter();
  readonly #tracing: Tracing | undefined;
  readonly #lost: Failure[];
  #told = Number.NEGATIVE_INFINITY;

  constructor(tracing: Tracing | undefined, lost: Failure[]) {
    this.#tracing = tracing;
    this.#lost = lost;
    this.watcher = watchedByAll(tracing === undefined ? [this.#meter] : [this.#meter, tracing.watcher]);
  }

  note(events: readonly LoopEvent[]): void {
    this.#meter.note(events);
  }

  /** What there is to tell beside the plane's own updates; `world` is its time, `wall` any clock's milliseconds. */
  updates(status: LoopStatus, { world, wall }: { readonly world: number; readonly wall: number }): PlaneUpdate[] {
    const updates: PlaneUpdate[] = this.#lost.splice(0).map(({ message }) => ({
      kind: "event",
      event: {
        at: world,
        severity: "warning",
        kind: "traces-lost",
        workload: null,
        agent: null,
        text: message,
        evidence: null,
      },
    }));
    if (wall - this.#told < TELL_EVERY_MS) return updates;
    this.#told = wall;
    return [...updates, { kind: "loop", loop: this.#meter.figures(status) }];
  }

  async close(): Promise<void> {
    this.#meter.close();
    await this.#tracing?.close();
  }
}
