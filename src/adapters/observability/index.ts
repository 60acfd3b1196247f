/** The control plane seen by its operators: metrics for Prometheus, traces over OTLP. Start reading at plane-metrics.ts. */

export { catalog } from "./catalog.ts";
export { LoopMeter } from "./loop-meter.ts";
export { PlaneMetrics } from "./plane-metrics.ts";
export type { Tracing } from "./tracing.ts";
export { openTracing } from "./tracing.ts";
export { watchedByAll } from "./watchers.ts";
