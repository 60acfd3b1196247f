/**
 * The control plane's updates on their way to its operators: the metrics page, and one log line per event that matters.
 * Owns: which events are logged, and at which level. Not here: the page (adapters/observability), the plane's own events
 * (event-texts.ts), the audit log of what people asked for (server).
 */
import type { Logger } from "pino";
import type { PlaneMetrics } from "../../adapters/observability/index.ts";
import type { ControlPlane, EventDocument, PlaneUpdate, Severity } from "../../contract/index.ts";

export interface Observers {
  readonly metrics?: Pick<PlaneMetrics, "take">;
  readonly log?: Pick<Logger, "info" | "warn" | "error">;
}

/** Begins to listen; returns the way out. */
export function observePlane(plane: Pick<ControlPlane, "subscribe">, { metrics, log }: Observers): () => void {
  const events = log === undefined ? undefined : new EventLog(log);
  return plane.subscribe((updates) => {
    metrics?.take(updates);
    events?.take(updates);
  });
}

/** Info is what the dashboard's list is for: in a log it would bury the rest. */
const levels: Readonly<Record<Severity, "info" | "warn" | "error" | null>> = {
  info: null,
  notice: "info",
  warning: "warn",
  error: "error",
};

/** Of the world's time: what is older than this at the first sample was said, and logged, before a restart. */
const STARTING_MS = 60_000;
const MOST_EARLY = 1_000;

class EventLog {
  readonly #log: NonNullable<Observers["log"]>;
  /** World time from which on events are of this run; not known before the first sample. */
  #since: number | undefined;
  #early: Omit<EventDocument, "id">[] = [];

  constructor(log: NonNullable<Observers["log"]>) {
    this.#log = log;
  }

  take(updates: readonly PlaneUpdate[]): void {
    for (const update of updates) {
      if (update.kind === "samples" && this.#since === undefined) {
        this.#since = update.at - STARTING_MS;
        for (const event of this.#early) this.#write(event);
        this.#early = [];
      }
      if (update.kind !== "event") continue;
      if (this.#since !== undefined) this.#write(update.event);
      else if (this.#early.length < MOST_EARLY) this.#early.push(update.event);
    }
  }

  #write(event: Omit<EventDocument, "id">): void {
    const level = levels[event.severity];
    if (level !== null && event.at >= (this.#since ?? 0)) this.#log[level](fieldsOf(event), "plane event");
  }
}

/** `worldAt`: a simulated world's time is not the wall's, which the line has already. Evidence stays where it can be asked for. */
const fieldsOf = ({ at, kind, severity, workload, agent, text }: Omit<EventDocument, "id">) => ({
  kind,
  severity,
  ...(workload === null ? {} : { workload }),
  ...(agent === null ? {} : { agent }),
  text,
  worldAt: new Date(at).toISOString(),
});
