/**
 * How long requests have taken in the last seconds, by their root spans.
 * Owns: the current latency of the dissertation's SM, and whether an SLO is broken beyond chance. The ingress has both too,
 * over a longer window: what was mended is told there when the window has passed.
 */
import type { Ms } from "../../../base/index.ts";
import type { Span } from "../../../observe/telemetry/index.ts";

export interface RecentLatency {
  readonly count: number;
  readonly p99: Ms | null;
  /** More than one in a hundred are over the SLO, by two standard deviations, so that few requests break nothing by chance. */
  isBroken(slo: Ms): boolean;
}

/** Of requests that a 99th percentile forgives. */
const FORGIVEN = 0.01;
/** Of one type; a busier one is told from its newest. */
const MOST_KEPT = 2_000;

interface Ended {
  readonly at: Ms;
  readonly took: number;
}

export class RecentLatencies {
  readonly #window: Ms;
  readonly #byRequest = new Map<string, Ended[]>();

  constructor(window: Ms) {
    this.#window = window;
  }

  /** Spans that came now. By when they came, since the clocks of their hosts differ. */
  add(spans: readonly Span[], now: Ms): void {
    for (const { parentId, operation, startUs, endUs } of spans) {
      if (parentId !== undefined) continue;
      let ended = this.#byRequest.get(operation);
      if (ended === undefined) {
        ended = [];
        this.#byRequest.set(operation, ended);
      }
      ended.push({ at: now, took: (endUs - startUs) / 1_000 });
    }
    for (const [request, ended] of this.#byRequest) {
      const from = ended.findIndex(({ at }) => now - at < this.#window);
      const kept = from < 0 ? [] : ended.slice(Math.max(from, ended.length - MOST_KEPT));
      if (kept.length === 0) this.#byRequest.delete(request);
      else this.#byRequest.set(request, kept);
    }
  }

  of(request: string): RecentLatency {
    const times = (this.#byRequest.get(request) ?? []).map(({ took }) => took).sort((a, b) => a - b);
    const count = times.length;
    return {
      count,
      p99: count === 0 ? null : (times[Math.min(count - 1, Math.ceil(0.99 * count) - 1)] as Ms),
      isBroken: (slo) => {
        const over = times.filter((took) => took > slo).length;
        const slack = 2 * Math.sqrt((FORGIVEN * (1 - FORGIVEN)) / Math.max(1, count));
        return count > 0 && over / count > FORGIVEN + slack;
      },
    };
  }
}
