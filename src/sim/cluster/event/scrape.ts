/**
 * Measuring one workload: what its pods use and what the ingress saw.
 * Owns: the counters' past, and which samples go missing. Not here: when it becomes known (metrics/pipeline.ts).
 */
import { sloQuantile } from "../../../observe/telemetry/index.ts";
import type { MetricsConfig } from "../metrics/config.ts";
import { CounterHistory } from "../metrics/counters.ts";
import { type IngressSample, MetricsPipeline, type PodSample } from "../metrics/pipeline.ts";
import type { Deployment, Pod } from "./deployment.ts";

export class Scraper {
  readonly pipeline: MetricsPipeline;
  readonly #deployment: Deployment;
  readonly #config: MetricsConfig;
  readonly #quantile: number;
  /** By the pod's index, which a later pod may have again. */
  readonly #podHistories: { readonly pod: Pod; readonly history: CounterHistory }[] = [];
  readonly #ingress: CounterHistory;
  readonly #counters: [number, number, number] = [0, 0, 0];

  constructor(deployment: Deployment, config: MetricsConfig) {
    this.pipeline = new MetricsPipeline(config);
    this.#deployment = deployment;
    this.#config = config;
    this.#quantile = sloQuantile(deployment.spec.slo);
    this.#ingress = new CounterHistory(config.window);
    // Pods that run when the world begins have been scraped before.
    for (const pod of deployment.pods) this.#historyOf(pod).add(0, [0, 0, 0]);
    this.#ingress.add(0, [0, 0, 0]);
  }

  scrape(now: number): void {
    const { pods, streams } = this.#deployment;
    const samples: PodSample[] = [];
    for (const pod of pods) {
      if (pod.node === undefined || pod.isBackingOff) continue;
      const sample = this.#measure(pod, now);
      const isMissing = streams.metrics.next() < this.#config.missing;
      if (sample !== undefined && !isMissing && pod.stage !== "stopping") samples.push(sample);
    }
    const ingress = this.#measureIngress(now);
    const isMissing = streams.metrics.next() < this.#config.missing;
    this.pipeline.add({ at: now, pods: samples, ingress: isMissing ? null : ingress });
  }

  #historyOf(pod: Pod): CounterHistory {
    const known = this.#podHistories[pod.index];
    if (known?.pod === pod) return known.history;
    const history = new CounterHistory(this.#config.window);
    this.#podHistories[pod.index] = { pod, history };
    return history;
  }

  #measure(pod: Pod, now: number): PodSample | undefined {
    pod.cpu.advance(now);
    const history = this.#historyOf(pod);
    const counters = this.#counters;
    counters[0] = pod.cpu.used;
    counters[1] = pod.io;
    counters[2] = pod.network;
    history.add(now, counters);
    const rates = history.rates();
    if (rates === null) return undefined;
    const { noise } = this.#config;
    const factor = Math.exp(noise * this.#deployment.streams.metrics.normal() - 0.5 * noise * noise);
    return {
      pod: pod.name,
      // Core-milliseconds per second are millicores.
      cpu: rates[0]! * factor,
      io: rates[1]! * factor,
      network: rates[2]! * factor,
      memory: pod.memoryInUse(this.#deployment.program),
      cpuLimit: pod.size.cpu,
      memoryLimit: pod.size.memory,
    };
  }

  #measureIngress(now: number): IngressSample | null {
    const { attempts, completed, failedAttempts, outcomes } = this.#deployment;
    const counters = this.#counters;
    counters[0] = attempts;
    counters[1] = completed;
    counters[2] = failedAttempts;
    this.#ingress.add(now, counters);
    const rates = this.#ingress.rates();
    if (rates === null) return null;
    return {
      latency: outcomes.latencyAtIngress(now, this.#quantile),
      offered: rates[0]!,
      completed: rates[1]!,
      failed: rates[2]!,
    };
  }
}
