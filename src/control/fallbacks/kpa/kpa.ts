/**
 * Knative's pod autoscaler: requests per pod over a stable and a panic window. A baseline, and the fallback where
 * workloads scale to zero.
 * Owns: both windows, panic, rates, burst capacity, the delay before the last pod goes.
 * Not here: scraping (1 s) and the rhythm (2 s), the activator's own probe: inactive is taken as proxied.
 */
import type { Failure, Ms, Result } from "../../../base/index.ts";
import { err, failure, ok, seconds } from "../../../base/index.ts";
import type { BucketWindow, RecordedCount } from "./window.ts";
import { emptyWindow, isWindowEmpty, recordCount, recordValue, windowAverage } from "./window.ts";

export interface KpaConfig {
  /** What one pod can take of the metric (concurrent requests, or requests per second). */
  readonly total: number;
  /** The share of it that is aimed at. */
  readonly targetUtilization: number;
  readonly stableWindow: Ms;
  /** Share of the stable window. */
  readonly panicWindow: number;
  /** Panic begins when the panic window asks for this many times the ready pods. */
  readonly panicThreshold: number;
  readonly maxScaleUpRate: number;
  readonly maxScaleDownRate: number;
  readonly scaleDownDelay: Ms;
  /** Requests that may arrive at once without queueing; -1 is unlimited, 0 none. */
  readonly burstCapacity: number;
  /** The least count above zero. */
  readonly activationScale: number;
  readonly isReachable: boolean;
  readonly minScale: number;
  /** 0 is no bound. */
  readonly maxScale: number;
  readonly mayScaleToZero: boolean;
  readonly scaleToZeroGrace: Ms;
  readonly lastPodRetention: Ms;
}

export const defaultKpaConfig: KpaConfig = Object.freeze<KpaConfig>({
  total: 100,
  targetUtilization: 0.7,
  stableWindow: seconds(60),
  panicWindow: 0.1,
  panicThreshold: 2,
  maxScaleUpRate: 1000,
  maxScaleDownRate: 2,
  scaleDownDelay: seconds(0),
  burstCapacity: 211,
  activationScale: 0,
  isReachable: true,
  minScale: 0,
  maxScale: 0,
  mayScaleToZero: true,
  scaleToZeroGrace: seconds(30),
  lastPodRetention: seconds(0),
});

export const kpaTickPeriod: Ms = seconds(2);
const minTarget = 0.01;

export function parseKpaConfig(options: Partial<KpaConfig>): Result<KpaConfig> {
  const config = { ...defaultKpaConfig, ...options };
  const problem = problemOf(config);
  return problem === undefined
    ? ok(Object.freeze(config))
    : err(failure("kpa.config", `the KPA cannot run: ${problem}`));
}

function problemOf(config: KpaConfig): string | undefined {
  const { stableWindow, panicWindow, minScale, maxScale } = config;
  if (!(config.total > 0)) return `total is ${config.total}, give more than 0`;
  if (!(config.targetUtilization > 0 && config.targetUtilization <= 1))
    return `targetUtilization is ${config.targetUtilization}, give more than 0 and at most 1`;
  if (!(stableWindow >= seconds(6) && stableWindow <= seconds(3600) && stableWindow % 1000 === 0))
    return `stableWindow is ${stableWindow} ms, give whole seconds from 6 to 3600`;
  if (!(panicWindow >= 0.01 && panicWindow <= 1 && stableWindow * panicWindow >= 1000))
    return `panicWindow is ${panicWindow}, give 0.01 to 1 of the stable window, and at least a second`;
  if (!(config.panicThreshold >= 1.1 && config.panicThreshold <= 10))
    return `panicThreshold is ${config.panicThreshold}, give 1.1 to 10`;
  if (!(config.maxScaleUpRate > 1)) return `maxScaleUpRate is ${config.maxScaleUpRate}, give more than 1`;
  if (!(config.maxScaleDownRate > 1)) return `maxScaleDownRate is ${config.maxScaleDownRate}, give more than 1`;
  if (!(config.burstCapacity >= 0 || config.burstCapacity === -1))
    return `burstCapacity is ${config.burstCapacity}, give 0 or more, or -1 for no end`;
  for (const [name, count] of Object.entries({ minScale, maxScale, activationScale: config.activationScale }))
    if (!Number.isInteger(count) || count < 0) return `${name} is ${count}, give a whole number from 0`;
  if (maxScale !== 0 && minScale > maxScale) return `minScale ${minScale} is above maxScale ${maxScale}`;
  return undefined;
}

export interface KpaState {
  readonly stable: BucketWindow;
  readonly panic: BucketWindow;
  readonly panicSince: Ms | null;
  readonly maxPanicPods: number;
  readonly recentCounts: readonly RecordedCount[];
  readonly activity: { readonly isActive: boolean; readonly since: Ms };
}

/** A controller that starts beside more than one pod starts in panic, so that its lack of history does not shrink them. */
export function freshKpaState(config: KpaConfig, { now, readyPods }: { now: Ms; readyPods: number }): KpaState {
  return {
    stable: emptyWindow(Math.ceil(config.stableWindow / 1000)),
    panic: emptyWindow(Math.ceil((config.stableWindow * config.panicWindow) / 1000)),
    panicSince: readyPods > 1 ? now : null,
    maxPanicPods: readyPods,
    recentCounts: [],
    activity: { isActive: readyPods > 0, since: now },
  };
}

/** One scrape: the metric's sum over all pods at that instant. A value that is none is left out. */
export function kpaObserve(state: KpaState, { at, value }: { readonly at: Ms; readonly value: number }): KpaState {
  if (!Number.isFinite(value) || !Number.isFinite(at)) return state;
  return { ...state, stable: recordValue(state.stable, at, value), panic: recordValue(state.panic, at, value) };
}

