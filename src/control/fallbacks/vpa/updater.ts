/**
 * How a running pod is given its recommendation: by eviction (a new pod starts with it) or in place.
 * Owns: how many pods may be disrupted at once, in-place resizes and eviction as their way out.
 * Not here: who deserves an update (update-order.ts), evicting and patching (adapters), eviction requirements by
 * direction and start-up boosts (alpha features, off by default).
 */
import type { Ms } from "../../../base/index.ts";
import type { UpdaterConfig } from "./config.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import type { LeftAlone, UpdaterInput, UpdaterPod } from "./update-order.ts";
import { updateOrder } from "./update-order.ts";

export interface UpdaterState {
  /** Since when a pod has been seen with a resize under way. */
  readonly resizingSince: Readonly<Record<string, Ms>>;
  /** Recommendations that a pod's node could not hold (mode InPlace). */
  readonly infeasible: Readonly<Record<string, readonly ContainerRecommendation[]>>;
}

export interface UpdaterDecision {
  /** In the order in which they are to be done. */
  readonly evict: readonly string[];
  readonly resize: readonly string[];
  readonly left: readonly { readonly pod: string; readonly why: LeftAlone }[];
  readonly state: UpdaterState;
}

export const freshUpdaterState: UpdaterState = Object.freeze({ resizingSince: {}, infeasible: {} });

export function vpaUpdaterDecide(config: UpdaterConfig, before: UpdaterState, input: UpdaterInput): UpdaterDecision {
  const left: { pod: string; why: LeftAlone }[] = [];
  const leaveAll = (why: LeftAlone, state: UpdaterState): UpdaterDecision => ({
    evict: [],
    resize: [],
    left: input.pods.map(({ name }) => ({ pod: name, why })),
    state,
  });
  const state = forgetGone(before, input);
  if (config.mode === "Off" || config.mode === "Initial") return leaveAll("mode", state);
  const inPlace = config.mode === "InPlace" || config.mode === "InPlaceOrRecreate";
  const isBelowMin = input.pods.length < config.minReplicas;
  if (isBelowMin && !(inPlace && config.inPlaceSkipsBudget)) return leaveAll("too-few-replicas", state);

  const round = new Round({ config, input, state, isBelowMin });
  const candidates = input.pods.filter((pod) => {
    const why = inPlace ? round.whyNotInPlace(pod) : round.whyNotEvict(pod);
    if (why !== undefined) left.push({ pod: pod.name, why });
    return why === undefined;
  });
  const { order, skipped } = updateOrder(candidates, config, input);
  left.push(...skipped);

  const resize: string[] = [];
  const evict: string[] = [];
  const toEvict: UpdaterPod[] = [];
  for (const pod of order) {
    if (!inPlace || round.isWayOutEviction(pod)) toEvict.push(pod);
    else if (round.tryResize(pod)) resize.push(pod.name);
    else left.push({ pod: pod.name, why: "budget" });
  }
  for (const pod of toEvict) {
    const why = round.tryEvict(pod);
    if (why === undefined) evict.push(pod.name);
    else left.push({ pod: pod.name, why });
  }
  return { evict, resize, left, state: round.state() };
}

/** A live pod's clock is never put back, not even by a resize that succeeded: so it is in the original. */
function forgetGone({ resizingSince, infeasible }: UpdaterState, { pods }: UpdaterInput): UpdaterState {
  if (isNone(resizingSince) && isNone(infeasible)) return freshUpdaterState;
  const live = new Set(pods.map(({ name }) => name));
  const keep = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => live.has(name)));
  return { resizingSince: keep(resizingSince), infeasible: keep(infeasible) };
}

function isNone(record: Readonly<Record<string, unknown>>): boolean {
  for (const _ in record) return false;
  return true;
}

interface Context {
  readonly config: UpdaterConfig;
  readonly input: UpdaterInput;
  readonly state: UpdaterState;
}

/** One round's budget: every disruption that is granted leaves less for the next pod. */
class Round {
  readonly #config: UpdaterConfig;
  readonly #input: UpdaterInput;
  readonly #isBelowMin: boolean;
  readonly #tolerated: number;
  readonly #running: number;
  readonly #resizingSince: Record<string, Ms>;
  readonly #infeasible: Record<string, readonly ContainerRecommendation[]>;
  #evicted = 0;
  #resized = 0;

