/**
 * The controllers that people run today, as pure functions: each is a fallback of a task and a baseline of its studies.
 * Every one keeps its state as plain data, takes time as an argument and says why it decided what it decided.
 */

export type { Fallback, FallbackReason, FallbackStart, FallbackStep } from "./fallback.ts";
export type { HpaLimit, HpaRecommendation, HpaScaleEvent, HpaState } from "./hpa/behavior.ts";
export type {
  HpaBehavior,
  HpaBehaviorOptions,
  HpaConfig,
  HpaMetric,
  HpaOptions,
  HpaPolicy,
  HpaResource,
  HpaRules,
  HpaTarget,
  HpaTotalTarget,
} from "./hpa/config.ts";
export { hpaSyncPeriod, milliBytes, parseHpaConfig } from "./hpa/config.ts";
export type { HpaInput, HpaReading, HpaReason, HpaStep } from "./hpa/hpa.ts";
export { freshHpaState, hpaStep } from "./hpa/hpa.ts";
export type { HpaContainer, HpaPod, PodReading } from "./hpa/pods.ts";
export type { HpaTargetFound, SloMeasurement } from "./hpa-target.ts";
export { findHpaTarget } from "./hpa-target.ts";
export type { HpaVpaConfig, HpaVpaInput, HpaVpaState, HpaVpaStep } from "./hpa-vpa.ts";
export { hpaVpaConfig, hpaVpaStep, startHpaVpa } from "./hpa-vpa.ts";
export type { HpaVpaControllerConfig, HpaVpaControllerState } from "./hpa-vpa-controller.ts";
export { hpaVpaController } from "./hpa-vpa-controller.ts";
export type { KpaConfig, KpaInput, KpaReason, KpaState, KpaStep } from "./kpa/kpa.ts";
export {
  defaultKpaConfig,
  freshKpaState,
  kpaObserve,
  kpaRpsTotal,
  kpaStep,
  kpaTickPeriod,
  parseKpaConfig,
} from "./kpa/kpa.ts";
export type { KpaControllerState, KpaFallbackState } from "./kpa-controller.ts";
export { kpaController } from "./kpa-controller.ts";
export type { AimdConfig } from "./services/aimd.ts";
export { aimdController, parseAimdConfig, tunedAimd } from "./services/aimd.ts";
export type { CaptainConfig } from "./services/captain.ts";
export { captainConfig } from "./services/captain.ts";
export type { ServiceHpaConfig } from "./services/service-hpa.ts";
export { serviceHpa, serviceHpaController } from "./services/service-hpa.ts";
export type { ThrottleTargetConfig, ThrottleTargetController, TowerMemory } from "./services/throttle-target.ts";
export { throttleTargetController } from "./services/throttle-target.ts";
export type { TowerArm, TowerConfig, TowerSample } from "./services/tower.ts";
export { armCount, armOf, throttleTargets, towerConfig } from "./services/tower.ts";
export type {
  ContainerPolicy,
  Percentiles,
  ResourceName,
  Resources,
  UpdateMode,
  UpdaterConfig,
  VpaConfig,
  VpaPolicies,
} from "./vpa/config.ts";
export { defaultUpdaterConfig, defaultVpaConfig, parseVpaConfig, vpaTickPeriod } from "./vpa/config.ts";
export type { Histogram, HistogramCheckpoint, HistogramShape } from "./vpa/histogram.ts";
export type {
  ContainerAggregate,
  ContainerHistory,
  Discarded,
  VpaCheckpoint,
  VpaObservation,
  VpaState,
} from "./vpa/history.ts";
export { freshVpaState, loadCheckpoint, saveCheckpoint, vpaForget, vpaObserve } from "./vpa/history.ts";
export type { ContainerRecommendation, ContainerSpec } from "./vpa/recommend.ts";
export { applyRecommendation, vpaRecommend } from "./vpa/recommend.ts";
export type { LeftAlone, ResizeStatus, UpdaterContainer, UpdaterInput, UpdaterPod } from "./vpa/update-order.ts";
export type { UpdaterDecision, UpdaterState } from "./vpa/updater.ts";
export { freshUpdaterState, vpaUpdaterDecide } from "./vpa/updater.ts";
export type { WarmHistory } from "./vpa/warm.ts";
export { warmVpaState } from "./vpa/warm.ts";
