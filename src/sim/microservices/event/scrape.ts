/**
 * What telemetry sees of the containers of one service, scrape by scrape.
 * Owns: measuring counters and rates, with noise and holes; readings of what was delivered.
 * Not here: the pipeline's delay (cluster/metrics/pipeline.ts), spans (spans.ts).
 */
import {
  type Bytes,
  bytes,
  cores,
  type Ms,
  millicores,
  milliseconds,
  type PerSecond,
  parseWorkloadId,
  type Ratio,
  type Rng,
  unwrap,
} from "../../../base/index.ts";
import type {
  InstanceCounters,
  InstanceReading,
  RequestReading,
  WorkloadReading,
} from "../../../observe/telemetry/index.ts";
import { FULL_CACHE_MISSES } from "../../cache-misses.ts";
import type { MetricsConfig } from "../../cluster/metrics/config.ts";
import { CounterHistory } from "../../cluster/metrics/counters.ts";
import { MetricsPipeline, type PodSample, type Sample } from "../../cluster/metrics/pipeline.ts";
import { assembleReading } from "../../cluster/metrics/reading.ts";
import { CACHE_LINE, CPU, IO, LLC, MEMORY, NETWORK } from "../calibration.ts";
import { asLimits, boundsOf } from "../limits.ts";
import type { Program } from "../program.ts";
import type { Container } from "./container.ts";
import type { Ledger } from "./ledger.ts";
import type { Machines } from "./machines.ts";
import type { Rollout } from "./rollout.ts";

interface InstanceSample {
  readonly use: NonNullable<InstanceReading["use"]>;
  readonly counters: InstanceCounters;
}

interface ServiceSample extends Sample {
  readonly instances: ReadonlyMap<string, InstanceSample>;
}

export interface ScraperOptions {
  readonly start: number;
  readonly program: Program;
  readonly metrics: MetricsConfig;
  readonly rollout: Rollout;
  readonly machines: Machines;
  readonly ledger: Ledger;
  readonly slos: readonly Ms[];
  readonly rng: Rng;
}

/** Where a page lies that a socket of two asks for, unless threads are pinned. Assumed [0.5..0.9]. */
const LOCAL = 0.7;
/** Of what a store moves, so much is read. Assumed [0.3..0.9]. */
const READ = 0.6;
const MEBIBYTE = 1_048_576;

export class Scraper {
  readonly #options: ScraperOptions;
  /** By service, and one for the ingress at the end. */
  readonly #pipelines: readonly MetricsPipeline[];
  readonly #histories = new Map<Container, CounterHistory>();
  readonly #calls: readonly CounterHistory[];
  readonly #clients: readonly CounterHistory[];
  readonly #ingress: { at: number; readings: readonly RequestReading[] }[] = [];

  constructor(options: ScraperOptions) {
    this.#options = options;
    const { program, metrics, slos } = options;
    this.#pipelines = program.names.map(() => new MetricsPipeline(metrics));
    this.#calls = program.names.map(() => new CounterHistory(metrics.window));
    this.#clients = slos.map(() => new CounterHistory(metrics.sloWindow));
  }

