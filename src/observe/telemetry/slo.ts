/** What a workload promises its clients. Owns: the shape of an SLO. */
import type { Ms, PerSecond } from "../../base/index.ts";

export type Slo =
  | { readonly kind: "latency" /** 0.99 is the 99th. */; readonly percentile: number; readonly target: Ms }
  | { readonly kind: "throughput"; readonly target: PerSecond }
  | { readonly kind: "none" };