export type KpaReason =
  | "panicking"
  | "scale-up-rate"
  | "scale-down-rate"
  | "scale-down-delayed"
  | "bounds"
  | "active-too-short"
  | "deactivating"
  | "grace";

export interface KpaStep {
  readonly desired: number;
  /** Before bounds and the delay of the last pod. */
  readonly decided: number;
  /** What is left of the burst capacity; negative puts the activator into the path. */
  readonly excessBurst: number;
  readonly reasons: readonly KpaReason[];
  readonly state: KpaState;
  readonly failure?: Failure;
}

export interface KpaInput {
  readonly now: Ms;
  readonly readyPods: number;
  /** Replicas asked for now: what is kept when the KPA may not or cannot decide. */
  readonly replicas: number;
}

export function kpaStep(config: KpaConfig, before: KpaState, input: KpaInput): KpaStep {
  const { now, readyPods } = input;
  if (isWindowEmpty(before.stable, now)) {
    const why = failure("kpa.no-data", "nothing was measured for a whole stable window: nothing changes", {
      retry: true,
    });
    return {
      desired: input.replicas,
      decided: input.replicas,
      excessBurst: 0,
      reasons: [],
      state: before,
      failure: why,
    };
  }
  const observed = { stable: windowAverage(before.stable, now), panic: windowAverage(before.panic, now) };
  const decision = decide(config, before, { now, readyPods, observed });
  const settled = settle(config, decision, input);
  return { ...settled, decided: decision.count, excessBurst: excessBurst(config, readyPods, observed.panic) };
}

interface Observed {
  readonly now: Ms;
  readonly readyPods: number;
  readonly observed: { readonly stable: number; readonly panic: number };
}

interface Decision {
  readonly count: number;
  readonly reasons: readonly KpaReason[];
  readonly state: KpaState;
}

function decide(config: KpaConfig, state: KpaState, { now, readyPods, observed }: Observed): Decision {
  const ready = Math.max(1, readyPods);
  const target = Math.max(minTarget, config.total * config.targetUtilization);
  // Rounded up and down, so that a slow rate can still move by one pod.
  const most = Math.ceil(config.maxScaleUpRate * ready);
  const least = config.isReachable ? Math.floor(ready / config.maxScaleDownRate) : 0;
  const wanted = { stable: Math.ceil(observed.stable / target), panic: Math.ceil(observed.panic / target) };
  const within = (count: number): number => {
    const bounded = Math.min(Math.max(count, least), most);
    return config.activationScale > 1 && count > 0 ? Math.max(bounded, config.activationScale) : bounded;
  };
  const allowed = { stable: within(wanted.stable), panic: within(wanted.panic) };

  let { panicSince, maxPanicPods } = state;
  if (wanted.panic / ready >= config.panicThreshold) panicSince = now;
  else if (panicSince !== null && panicSince + config.stableWindow < now) {
    panicSince = null;
    maxPanicPods = 0;
  }
  const reasons: KpaReason[] = [];
  let count = allowed.stable;
  if (panicSince !== null) {
    // Panic only grows: the stable window still remembers calmer times.
    maxPanicPods = Math.max(maxPanicPods, allowed.stable, allowed.panic);
    count = maxPanicPods;
    reasons.push("panicking");
  } else if (wanted.stable > most) reasons.push("scale-up-rate");
  else if (wanted.stable < least) reasons.push("scale-down-rate");

  let { recentCounts } = state;
  if (config.isReachable && config.scaleDownDelay > 0) {
    const tick = Math.trunc(Math.floor(now / 1000) / (kpaTickPeriod / 1000));
    recentCounts = recordCount(recentCounts, { tick, count }, Math.ceil(config.scaleDownDelay / kpaTickPeriod));
    const highest = recentCounts[0]?.count ?? count;
    if (highest !== count) reasons.push("scale-down-delayed");
    count = highest;
  }
  return { count, reasons, state: { ...state, panicSince, maxPanicPods, recentCounts } };
}

/** Bounds, then the way to zero: active for a stable window, then inactive for the grace period, then the last pod goes. */
function settle(
  config: KpaConfig,
  { count, reasons, state }: Decision,
  { now, replicas }: KpaInput,
): Omit<KpaStep, "decided" | "excessBurst"> {
  const ceiling = config.maxScale === 0 ? Number.POSITIVE_INFINITY : config.maxScale;
  const bounded = Math.min(Math.max(count, config.minScale), ceiling);
  const why: KpaReason[] = bounded === count ? [...reasons] : [...reasons, "bounds"];
  const { isActive, since } = state.activity;
  if (bounded !== 0) {
    const activity = isActive ? state.activity : { isActive: true, since: now };
    return { desired: bounded, reasons: why, state: { ...state, activity } };
  }
  if (!config.mayScaleToZero) return { desired: 1, reasons: [...why, "bounds"], state };
  if (isActive) {
    if (now - since < config.stableWindow) return { desired: 1, reasons: [...why, "active-too-short"], state };
    const activity = { isActive: false, since: now };
    return { desired: replicas, reasons: [...why, "deactivating"], state: { ...state, activity } };
  }
  const wait = Math.max(config.scaleToZeroGrace, config.isReachable ? config.lastPodRetention : 0);
  if (now - since < wait) return { desired: replicas, reasons: [...why, "grace"], state };
  return { desired: 0, reasons: why, state };
}

function excessBurst({ burstCapacity, total }: KpaConfig, readyPods: number, panicValue: number): number {
  if (burstCapacity === 0) return 0;
  if (burstCapacity < 0) return -1;
  return Math.floor(readyPods * total - burstCapacity - panicValue);
}