  /** One service, or the ingress where the number is beyond the last one. */
  scrape(service: number, now: number): void {
    if (service === this.#options.program.names.length) this.#scrapeIngress(now);
    else this.#scrapeService(service, now);
  }

  readService(service: number, now: number): WorkloadReading {
    return readingOf(service, { ...this.#options, sample: this.#pipelines[service]?.newest(now) });
  }

  readInstances(now: number): readonly InstanceReading[] {
    const { program, rollout, machines, start } = this.#options;
    return rollout.members.flatMap((members, service) => {
      const sample = this.#pipelines[service]?.newest(now) as ServiceSample | undefined;
      return members.map((container): InstanceReading => {
        const measured = sample?.instances.get(container.name);
        const { lower, upper } = boundsOf(container.defaults);
        return {
          instance: container.name,
          service: program.names[service] as string,
          node: machines.all[container.node]!.spec.name,
          at: milliseconds(start + (sample?.at ?? 0)),
          isReady: container.readyAt !== null,
          limits: asLimits(container.limits),
          lower: asLimits(lower),
          upper: asLimits(upper),
          threads: container.threads,
          use: measured?.use ?? null,
          counters: measured?.counters ?? null,
        };
      });
    });
  }

  readRequests(now: number): readonly RequestReading[] {
    const { metrics } = this.#options;
    const waiting = this.#ingress;
    while (waiting.length > 1 && waiting[1]!.at + metrics.delay <= now) waiting.shift();
    const newest = waiting[0];
    return newest !== undefined && newest.at + metrics.delay <= now ? newest.readings : [];
  }

  #scrapeService(service: number, now: number): void {
    const { metrics, rollout, rng, ledger } = this.#options;
    const pods: PodSample[] = [];
    const instances = new Map<string, InstanceSample>();
    for (const container of rollout.members[service] as readonly Container[]) {
      container.settle(now);
      const history = this.#historyOf(container);
      history.add(now, [
        container.clock.used,
        container.drawn[MEMORY]!,
        container.drawn[IO]!,
        container.drawn[NETWORK]!,
      ]);
      const rates = history.rates();
      const peak = container.clock.takePeak();
      if (rates === null || rng.next() < metrics.missing) continue;
      const noisy = (rate: number): number => rate * Math.exp(metrics.noise * rng.normal() - metrics.noise ** 2 / 2);
      // Core-milliseconds a second are millicores; megabytes a second stay what they are.
      const [cpu, memory, io, network] = rates.map(noisy) as [number, number, number, number];
      const counters = countersOf(container, peak);
      const { limits } = container;
      instances.set(container.name, {
        use: {
          cpu: (cpu / 1_000 / limits[CPU]!) as Ratio,
          memory: (memory / limits[MEMORY]!) as Ratio,
          llc: Math.min(1, (container.profile.workingSet + container.stress[LLC]!) / limits[LLC]!) as Ratio,
          io: (io / limits[IO]!) as Ratio,
          network: (network / limits[NETWORK]!) as Ratio,
        },
        counters,
      });
      pods.push({
        pod: container.name,
        cpu,
        memory: counters.memoryUsageBytes,
        io: io * 1e6,
        network: network * 1e6,
        cpuLimit: limits[CPU]! * 1_000,
        memoryLimit: memoryLimitOf(container),
      });
    }
    const totals = ledger.services[service]!;
    const calls = this.#calls[service] as CounterHistory;
    calls.add(now, [totals.arrived, totals.completed, totals.dropped]);
    const rates = calls.rates();
    const sample: ServiceSample = {
      at: now,
      pods,
      instances,
      ingress:
        rates === null
          ? null
          : {
              latency: ledger.serviceOutcomes[service]!.latencyOfAnswered(now, 0.99),
              offered: rates[0]!,
              completed: rates[1]!,
              failed: rates[2]!,
            },
    };
    this.#pipelines[service]!.add(sample);
  }

  #scrapeIngress(now: number): void {
    const { program, ledger, slos, start } = this.#options;
    const readings = program.application.requests.map(({ name }, type): RequestReading => {
      const totals = ledger.requests[type]!;
      const outcomes = ledger.requestOutcomes[type]!;
      const history = this.#clients[type] as CounterHistory;
      history.add(now, [totals.arrived, totals.completed, totals.timedOut + totals.dropped]);
      const [offered, completed, failed] = history.rates() ?? [0, 0, 0];
      return {
        request: name,
        at: milliseconds(start + now),
        slo: slos[type] as Ms,
        p50: outcomes.latencyAtIngress(now, 0.5) as Ms | null,
        p99: outcomes.latencyAtIngress(now, 0.99) as Ms | null,
        offered: offered as PerSecond,
        completed: completed as PerSecond,
        failed: failed as PerSecond,
      };
    });
    this.#ingress.push({ at: now, readings });
    // Nobody may be asking: only what can still be delivered first is kept.
    const { delay } = this.#options.metrics;
    while (this.#ingress.length > 1 && this.#ingress[1]!.at + delay <= now) this.#ingress.shift();
  }

  #historyOf(container: Container): CounterHistory {
    const known = this.#histories.get(container);
    if (known !== undefined) return known;
    for (const old of this.#histories.keys()) if (old.isGone) this.#histories.delete(old);
    const made = new CounterHistory(this.#options.metrics.window);
    this.#histories.set(container, made);
    return made;
  }
}

export interface ServiceView {
  readonly program: Program;
  readonly rollout: Rollout;
  readonly start: number;
  /** What was delivered last; undefined before anything was. */
  readonly sample: Sample | undefined;
}

/** One service as an autoscaler reads it, on either rung. */
export function readingOf(service: number, { program, rollout, start, sample }: ServiceView): WorkloadReading {
  const members = rollout.members[service] as readonly Container[];
  const first = members[0] as Container;
  return assembleReading({
    workload: unwrap(parseWorkloadId(program.names[service] as string)),
    asked: {
      replicas: rollout.asked[service] as number,
      cpu: millicores(Math.round(first.asked[CPU]! * 1_000)),
      memory: memoryLimitOf(first) as Bytes,
    },
    pods: members.map((container) => ({
      pod: container.name,
      createdAt: milliseconds(start + container.createdAt),
      readyAt: container.readyAt === null ? null : milliseconds(start + container.readyAt),
      cpuLimit: cores(container.limits[CPU]!),
      memoryLimit: bytes(memoryLimitOf(container)),
      cpu: null,
      memory: null,
      restarts: 0,
    })),
    ooms: [],
    sample,
    start,
  });
}

/** Memory is not what this world is about: a container may use twice what it holds with every thread busy. */
export function memoryLimitOf({ profile, threads }: Container): number {
  return Math.round(2 * (profile.resident + profile.perRequest * threads) * MEBIBYTE);
}

export function countersOf(container: Container, cpuPeakCores: number): InstanceCounters {
  const { clock, drawn, profile, busy, slowdown, workDone } = container;
  const misses = (drawn[MEMORY]! * 1e6) / CACHE_LINE;
  // Accesses do not depend on the cache; misses with all of it are a known part of them.
  const accesses = (workDone * profile.memory.share * profile.memory.rate * 1_000) / CACHE_LINE / FULL_CACHE_MISSES;
  const hits = Math.max(0, accesses - misses / Math.max(1, slowdown.misses));
  const disk = drawn[IO]! / Math.max(1, profile.io.rate);
  const sent = drawn[NETWORK]! * 1e6;
  return {
    cpuUsageSecondsTotal: clock.used / 1_000,
    cpuCfsPeriodsTotal: clock.periods,
    cpuCfsThrottledPeriodsTotal: clock.throttledPeriods,
    cpuPeakCores,
    memoryUsageBytes: Math.round((profile.resident + profile.perRequest * busy) * MEBIBYTE),
    fsReadSeconds: disk * READ,
    fsWriteSeconds: disk * (1 - READ),
    fsUsageBytes: Math.round(drawn[IO]! * (1 - READ) * 1e6),
    networkTransmitBytesTotal: Math.round(sent / 2),
    networkReceiveBytesTotal: Math.round(sent / 2),
    processes: 1 + busy,
    llcHitLocalDram: Math.round(hits * LOCAL),
    llcMissLocalDram: Math.round(misses * LOCAL),
    llcHitRemoteDram: Math.round(hits * (1 - LOCAL)),
    llcMissRemoteDram: Math.round(misses * (1 - LOCAL)),
  };
}
