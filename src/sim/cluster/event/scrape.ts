/**
 * Measuring one workload: what its pods use and what the ingress saw.
 * Owns: the counters' past, and which samples go missing. Not here: when it becomes known (metrics/pipeline.ts).
 */
import type { MetricsConfig } from "../metrics/config.ts";
import { CounterHistory } from "../metrics/counters.ts";
import { type IngressSample, MetricsPipeline, type PodSample } from "../metrics/pipeline.ts";
import { sloPercentile } from "../spec.ts";
import type { Deployment, Pod } from "./deployment.ts";

export class Scraper {
  readonly pipeline: MetricsPipeline;
  readonly #deployment: Deployment;
  readonly #config: MetricsConfig;
  readonly #percentile: number;
  readonly #podHistory = new WeakMap<Pod, CounterHistory>();
  readonly #ingress: CounterHistory;

  constructor(deployment: Deployment, config: MetricsConfig) {
    this.pipeline = new MetricsPipeline(config);
    this.#deployment = deployment;
    this.#config = config;
    this.#percentile = sloPercentile(deployment.spec.slo);
    this.#ingress = new CounterHistory(config.window);
    // Pods that run when the world begins have been scraped before.
    for (const pod of deployment.pods) this.#historyOf(pod).add(0, [0, 0, 0]);
    this.#ingress.add(0, [0, 0, 0]);
  }

  scrape(now: number): void {
    const { pods, streams } = this.#deployment;
    const samples = new Map<string, PodSample>();
    for (const pod of pods) {
      if (pod.node === undefined || pod.isBackingOff) continue;
      const sample = this.#measure(pod, now);
      const isMissing = streams.metrics.next() < this.#config.missing;
      if (sample !== undefined && !isMissing && pod.stage !== "stopping") samples.set(pod.name, sample);
    }
    const ingress = this.#measureIngress(now);
    const isMissing = streams.metrics.next() < this.#config.missing;
    this.pipeline.add({ at: now, pods: samples, ingress: isMissing ? null : ingress });
  }

  #historyOf(pod: Pod): CounterHistory {
    let history = this.#podHistory.get(pod);
    if (history === undefined) {
      history = new CounterHistory(this.#config.window);
      this.#podHistory.set(pod, history);
    }
    return history;
  }

  #measure(pod: Pod, now: number): PodSample | undefined {
    pod.cpu.advance(now);
    const history = this.#historyOf(pod);
    history.add(now, [pod.cpu.used, pod.io, pod.network]);
    const rates = history.rates();
    if (rates === null) return undefined;
    const { noise } = this.#config;
    const factor = Math.exp(noise * this.#deployment.streams.metrics.normal() - 0.5 * noise * noise);
    const [cpu = 0, io = 0, network = 0] = rates.map((rate) => rate * factor);
    return {
      // Core-milliseconds per second are millicores.
      cpu,
      io,
      network,
      memory: pod.memoryInUse(this.#deployment.program),
      cpuLimit: pod.size.cpu,
      memoryLimit: pod.size.memory,
    };
  }

  #measureIngress(now: number): IngressSample | null {
    const { attempts, completed, failedAttempts, outcomes } = this.#deployment;
    this.#ingress.add(now, [attempts, completed, failedAttempts]);
    const rates = this.#ingress.rates();
    if (rates === null) return null;
    const [offered = 0, answered = 0, failed = 0] = rates;
    return { latency: outcomes.latencyAtIngress(now, this.#percentile), offered, completed: answered, failed };
  }
}
