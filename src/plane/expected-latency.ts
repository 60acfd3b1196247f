/** What a task's model expects, as people read it. */
import type { Slo } from "../observe/telemetry/index.ts";

/** In milliseconds; null without a model, and where the objective is no latency. */
export const expectedLatency = (nearness: number | null | undefined, slo: Slo): number | null =>
  slo.kind === "latency" && typeof nearness === "number" && Number.isFinite(nearness) ? nearness * slo.target : null;
