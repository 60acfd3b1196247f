/**
 * A tick of the product's own agent, under `objective: cost`: the capacity model learns from a reading and plans, the
 * forecasters are judged and asked, HPA and VPA are stepped beside it, the plan is guarded.
 * A simulated workload is lived through first, so that model and forecasters have learned and a plan is in force; then the steps
 * that follow are passed again and again from there. The world itself is not in the figure.
 */

import { type Ms, milliseconds, ok, unwrap } from "../../src/base/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../src/control/fallbacks/index.ts";
import { Agent, modelGates, parseLifecycleProfile } from "../../src/control/lifecycle/index.ts";
import { autoscaleLearner, podsTask, productMode, usualThresholds } from "../../src/control/tasks/pods/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import { bounds, drawScene, guardLimits, openWorld, type Scene, taskOf } from "../../src/pretraining/index.ts";
import type { Timed } from "../measure.ts";

/** Of the same seed: two loads are high, two low, and one SLO is of throughput. Not a seed that studies report. */
export const COST_SLOTS = [0, 1, 2, 3] as const;
export type CostSlot = (typeof COST_SLOTS)[number];
const SEED = 1_000;
/** Before the figure is taken: most of a day. */
const LEARNED = 4_000;
const PASSED = 1_000;

/** An agent and its world, from the beginning: one step is a tick, its action, and the time until the next. */
export function costLife(slot: CostSlot, kernels: Kernels) {
  const scene = drawScene({ seed: SEED, slot, days: "varied" });
  const agent = agentOf(scene, kernels);
  const world = openWorld(scene, { seed: SEED, rung: "fluid" });
  const { workload } = scene;
  const step = () => {
    const reading = ok(world.read(workload));
    const input = { reading, have: ok(world.allocation(workload)), nodes: world.nodes(workload), now: world.now };
    const tick = agent.tick(input);
    unwrap(world.apply(tick.action));
    world.advance(milliseconds(world.now + 15_000) as Ms);
    return { input, tick };
  };
  return { agent, step };
}

export function costTicks(slot: CostSlot, kernels: Kernels): Timed {
  const { agent, step } = costLife(slot, kernels);
  for (let i = 0; i < LEARNED; i++) step();
  const learned = agent.save({ resumable: true });
  const steps = Array.from({ length: PASSED }, step);
  const planned = steps.filter(({ tick }) => tick.who === "learner" && tick.wished !== null).length;
  if (planned < 0.9 * PASSED) throw new Error(`a plan was in force in ${planned} of ${PASSED} steps of the bench only`);
  return {
    async time(_task, iterations) {
      let wallNs = 0;
      let cpuNs = 0;
      for (let done = 0; done < iterations; done += PASSED) {
        unwrap(agent.load(learned));
        const count = Math.min(PASSED, iterations - done);
        const cpu = process.cpuUsage();
        const wall = process.hrtime.bigint();
        for (let i = 0; i < count; i++) agent.tick((steps[i] as (typeof steps)[number]).input);
        wallNs += Number(process.hrtime.bigint() - wall);
        const used = process.cpuUsage(cpu);
        cpuNs += (used.user + used.system) * 1_000;
      }
      return { iterations, wallNs, cpuNs };
    },
  };
}

function agentOf(scene: Scene, kernels: Kernels) {
  const task = taskOf(scene, productMode);
  const hpa = parseHpaConfig({
    minReplicas: 2,
    maxReplicas: bounds.replicas.max,
    metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: 60 } }],
  });
  return new Agent({
    workload: scene.workload,
    task: podsTask(task),
    profile: unwrap(
      parseLifecycleProfile({
        ...usualThresholds.cost,
        maxReward: task.episodeSteps,
        gates: modelGates({ mode: "act", attainment: task.attainment }),
      }),
    ),
    limits: guardLimits,
    fallback: hpaVpaController({ hpa: unwrap(hpa), template: scene.initial, bounds }),
    createLearner: (attempt) => autoscaleLearner({ kernels, task, seed: SEED + attempt }),
    seed: SEED,
  });
}
