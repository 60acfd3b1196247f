/**
 * One container's CPU limit, held at a throttle target: a Captain in the manner of Autothrottle (Wang et al., NSDI 2024, 3.2).
 * Owns: one decision from one scrape, and the memory it needs. Not here: who chooses the target (tower.ts).
 *
 * Throttled more than three times as often as the target allows: up at once, by as much as is too much. Otherwise down, by
 * half at most, to the peak of recent use and a margin of its deviations; the margin grows while throttling is above the
 * target and shrinks while it is below. A step down that was too far is taken back twice over at the next scrape.
 *
 * The authors' Captain reads its cgroup in every period of 100 ms and decides every second. This one reads what the metrics
 * pipeline delivers, like every other controller here: a scrape a second, half a second late. The scrape has the busiest
 * period in it, so the peak is theirs; the deviation is that of such peaks.
 */
import type { InstanceCounters } from "../../../../observe/telemetry/index.ts";

export interface CaptainConfig {
  /** α: throttling beyond so many times the target is answered with more. */
  readonly tolerated: number;
  /** β_max: a limit falls only to less than so much of itself; β_min: and never to less than so much at once. */
  readonly leastFall: number;
  readonly mostFall: number;
  /** Scrapes whose use is remembered. */
  readonly history: number;
  /** Deviations above the peak, to begin with. */
  readonly margin: number;
  /** Quota periods per second. */
  readonly periods: number;
}

/** All as in the authors' paper (3.2) and released code: their history is 50 periods. */
export const captainConfig: CaptainConfig = {
  tolerated: 3,
  leastFall: 0.9,
  mostFall: 0.5,
  history: 5,
  margin: 3,
  periods: 10,
};

export interface CaptainState {
  /** The last scrape: seconds, and its counters. */
  readonly last: { readonly at: number; readonly throttled: number } | null;
  /** Peaks by scrape, cores, the newest last. */
  readonly uses: readonly number[];
  readonly margin: number;
  /** The limit before the last step down, while that step may be taken back. */
  readonly before: number | null;
}

export const freshCaptain = ({ margin }: CaptainConfig): CaptainState => ({
  last: null,
  uses: [],
  margin,
  before: null,
});

export interface CaptainInput {
  readonly target: number;
  /** Cores, in force. */
  readonly limit: number;
  /** When the counters were read, seconds. */
  readonly at: number;
  readonly counters: Pick<InstanceCounters, "cpuPeakCores" | "cpuCfsThrottledPeriodsTotal">;
}

export interface CaptainStep {
  readonly limit: number;
  readonly why: "first-scrape" | "old-scrape" | "throttled" | "taken-back" | "idle" | "kept";
  readonly state: CaptainState;
}

export function captainStep(config: CaptainConfig, state: CaptainState, input: CaptainInput): CaptainStep {
  const { target, limit, at, counters } = input;
  const last = { at, throttled: counters.cpuCfsThrottledPeriodsTotal };
  if (state.last === null) return { limit, why: "first-scrape", state: { ...state, last } };
  const elapsed = at - state.last.at;
  if (!(elapsed > 0)) return { limit, why: "old-scrape", state };
  const ratio = (last.throttled - state.last.throttled) / (elapsed * config.periods);
  const uses = [...state.uses, counters.cpuPeakCores].slice(-config.history);
  const tooMuch = ratio - config.tolerated * target;
  const margin = Math.max(0, state.margin + (ratio - target));
  const next = { last, uses, margin, before: null };
  if (tooMuch > 0 && state.before !== null)
    return { limit: limit + 2 * (state.before - limit), why: "taken-back", state: next };
  if (tooMuch > 0) return { limit: limit * (1 + tooMuch), why: "throttled", state: next };
  const enough = Math.max(...uses) + margin * deviation(uses);
  if (uses.length < 2 || enough > config.leastFall * limit) return { limit, why: "kept", state: next };
  return {
    limit: Math.max(config.mostFall * limit, enough),
    why: "idle",
    state: { ...next, before: limit },
  };
}

/** Of a sample, as the authors take it. */
function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
