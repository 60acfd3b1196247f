/**
 * From a scrape to what a controller can read: late, and with holes.
 * Owns: samples and their delivery. Not here: how a rung measures (event/scrape.ts), what a reading looks like.
 */
import type { MetricsConfig } from "./config.ts";

export interface PodSample {
  /** Its name. */
  readonly pod: string;
  /** Means over the window: millicores, bytes per second; bytes at the moment of the scrape. */
  readonly cpu: number;
  readonly memory: number;
  readonly io: number;
  readonly network: number;
  /** Its limits at that moment. */
  readonly cpuLimit: number;
  readonly memoryLimit: number;
}

export interface IngressSample {
  /** At the SLO's percentile, over the SLO window. */
  readonly latency: number | null;
  /** Per second, over the metrics window. */
  readonly offered: number;
  readonly completed: number;
  readonly failed: number;
}

export interface Sample {
  readonly at: number;
  /** In the order of the pods; those whose sample is missing are absent. */
  readonly pods: readonly PodSample[];
  readonly ingress: IngressSample | null;
}

export class MetricsPipeline<S extends { readonly at: number } = Sample> {
  readonly #delay: number;
  readonly #waiting: S[] = [];
  #delivered: S | undefined;

  constructor({ delay }: Pick<MetricsConfig, "delay">) {
    this.#delay = delay;
  }

  add(sample: S): void {
    this.#waiting.push(sample);
  }

  /** The newest that has arrived; undefined before the first has. */
  newest(now: number): S | undefined {
    while (this.#waiting.length > 0 && (this.#waiting[0] as S).at + this.#delay <= now)
      this.#delivered = this.#waiting.shift();
    return this.#delivered;
  }
}
