/** The control plane seen by its operators: metrics for Prometheus, traces over OTLP. Start reading at plane-metrics.ts. */

export type { AnswerSeen } from "./answers.ts";
export type { MetricSpec } from "./catalog.ts";
export { catalog } from "./catalog.ts";
export type { LoopMeterOptions } from "./loop-meter.ts";
export { LoopMeter } from "./loop-meter.ts";
export type { PlaneMetricsOptions } from "./plane-metrics.ts";
export { PlaneMetrics } from "./plane-metrics.ts";
export type { TimingFigures } from "./registry.ts";
export type { Tracing, TracingOptions } from "./tracing.ts";
export { openTracing } from "./tracing.ts";
export type { LoopFigures, UpdateSeen } from "./updates.ts";
export { watchedByAll } from "./watchers.ts";
