/** The benches by name; `coxswain bench [name]` runs one or all. */

import { agentsBench } from "./agents.bench.ts";
import { autoscaleBench } from "./autoscale.bench.ts";
import { engineBench } from "./engine.bench.ts";
import { envBench } from "./env.bench.ts";
import { metaBench } from "./meta.bench.ts";
import type { Bench } from "./report.ts";
import { rngBench } from "./rng.bench.ts";
import { storeBench } from "./store.bench.ts";
import { tracingBench } from "./tracing.bench.ts";
import { upBench } from "./up.bench.ts";

export type { Bench, BenchContext, BenchReport, Figure, Machine } from "./report.ts";

export const benches: Readonly<Record<string, Bench>> = {
  engine: engineBench,
  env: envBench,
  store: storeBench,
  rng: rngBench,
  autoscale: autoscaleBench,
  meta: metaBench,
  agents: agentsBench,
  tracing: tracingBench,
  up: upBench,
};
