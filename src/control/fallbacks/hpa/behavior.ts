/**
 * From the count that the metrics ask for to the count that is set: stabilisation, rates, bounds.
 * Owns: the memory this needs (recent recommendations, scale events) and both paths, with and without `behavior`.
 * Not here: metrics (replicas.ts), when this runs at all (hpa.ts).
 */
import type { Ms } from "../../../base/index.ts";
import type { HpaBehavior, HpaConfig, HpaPolicy, HpaRules } from "./config.ts";

export interface HpaRecommendation {
  readonly at: Ms;
  readonly replicas: number;
}

export interface HpaScaleEvent {
  readonly at: Ms;
  /** Replicas added or removed, always positive. */
  readonly change: number;
}

export interface HpaState {
  readonly recommendations: readonly HpaRecommendation[];
  readonly scaleUps: readonly HpaScaleEvent[];
  readonly scaleDowns: readonly HpaScaleEvent[];
  /** The HPA itself went to zero, so it may come back; a person who set zero switched it off. */
  readonly scaledToZero: boolean;
}

export type HpaLimit =
  | "scale-up-stabilized"
  | "scale-down-stabilized"
  | "scale-up-rate"
  | "scale-down-rate"
  | "max-replicas"
  | "min-replicas";

export interface Normalized {
  readonly desired: number;
  readonly limits: readonly HpaLimit[];
  readonly recommendations: readonly HpaRecommendation[];
}

export interface Wish {
  readonly current: number;
  readonly wanted: number;
  readonly now: Ms;
}

export function normalize(wish: Wish, config: HpaConfig, state: HpaState): Normalized {
  return config.behavior === undefined
    ? withoutBehavior(wish, config, state)
    : withBehavior(wish, { ...config, behavior: config.behavior }, state);
}

/** Puts the new sample where an outdated one was, so that the list stays as short as the window. */
function remember<T>(list: readonly T[], sample: T, isOutdated: (entry: T) => boolean): readonly T[] {
  const next = list.slice();
  next[outdatedIndex(list, isOutdated)] = sample;
  return next;
}

function outdatedIndex<T>(list: readonly T[], isOutdated: (entry: T) => boolean): number {
  const index = list.findLastIndex(isOutdated);
  return index < 0 ? list.length : index;
}

function withoutBehavior({ current, wanted, now }: Wish, config: HpaConfig, state: HpaState): Normalized {
  const cutoff = now - config.downscaleStabilization;
  let stabilized = wanted;
  // In one pass, as `remember` does it in two: some twenty samples in every sync of every workload.
  const recommendations = state.recommendations.slice();
  let place = recommendations.length;
  for (let i = 0; i < recommendations.length; i++) {
    const { at, replicas } = recommendations[i] as HpaRecommendation;
    if (at < cutoff) place = i;
    else stabilized = Math.max(stabilized, replicas);
  }
  recommendations[place] = { at: now, replicas: wanted };

  const limits: HpaLimit[] = stabilized === wanted ? [] : ["scale-down-stabilized"];
  const rateLimit = Math.max(2 * current, 4);
  const ceiling = Math.min(rateLimit, config.maxReplicas);
  if (stabilized < config.minReplicas)
    return { desired: config.minReplicas, limits: [...limits, "min-replicas"], recommendations };
  if (stabilized > ceiling) {
    const limit = config.maxReplicas > rateLimit ? "scale-up-rate" : "max-replicas";
    return { desired: ceiling, limits: [...limits, limit], recommendations };
  }
  return { desired: stabilized, limits, recommendations };
}

type WithBehavior = HpaConfig & { readonly behavior: HpaBehavior };

