/** `coxswain bench autoscale`: what an agent's turn costs, and how fast its world and its bootstrapping are. */

import { bootstrapFigures } from "./autoscale/bootstrap.ts";
import { calibrationFigures } from "./autoscale/calibration.ts";
import { environmentFigures } from "./autoscale/environment.ts";
import { eventWorldFigures } from "./autoscale/event-world.ts";
import { fluidWorldFigures } from "./autoscale/fluid-world.ts";
import { pretrainingFigures } from "./autoscale/pretraining.ts";
import { transferFigures } from "./autoscale/transfer.ts";
import { turnFiguresOnLoopThread } from "./autoscale/turns-thread.ts";
import { type Bench, type BenchContext, type BenchReport, describeMachine, type Figure } from "./report.ts";

/** Parts run one after the other: each would disturb the others. */
const parts: readonly ((context: BenchContext) => Promise<readonly Figure[]>)[] = [
  turnFiguresOnLoopThread,
  eventWorldFigures,
  fluidWorldFigures,
  environmentFigures,
  pretrainingFigures,
  calibrationFigures,
  transferFigures,
  bootstrapFigures,
];

export const autoscaleBench: Bench = {
  title: "turns of autoscaling agents, steps of their world, and bootstrapping",
  async run(context): Promise<BenchReport> {
    const machine = describeMachine();
    const figures: Figure[] = [];
    for (const part of parts) figures.push(...(await part(context)));
    return { figures, absent: [], machine: machine() };
  },
};
