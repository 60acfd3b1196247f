/**
 * The controllers that people run today, as pure functions: each is a fallback of a task and a baseline of its studies.
 * Every one keeps its state as plain data, takes time as an argument and says why it decided what it decided.
 */

export { ensureController, ensureUtil } from "./ensure.ts";
export type { PodFallback } from "./fallback.ts";
export { startingWith } from "./fallback.ts";
export type { HpaState } from "./hpa/behavior.ts";
export type { HpaConfig } from "./hpa/config.ts";
export { hpaSyncPeriod, parseHpaConfig } from "./hpa/config.ts";
export { freshHpaState, hpaStep } from "./hpa/hpa.ts";
export { hpaPods, hpaReading } from "./hpa/workload.ts";
export type { SloMeasurement } from "./hpa-target.ts";
export { findHpaTarget } from "./hpa-target.ts";
export type { HpaVpaControllerState } from "./hpa-vpa-controller.ts";
export { hpaVpaController } from "./hpa-vpa-controller.ts";
export type { TypicalHpa } from "./typical-hpa.ts";
export { developersStart, hpaAlone, typicalHpa } from "./typical-hpa.ts";
export type { WarmHistory } from "./vpa/warm.ts";
