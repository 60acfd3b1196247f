/**
 * One controller over one workload, scored at the client's side.
 * Owns: the rhythm (a decision every 15 s, episodes of 100 steps in a life that goes on), the score of an episode.
 * Not here: what decides (drivers.ts), what it is played on (scene.ts).
 */
import type { Action, Allocation, NodeRoom } from "../../act/index.ts";
import type { Ms } from "../../base/index.ts";
import { milliseconds, perSecond } from "../../base/index.ts";
import type { AutoscaleTask } from "../../control/tasks/pods/index.ts";
import { rewardParts } from "../../control/tasks/pods/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import { sloPreservation } from "../../observe/telemetry/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import type { ClusterWorld, WorkloadTruth } from "../../sim/index.ts";

export interface View {
  readonly reading: WorkloadReading;
  readonly have: Allocation;
  readonly nodes: readonly NodeRoom[];
  readonly now: Ms;
}

export interface Driver {
  /** The answer has passed the guard. */
  decide(view: View): Action;
  /** An episode is over: a chance to learn, and to say in which stage it is. */
  endEpisode?(): void;
  readonly stage?: string;
}

/** One episode as the client and the bill saw it; nothing of it was shown to the controller. */
export interface EpisodeTruth {
  /** Sum of the paper's reward (no switch cost), from true latency and use. */
  readonly reward: number;
  /** Steps that ended with the SLO broken. */
  readonly violations: number;
  readonly steps: number;
  readonly cpuUsed: number;
  readonly cpuLimit: number;
  readonly memoryUsed: number;
  readonly memoryLimit: number;
  readonly cost: number;
  readonly oomKills: number;
  readonly stage: string;
}

const perStep = (truth: WorkloadTruth, count: number): number => (count * 1_000) / (truth.to - truth.from);

/** SLO preservation of one step, by the same rule that controllers use, from what really happened. */
export function truePreservation(slo: Scene["slo"], truth: WorkloadTruth): number {
  const { latency, arrived, completed, timedOut, dropped, lost } = truth;
  const failed = timedOut + dropped + lost;
  return (
    sloPreservation(slo, {
      latency,
      offered: perSecond(perStep(truth, arrived)),
      completed: perSecond(perStep(truth, completed)),
      failed: perSecond(perStep(truth, failed)),
    }) ?? 1
  );
}

/** A latency SLO is broken when more requests missed it than its percentile forgives. */
export function isViolated(slo: Scene["slo"], truth: WorkloadTruth): boolean {
  if (slo.kind === "latency") return truth.withinSlo !== null && truth.withinSlo < slo.quantile;
  return truePreservation(slo, truth) < 1;
}

export interface DriveOptions {
  readonly scene: Scene;
  readonly world: ClusterWorld;
  readonly driver: Driver;
  readonly task: Pick<AutoscaleTask, "alpha" | "controlStep" | "episodeSteps" | "utilisation">;
}

/** The next episode of a life that goes on: nothing is reset between episodes. */
export function driveEpisode({ scene, world, driver, task }: DriveOptions): EpisodeTruth {
  const { workload, slo } = scene;
  const sum = {
    reward: 0,
    violations: 0,
    cpuUsed: 0,
    cpuLimit: 0,
    memoryUsed: 0,
    memoryLimit: 0,
    cost: 0,
    oomKills: 0,
  };
  let stage = "";
  for (let step = 0; step < task.episodeSteps; step++) {
    const have = world.allocation(workload);
    const reading = world.read(workload);
    world.apply(driver.decide({ reading, have, nodes: world.nodes(workload), now: world.now }));
    // A new agent enters its first stage with its first decision.
    if (step === 0) stage = driver.stage ?? "";
    world.advance(milliseconds(world.now + task.controlStep));
    const truth = world.truth(workload);
    sum.reward += trueReward(task, slo, truth);
    if (isViolated(slo, truth)) sum.violations += 1;
    for (const key of ["cpuUsed", "cpuLimit", "memoryUsed", "memoryLimit", "cost", "oomKills"] as const)
      sum[key] += truth[key];
  }
  driver.endEpisode?.();
  return { ...sum, steps: task.episodeSteps, stage };
}

function trueReward(task: DriveOptions["task"], slo: Scene["slo"], truth: WorkloadTruth): number {
  const share = (used: number, limit: number) => (limit > 0 ? Math.min(1, used / limit) : 0);
  const measures = {
    preservation: truePreservation(slo, truth),
    margin: 0,
    cpu: share(truth.cpuUsed, truth.cpuLimit),
    memory: share(truth.memoryUsed, truth.memoryLimit),
  };
  const none = { replicas: 1, cpu: 1, memory: 1 } as Allocation;
  // The score is the paper's reward: head-room and the price of a switch are incentives, not facts about the client.
  return rewardParts({ ...task, headroom: 0, switchCost: 0 }, { measures, allocation: none, previous: none }).total;
}
