/**
 * HPA and VPA side by side on one workload, as AWARE uses them: the fallback and the baseline of pod autoscaling.
 * Owns: their rhythms (15 s and 60 s), one state for both, what a new pod starts with.
 * Not here: either algorithm; the HPA's target (hpa-target.ts).
 *
 * The two do not know of each other: the VPA changes requests, so the HPA's utilisation changes under it. That is how
 * they are run today, and a fallback that coordinated them would be another controller.
 */
import type { Ms } from "../../base/index.ts";
import type { HpaState } from "./hpa/behavior.ts";
import type { HpaConfig } from "./hpa/config.ts";
import { hpaSyncPeriod } from "./hpa/config.ts";
import type { HpaInput, HpaStep } from "./hpa/hpa.ts";
import { freshHpaState, hpaStep } from "./hpa/hpa.ts";
import type { UpdaterConfig, VpaConfig, VpaPolicies } from "./vpa/config.ts";
import { defaultUpdaterConfig, defaultVpaConfig, policyFor, vpaTickPeriod } from "./vpa/config.ts";
import type { VpaObservation, VpaState } from "./vpa/history.ts";
import { freshVpaState, vpaForget, vpaObserve } from "./vpa/history.ts";
import type { ContainerRecommendation, ContainerSpec } from "./vpa/recommend.ts";
import { applyRecommendation, vpaRecommend } from "./vpa/recommend.ts";
import type { UpdaterPod } from "./vpa/update-order.ts";
import type { UpdaterDecision, UpdaterState } from "./vpa/updater.ts";
import { freshUpdaterState, vpaUpdaterDecide } from "./vpa/updater.ts";

export interface HpaVpaConfig {
  readonly hpa: HpaConfig;
  readonly vpa: VpaConfig;
  readonly updater: UpdaterConfig;
  readonly policies: VpaPolicies;
  /** What the workload's template asks for, by container. */
  readonly template: Readonly<Record<string, ContainerSpec>>;
}

export interface HpaVpaState {
  readonly hpa: HpaState;
  readonly vpa: VpaState;
  readonly updater: UpdaterState;
  readonly recommendation: readonly ContainerRecommendation[];
  readonly hpaSyncedAt: Ms | null;
  readonly vpaTickedAt: Ms | null;
}

export interface HpaVpaInput extends HpaInput {
  /** Usage and OOM kills since the last step. Usage counts at VPA ticks only; kills always. */
  readonly observations: readonly VpaObservation[];
  readonly updaterPods: readonly UpdaterPod[];
}

export interface HpaVpaStep {
  readonly replicas: number;
  /** What a pod that starts now gets, by container. */
  readonly newPods: Readonly<Record<string, ContainerSpec>>;
  readonly evict: readonly string[];
  readonly resize: readonly string[];
  /** Present when the controller's turn came in this step. */
  readonly hpa?: HpaStep;
  readonly updater?: UpdaterDecision;
  readonly state: HpaVpaState;
}

export function hpaVpaConfig(
  options: Pick<HpaVpaConfig, "hpa" | "template"> & Partial<Omit<HpaVpaConfig, "hpa" | "template">>,
): HpaVpaConfig {
  return { vpa: defaultVpaConfig, updater: { ...defaultUpdaterConfig, mode: "Auto" }, policies: {}, ...options };
}

/**
 * With history, as observations or as a state that has taken them in: the VPA of a workload that has run for a while.
 * A VPA without it is not a fair opponent.
 */
export function startHpaVpa(config: HpaVpaConfig, history: readonly VpaObservation[] | VpaState = []): HpaVpaState {
  const vpa = "aggregates" in history ? history : vpaObserve(config.vpa, freshVpaState, history).state;
  return {
    hpa: freshHpaState,
    vpa,
    updater: freshUpdaterState,
    recommendation: vpaRecommend(config.vpa, vpa, config.policies),
    hpaSyncedAt: null,
    vpaTickedAt: null,
  };
}

const isDue = (last: Ms | null, now: Ms, period: Ms): boolean => last === null || now - last >= period;

/** Whether the VPA's turn comes at this moment: only then are usage and the updater's pods looked at. */
export const isVpaDue = ({ vpaTickedAt }: HpaVpaState, now: Ms): boolean => isDue(vpaTickedAt, now, vpaTickPeriod);

export function hpaVpaStep(config: HpaVpaConfig, before: HpaVpaState, input: HpaVpaInput): HpaVpaStep {
  const { now } = input;
  const ticks = isVpaDue(before, now);
  const vertical = ticks ? vpaTick(config, before, input) : noteKills(config, before, input);
  const syncs = isDue(before.hpaSyncedAt, now, hpaSyncPeriod);
  const hpa = syncs ? hpaStep(config.hpa, before.hpa, input) : undefined;
  // States are written out: a spread of one costs several times as much, in every tick of every agent.
  const { vpa, updater, recommendation, vpaTickedAt } = vertical.state;
  return {
    replicas: hpa?.desired ?? input.replicas,
    newPods: newPodsOf(config, recommendation),
    evict: vertical.updater?.evict ?? [],
    resize: vertical.updater?.resize ?? [],
    ...(hpa && { hpa }),
    ...(vertical.updater && { updater: vertical.updater }),
    state: {
      hpa: hpa?.state ?? before.hpa,
      vpa,
      updater,
      recommendation,
      hpaSyncedAt: syncs ? now : before.hpaSyncedAt,
      vpaTickedAt,
    },
  };
}

interface Vertical {
  readonly state: Pick<HpaVpaState, "vpa" | "updater" | "recommendation" | "vpaTickedAt">;
  readonly updater?: UpdaterDecision;
}

function vpaTick(config: HpaVpaConfig, before: HpaVpaState, input: HpaVpaInput): Vertical {
  const observed = vpaObserve(config.vpa, before.vpa, input.observations).state;
  const livePods = input.updaterPods.map(({ name }) => name);
  const vpa = vpaForget(config.vpa, observed, { livePods, now: input.now });
  const recommendation = vpaRecommend(config.vpa, vpa, config.policies);
  const updater = vpaUpdaterDecide(config.updater, before.updater, {
    now: input.now,
    pods: input.updaterPods,
    configuredReplicas: input.replicas,
    recommendation,
    policies: config.policies,
  });
  return { state: { vpa, recommendation, updater: updater.state, vpaTickedAt: input.now }, updater };
}

/** Between ticks the recommender sleeps, but it is told of OOM kills when they happen. */
function noteKills(config: HpaVpaConfig, before: HpaVpaState, { observations }: HpaVpaInput): Vertical {
  if (observations.length === 0) return { state: before };
  const kills = observations.filter(({ kind }) => kind === "oom");
  return { state: kills.length === 0 ? before : { ...before, vpa: vpaObserve(config.vpa, before.vpa, kills).state } };
}

function newPodsOf(
  { template, policies, updater }: HpaVpaConfig,
  recommendation: readonly ContainerRecommendation[],
): Readonly<Record<string, ContainerSpec>> {
  if (updater.mode === "Off") return template;
  const specs: Record<string, ContainerSpec> = {};
  for (const container in template) {
    const spec = template[container] as ContainerSpec;
    const own = recommendation.find((one) => one.container === container);
    specs[container] = own === undefined ? spec : applyRecommendation(own.target, spec, policyFor(policies, container));
  }
  return specs;
}
