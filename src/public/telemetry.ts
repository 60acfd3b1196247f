/** `coxswain/telemetry`: what is measured: readings, objectives, spans. */

export type {
  AnalysedTraces,
  InstanceReading,
  RequestReading,
  Slo,
  Span,
  TelemetrySource,
} from "../observe/telemetry/index.ts";
export { NameTable } from "../observe/telemetry/index.ts";
