/** Agents as production runs them (BCQ, HPA+VPA beside it, gates and shield), over readings made up beforehand. */

import type { Allocation } from "../../src/act/index.ts";
import {
  type Ms,
  mebibytes,
  millicores,
  milliseconds,
  perSecond,
  ratio,
  seconds,
  seededRng,
  unwrap,
  type WorkloadId,
} from "../../src/base/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../src/control/fallbacks/index.ts";
import { Agent, type LifecycleProfile, noGates, parseLifecycleProfile } from "../../src/control/lifecycle/index.ts";
import {
  actionSpace,
  autoscaleTask,
  observationSpace,
  podLimits,
  podsTask,
} from "../../src/control/tasks/pods/index.ts";
import { actionShapeOf, Bcq, bcqDefaults } from "../../src/learn/rl/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import type { PodReading, WorkloadReading } from "../../src/observe/telemetry/index.ts";

export const CONTROL_STEP = seconds(15);
export const here: Allocation = { replicas: 4, cpu: millicores(1_000), memory: mebibytes(512) };

const bounds = {
  replicas: { min: 1, max: 12 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(2_048) },
};
const task = unwrap(autoscaleTask({ slo: { kind: "latency", quantile: 0.99, target: milliseconds(200) }, bounds }));
const limits = unwrap(podLimits({ bounds }));

export type BenchStage = "OFFLINE" | "ONLINE" | "SERVING";

/** Thresholds that are met or never met, so that an agent comes to its stage and stays there. */
const lives: Readonly<Record<BenchStage, Partial<LifecycleProfile>>> = {
  OFFLINE: { bootstrap: true, online: { kind: "absolute", value: 200 } },
  ONLINE: { bootstrap: false, gates: noGates, serving: { kind: "absolute", value: 200 } },
  SERVING: {
    bootstrap: false,
    gates: noGates,
    window: 2,
    serving: { kind: "absolute", value: 0 },
    deviation: { kind: "absolute", value: 1_000 },
  },
};

export interface BenchAgentOptions {
  readonly kernels: Kernels;
  readonly workload: WorkloadId;
  readonly stage: BenchStage;
  readonly seed: number;
  /** Rows of the learner's replay; a turn's cost does not depend on it. */
  readonly bufferSize: number;
}

export function benchAgent({ kernels, workload, stage, seed, bufferSize }: BenchAgentOptions) {
  const shape = {
    obs: observationSpace(task).size,
    action: actionShapeOf(actionSpace),
    actorContext: 0,
    criticContext: 0,
  };
  const config = { ...bcqDefaults, bufferSize };
  const fallback = hpaVpaController({
    hpa: unwrap(
      parseHpaConfig({
        minReplicas: bounds.replicas.min,
        maxReplicas: bounds.replicas.max,
        metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: 60 } }],
      }),
    ),
    template: here,
    bounds,
  });
  const agent = new Agent({
    workload,
    task: podsTask(task),
    profile: unwrap(parseLifecycleProfile(lives[stage])),
    limits,
    fallback,
    createLearner: (attempt) => new Bcq({ kernels, shape, config, seed: seed + attempt }),
    seed,
  });
  return { agent, replaySize: bufferSize };
}

/** Steps after which a SERVING agent has shown its two episodes. */
export const STEPS_TO_STAGE = 2 * task.episodeSteps + 2;

/** Readings of a quiet workload: the SLO is kept, use moves a little, four pods run. */
export class Readings {
  readonly #made: readonly Omit<WorkloadReading, "at" | "workload">[];
  #next = 0;

  constructor(seed: number) {
    const rng = seededRng(seed);
    this.#made = Array.from({ length: 256 }, () => {
      const cpu = 0.4 + 0.3 * rng.next();
      const memory = 0.4 + 0.2 * rng.next();
      const pods = Array.from(
        { length: here.replicas },
        (_, i): PodReading => ({
          pod: `pod-${i}`,
          createdAt: 0 as Ms,
          readyAt: 1_000 as Ms,
          cpuLimit: here.cpu,
          memoryLimit: here.memory,
          cpu: millicores(cpu * here.cpu),
          memory: (memory * here.memory) as PodReading["memory"],
          restarts: 0,
        }),
      );
      return {
        spec: here,
        pods,
        use: { cpu: ratio(cpu), memory: ratio(memory), io: ratio(0.1), network: ratio(0.1) },
        latency: milliseconds(80 + 60 * rng.next()),
        offered: perSecond(15 + 10 * rng.next()),
        completed: perSecond(20),
        failed: perSecond(0),
        ooms: [],
      };
    });
  }

  at(workload: WorkloadId, at: Ms): WorkloadReading {
    const { spec, pods, use, latency, offered, completed, failed, ooms } =
      this.#made[this.#next++ % this.#made.length]!;
    // Written out, so that the bench does not measure a spread of its own.
    return { workload, at, spec, pods, use, latency, offered, completed, failed, ooms };
  }
}
