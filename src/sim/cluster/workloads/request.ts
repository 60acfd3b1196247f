/**
 * One request's work.
 * Owns: drawing it, its mean, the latency it has when it is alone. Not here: queues, quotas, everything that makes it
 * slower than that (the worlds).
 */
import { type Ms, milliseconds, type Rng, seededRng } from "../../../base/index.ts";
import type { Application } from "./application.ts";

/** Numbers that `sampleRequest` writes: CPU and wait of each phase. */
export function requestLength({ phases }: Application): number {
  return 2 * phases.length;
}

/**
 * Writes [cpu0, wait0, cpu1, wait1, …] in (core-)milliseconds on the reference processor and returns the request's size,
 * of mean 1. Each number is mean × size × a lognormal factor of mean 1, drawn by itself. Allocates nothing.
 */
export function sampleRequest({ phases, sizes, sigma }: Application, rng: Rng, into: Float64Array): number {
  const size = sizes.length === 1 ? sizes[0]! : sizes[rng.int(sizes.length)]!;
  // exp(σ·z − σ²/2) has mean 1, so that `sigma` changes the spread and never the load.
  const shift = -0.5 * sigma * sigma;
  for (let i = 0; i < phases.length; i++) {
    const { cpu, wait } = phases[i]!;
    into[2 * i] = cpu === 0 ? 0 : cpu * size * Math.exp(sigma * rng.normal() + shift);
    into[2 * i + 1] = wait === 0 ? 0 : wait * size * Math.exp(sigma * rng.normal() + shift);
  }
  return size;
}

/** Core-milliseconds and milliseconds of waiting of a mean request. */
export function meanWork({ phases }: Application): { cpu: number; wait: number } {
  let cpu = 0;
  let wait = 0;
  for (const phase of phases) {
    cpu += phase.cpu;
    wait += phase.wait;
  }
  return { cpu, wait };
}

export interface IsolatedOptions {
  /** Of the processor, relative to the reference. Default 1. */
  readonly speed?: number;
  /** Cores that the lone request may use. Default: as many as its phases are wide. */
  readonly cores?: number;
  /** Default 20,000: the standard error of a p99 is then about 2 % for the widest sigma. */
  readonly samples?: number;
  readonly seed?: number;
}

/**
 * The latency of a request that is alone in a warm pod with full caches and no quota, at a percentile in [0, 1], by
 * Monte Carlo. An SLO is set from it once, before any controller is tried.
 */
export function isolatedLatency(application: Application, quantile: number, options: IsolatedOptions = {}): Ms {
  const { speed = 1, cores = Number.POSITIVE_INFINITY, samples = 20_000, seed = 0 } = options;
  const rng = seededRng(seed).fork("isolated").fork(application.id);
  const work = new Float64Array(requestLength(application));
  const latencies = new Float64Array(samples);
  for (let i = 0; i < samples; i++) {
    sampleRequest(application, rng, work);
    let latency = 0;
    for (let p = 0; p < application.phases.length; p++) {
      latency += work[2 * p]! / (speed * Math.min(cores, application.phases[p]!.width)) + work[2 * p + 1]!;
    }
    latencies[i] = latency;
  }
  latencies.sort();
  const rank = Math.ceil(quantile * samples) - 1;
  return milliseconds(latencies[Math.min(Math.max(rank, 0), samples - 1)]!);
}
