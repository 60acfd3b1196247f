/**
 * What the activation records of one function say about the last while.
 * Owns: the records of a window, bounded; percentiles, rates and containers at work that follow from them.
 * Not here: asking for records (activation-telemetry.ts), counters of containers, which records do not have.
 */
import { type Ms, milliseconds, type PerSecond, perSecond } from "../../base/index.ts";
import type { StoredActivation } from "./activation.ts";

export interface ActivationSummary {
  /** 99th percentiles of those that were answered; null when none was. */
  readonly latency: Ms | null;
  readonly execution: Ms | null;
  readonly waiting: Ms | null;
  readonly coldStart: Ms | null;
  readonly completed: PerSecond;
  /** Killed, dropped or refused. */
  readonly failed: PerSecond;
  readonly kills: number;
  /** The most containers that were at work at the same moment: there are at least so many. */
  readonly atWork: number;
}

export interface ActivationWindowOptions {
  readonly window: Ms;
  /** Beyond so many, those that ended first are lost. */
  readonly most?: number;
}

export class ActivationWindow {
  readonly #window: Ms;
  readonly #most: number;
  #records: StoredActivation[] = [];

  constructor({ window, most = 10_000 }: ActivationWindowOptions) {
    this.#window = window;
    this.#most = most;
  }

  get size(): number {
    return this.#records.length;
  }

  add(records: readonly StoredActivation[]): void {
    if (records.length === 0) return;
    // Records come late, so ends are not in order from one batch to the next.
    this.#records = [...this.#records, ...records].sort((a, b) => endOf(a) - endOf(b)).slice(-this.#most);
  }

  /** Over the window that ends now, or over what has passed of it since records were first asked for; null of no time. */
  summary(now: Ms, from: Ms): ActivationSummary | null {
    const begin = Math.max(from, now - this.#window);
    this.#records = this.#records.filter((record) => endOf(record) > now - this.#window);
    if (now <= begin) return null;
    const within = this.#records.filter((record) => endOf(record) > begin && endOf(record) <= now);
    const answered = within.filter(({ outcome }) => outcome === "completed");
    const rate = (count: number) => perSecond((count * 1_000) / (now - begin));
    return {
      latency: tailOf(answered.map((record) => endOf(record) - record.arrivedAt)),
      execution: tailOf(answered.map(({ execution }) => execution)),
      waiting: tailOf(answered.map(({ waiting }) => waiting)),
      coldStart: tailOf(answered.map(({ coldStart }) => coldStart)),
      completed: rate(answered.length),
      failed: rate(within.length - answered.length),
      kills: within.filter(({ outcome }) => outcome === "killed").length,
      atWork: containersAtWork(within),
    };
  }
}

export const endOf = ({ arrivedAt, waiting, coldStart, execution }: StoredActivation): number =>
  arrivedAt + waiting + coldStart + execution;

/** Nearest rank: the smallest value that 99 of 100 do not exceed. */
function tailOf(values: readonly number[]): Ms | null {
  const tail = Float64Array.from(values).sort()[Math.ceil(0.99 * values.length) - 1];
  return tail === undefined ? null : milliseconds(tail);
}

function containersAtWork(records: readonly StoredActivation[]): number {
  // One that ends at the very moment in which another begins leaves its container to it.
  const changes = records.flatMap((record) => {
    const end = endOf(record);
    const share = 1 / record.concurrency;
    return [
      { at: end - record.execution - record.coldStart, by: share },
      { at: end, by: -share },
    ];
  });
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  let most = 0;
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  // Thirds do not add up to a whole in binary.
  return Math.max(0, Math.ceil(most - 1e-9));
}
