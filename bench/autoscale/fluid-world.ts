/**
 * How fast the fluid rung runs: control steps of a world of one workload on one core, and what its tables cost at first.
 * A step is 15 s with its scrape; reading, scoring and acting are the environment's part (environment.ts).
 */

import { bytes, cores, milliseconds, parseWorkloadId, seconds, unwrap } from "../../src/base/index.ts";
import {
  type Application,
  type ClusterWorld,
  characterizationNodes,
  fluidWorld,
  generateApplications,
  meanWork,
} from "../../src/sim/index.ts";
import { interleave, local } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";
import type { Timing } from "../statistics.ts";

const TARGET = 100_000;
const PODS = [2, 3, 4, 6] as const;
const APPLICATIONS = 4;
const PER_SECOND = 20;
/** CPU work over limits: busy, and not overloaded. */
const UTILISATION = 0.5;
const STEP = seconds(15);
const shop = unwrap(parseWorkloadId("shop"));

export async function fluidWorldFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 400 : 1_000, signal };
  log("control steps of the fluid world");
  // Not seeds that studies report.
  const applications = generateApplications({ seed: 1_000, count: APPLICATIONS });
  const entries = applications.map((application, i) => {
    const world = worldOf(application, PODS[i % PODS.length] ?? 2);
    return { key: String(i), contender: local((steps) => pass(world, steps)), task: "steps" };
  });
  const { timings } = await interleave(entries, rounds);
  const mean = (of: "best" | "median") =>
    entries.reduce((sum, { key }) => sum + (timings.get(key) as Timing)[of], 0) / entries.length;
  const value = 1e9 / mean("best");
  return [
    {
      id: "autoscale.fluid-world",
      what: `control steps of the fluid world, one workload of 2 to 6 pods, mean of ${APPLICATIONS} applications, tables filled`,
      value: round(value),
      unit: "steps/s",
      median: round(1e9 / mean("median")),
      target: `at least ${TARGET} steps/s per core`,
      holds: value >= TARGET,
    },
  ];
}

function pass(world: ClusterWorld, steps: number): void {
  for (let i = 0; i < steps; i++) world.advance(milliseconds(world.now + STEP));
}

function worldOf(application: Application, pods: number): ClusterWorld {
  const { base, cache, perRequest } = application.memory;
  const size = cores((PER_SECOND * meanWork(application).cpu) / (1_000 * UTILISATION * pods));
  const memory = bytes(base + cache + 8 * application.threads * perRequest);
  return fluidWorld({
    seed: 1_000,
    start: milliseconds(0),
    nodes: characterizationNodes(),
    workloads: [
      {
        id: shop,
        application,
        load: { id: "steady", level: "high", perMinute: Float64Array.of(PER_SECOND), dispersion: 2 },
        slo: { kind: "latency", quantile: 0.99, target: application.timeout },
        initial: { replicas: pods, cpu: size, memory },
        resize: "in-place",
      },
    ],
  });
}