  constructor({ config, input, state, isBelowMin }: Context & { readonly isBelowMin: boolean }) {
    this.#config = config;
    this.#input = input;
    this.#isBelowMin = isBelowMin;
    this.#tolerated = Math.trunc(input.configuredReplicas * config.evictionTolerance);
    this.#running = input.pods.filter(({ isPending }) => isPending !== true).length;
    this.#resizingSince = { ...state.resizingSince };
    this.#infeasible = { ...state.infeasible };
  }

  state(): UpdaterState {
    return { resizingSince: this.#resizingSince, infeasible: this.#infeasible };
  }

  #mayDisrupt(): boolean {
    const { configuredReplicas } = this.#input;
    const alive = this.#running - this.#evicted - this.#resized;
    if (alive > configuredReplicas - this.#tolerated) return true;
    // With few replicas the tolerance rounds to none; then one at a time, and only when all are there.
    return this.#tolerated === 0 && this.#running === configuredReplicas && this.#evicted === 0 && this.#resized === 0;
  }

  /** Whether a resize under way has failed for so long that eviction is the way out. */
  #isStuck({ name, resize = "none" }: UpdaterPod): boolean {
    const since = this.#resizingSince[name] ?? this.#input.now;
    this.#resizingSince[name] = since;
    if (!this.#mayDisrupt()) return false;
    if (resize === "deferred") return this.#input.now - since > this.#config.deferredTimeout;
    if (resize === "in-progress") return this.#input.now - since > this.#config.inProgressTimeout;
    return true;
  }

  whyNotEvict(pod: UpdaterPod): LeftAlone | undefined {
    if (pod.isPending === true) return undefined;
    if (this.#isBelowMin) return "too-few-replicas";
    if ((pod.resize ?? "none") !== "none") return this.#isStuck(pod) ? undefined : "resizing";
    return this.#mayDisrupt() ? undefined : "budget";
  }

  /** Why a pod is not even looked at in place. Mode InPlace keeps asking while a resize is under way; the other waits. */
  whyNotInPlace(pod: UpdaterPod): LeftAlone | undefined {
    if (this.#config.mode === "InPlace") {
      const last = this.#infeasible[pod.name];
      return last !== undefined && !asksLess(this.#input.recommendation, last) ? "infeasible-before" : undefined;
    }
    if (pod.isPending === true) return "pending";
    if ((pod.resize ?? "none") !== "none") return this.#isStuck(pod) ? undefined : "resizing";
    return this.#mayResize(pod) ? undefined : "budget";
  }

  #mayResize({ containers }: UpdaterPod): boolean {
    const restarts = containers.some(({ restartsOnResize }) => restartsOnResize === true);
    return (this.#config.inPlaceSkipsBudget && !restarts) || this.#mayDisrupt();
  }

  /** In place with eviction as the way out, a resize that is under way is never asked for again. */
  isWayOutEviction(pod: UpdaterPod): boolean {
    return this.#config.mode === "InPlaceOrRecreate" && (pod.resize ?? "none") !== "none";
  }

  tryResize(pod: UpdaterPod): boolean {
    if (this.#config.mode === "InPlace") {
      if (pod.resize === "infeasible") this.#infeasible[pod.name] = this.#input.recommendation;
    } else if (!this.#mayResize(pod)) return false;
    this.#resized += 1;
    return true;
  }

  tryEvict(pod: UpdaterPod): LeftAlone | undefined {
    const why = this.whyNotEvict(pod);
    if (why === undefined && pod.isPending !== true) this.#evicted += 1;
    return why;
  }
}

function asksLess(next: readonly ContainerRecommendation[], last: readonly ContainerRecommendation[]): boolean {
  return next.some(({ container, target }) => {
    const before = last.find((one) => one.container === container)?.target;
    return (["cpu", "memory"] as const).some((resource) => {
      const [now, then] = [target[resource], before?.[resource]];
      return now !== undefined && then !== undefined && now < then;
    });
  });
}