function withBehavior(wish: Wish, config: WithBehavior, state: HpaState): Normalized {
  const { current, wanted, now } = wish;
  const upCutoff = now - config.behavior.scaleUp.stabilization;
  const downCutoff = now - config.behavior.scaleDown.stabilization;
  let lowest = wanted;
  let highest = wanted;
  for (const { at, replicas } of state.recommendations) {
    if (at > upCutoff) lowest = Math.min(lowest, replicas);
    if (at > downCutoff) highest = Math.max(highest, replicas);
  }
  const stabilized = Math.min(Math.max(current, lowest), highest);
  const recommendations = remember(
    state.recommendations,
    { at: now, replicas: wanted },
    ({ at }) => at < upCutoff && at < downCutoff,
  );
  const limits: HpaLimit[] = [];
  if (stabilized !== wanted) limits.push(wanted >= current ? "scale-up-stabilized" : "scale-down-stabilized");

  const rated = rate({ current, wanted: stabilized, now }, config, state);
  if (rated.limit !== undefined) limits.push(rated.limit);
  return { desired: rated.desired, limits, recommendations };
}

function rate(
  { current, wanted, now }: Wish,
  config: WithBehavior,
  state: HpaState,
): { readonly desired: number; readonly limit?: HpaLimit } {
  const history = { current, now, state };
  if (wanted > current) {
    // A limit below the current count only means that the period's quota is spent: hold, never shrink.
    const limit = Math.max(scaleUpLimit(config.behavior.scaleUp, history), current);
    const ceiling = Math.min(config.maxReplicas, limit);
    if (wanted > ceiling)
      return { desired: ceiling, limit: config.maxReplicas > limit ? "scale-up-rate" : "max-replicas" };
  } else if (wanted < current) {
    const limit = Math.min(scaleDownLimit(config.behavior.scaleDown, history), current);
    const floor = Math.max(config.minReplicas, limit);
    if (wanted < floor)
      return { desired: floor, limit: config.minReplicas < limit ? "scale-down-rate" : "min-replicas" };
  }
  return { desired: wanted };
}

interface History {
  readonly current: number;
  readonly now: Ms;
  readonly state: HpaState;
}

function periodStart({ period }: HpaPolicy, { current, now, state }: History): number {
  const changed = (events: readonly HpaScaleEvent[]): number =>
    events.reduce((sum, { at, change }) => (at > now - period ? sum + change : sum), 0);
  return current - changed(state.scaleUps) + changed(state.scaleDowns);
}

function scaleUpLimit({ select, policies }: HpaRules, history: History): number {
  if (select === "Disabled") return history.current;
  const limits = policies.map((policy) => {
    const start = periodStart(policy, history);
    // Rounded up, or a small percentage of few replicas could never grow at all.
    return policy.type === "Pods" ? start + policy.value : Math.ceil(start * (1 + policy.value / 100));
  });
  return select === "Min" ? Math.min(...limits) : Math.max(...limits);
}

function scaleDownLimit({ select, policies }: HpaRules, history: History): number {
  if (select === "Disabled") return history.current;
  const limits = policies.map((policy) => {
    const start = periodStart(policy, history);
    return policy.type === "Pods" ? start - policy.value : Math.trunc(start * (1 - policy.value / 100));
  });
  // The smallest change when shrinking is the highest of the floors.
  return select === "Min" ? Math.max(...limits) : Math.min(...limits);
}

/** Remembers a rescale for the rate policies. Without `behavior` nothing reads it, so nothing is kept. */
export function recordRescale(
  wish: { from: number; to: number; now: Ms },
  config: HpaConfig,
  state: HpaState,
): HpaState {
  const { from, to, now } = wish;
  if (config.behavior === undefined) return state;
  const grows = to > from;
  const rules = grows ? config.behavior.scaleUp : config.behavior.scaleDown;
  const longest = Math.max(...rules.policies.map(({ period }) => period));
  const event: HpaScaleEvent = { at: now, change: Math.abs(to - from) };
  const isOutdated = ({ at }: HpaScaleEvent): boolean => at < now - longest;
  return grows
    ? { ...state, scaleUps: remember(state.scaleUps, event, isOutdated) }
    : { ...state, scaleDowns: remember(state.scaleDowns, event, isOutdated) };
}
