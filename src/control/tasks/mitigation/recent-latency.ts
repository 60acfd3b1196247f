/**
 * How long requests have taken in the last seconds, by their root spans.
 * Owns: the current latency of the dissertation's SM, and whether an SLO is broken beyond chance. The ingress has both too,
 * over a longer window: what was mended is told there when the window has passed.
 */
import type { Ms, PerSecond } from "../../../base/index.ts";
import { isNoId, type RequestReading, SPAN_WORDS, type SpanColumns } from "../../../observe/telemetry/index.ts";

export interface RecentLatency {
  readonly count: number;
  readonly p50: Ms | null;
  readonly p99: Ms | null;
  /** More than one in a hundred are over the SLO, by two standard deviations, so that few requests break nothing by chance. */
  isBroken(slo: Ms): boolean;
}

/** Of requests that a 99th percentile forgives. */
const FORGIVEN = 0.01;
/** Of one type; a busier one is told from its newest. */
const MOST_KEPT = 2_000;
/** Types of requests; names may be anything that somebody sends. */
const MOST_TYPES = 1_000;

interface Ended {
  readonly at: Ms;
  readonly took: number;
}

export class RecentLatencies {
  readonly #longest: Ms;
  readonly #byRequest = new Map<string, Ended[]>();

  /** What is older than the longest window is forgotten. */
  constructor(longest: Ms) {
    this.#longest = longest;
  }

  /** Spans that came now. By when they came, since the clocks of their hosts differ. */
  add(spans: SpanColumns, now: Ms): void {
    for (let row = 0; row < spans.length; row++) {
      if (!isNoId(spans.parentIds, { at: SPAN_WORDS * row, words: SPAN_WORDS })) continue;
      const request = spans.names.text(spans.operation[row] as number);
      let ended = this.#byRequest.get(request);
      if (ended === undefined) {
        if (this.#byRequest.size >= MOST_TYPES) continue;
        ended = [];
        this.#byRequest.set(request, ended);
      }
      ended.push({ at: now, took: ((spans.endUs[row] as number) - (spans.startUs[row] as number)) / 1_000 });
    }
  }

  /** Forgets what no window reaches back to. */
  advance(now: Ms): void {
    for (const [request, ended] of this.#byRequest) {
      const from = ended.findIndex(({ at }) => now - at < this.#longest);
      const kept = from < 0 ? [] : ended.slice(Math.max(from, ended.length - MOST_KEPT));
      if (kept.length === 0) this.#byRequest.delete(request);
      else this.#byRequest.set(request, kept);
    }
  }

  /** Those that came within the window. */
  of(request: string, { now, window }: { readonly now: Ms; readonly window: Ms }): RecentLatency {
    const times = (this.#byRequest.get(request) ?? [])
      .filter(({ at }) => now - at < window)
      .map(({ took }) => took)
      .sort((a, b) => a - b);
    const count = times.length;
    const at = (share: number): Ms | null =>
      count === 0 ? null : (times[Math.max(0, Math.min(count - 1, Math.ceil(share * count) - 1))] as Ms);
    return {
      count,
      p50: at(0.5),
      p99: at(0.99),
      isBroken: (slo) => {
        const over = times.filter((took) => took > slo).length;
        const slack = 2 * Math.sqrt((FORGIVEN * (1 - FORGIVEN)) / Math.max(1, count));
        return count > 0 && over / count > FORGIVEN + slack;
      },
    };
  }

  /** A request type as an ingress would tell it, for types that only spans tell of. Failures are not counted by them. */
  reading(
    request: string,
    { slo, now, window }: { readonly slo: Ms; readonly now: Ms; readonly window: Ms },
  ): RequestReading {
    const { count, p50, p99 } = this.of(request, { now, window });
    const rate = ((1_000 * count) / window) as PerSecond;
    return { request, at: now, slo, p50, p99, offered: rate, completed: rate, failed: 0 as PerSecond };
  }
}
