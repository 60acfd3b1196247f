/** `coxswain bench engine`: our engine against the C references, PyTorch and onnxruntime-node, in one run. */

import { agreement } from "./engine/agreement.ts";
import { Crew } from "./engine/crew.ts";
import {
  ddpgSection,
  gruSection,
  inferenceSection,
  kernelSection,
  learnerSection,
  memorySection,
  ppoSection,
} from "./engine/sections.ts";
import { type Bench, type BenchReport, describeMachine, type Figure } from "./report.ts";

/** Above this, ratios to large programs are flattering; see Machine.crowding. */
const BUSY = 1.25;

export const engineBench: Bench = {
  title: "the learning engine against C, PyTorch and onnxruntime, one thread unless said otherwise",
  async run(context): Promise<BenchReport> {
    const { quick, signal, log } = context;
    const machine = describeMachine();
    log("starting the contenders");
    const crew = await Crew.start(context);
    try {
      const rounds = (count: number, lengthMs: number, warmupMs: number) =>
        quick
          ? { count: Math.ceil(count / 4), lengthMs: lengthMs / 3, warmupMs: warmupMs / 3, signal }
          : { count, lengthMs, warmupMs, signal };
      const figures: Figure[] = [];
      const section = async (name: string, measure: () => Promise<Figure[]>) => {
        log(`measuring ${name}`);
        figures.push(...(await measure()));
      };
      await section("agreement", () => agreement(crew));
      await section("the DDPG update", () => ddpgSection(crew, rounds(15, 150, 600)));
      await section("inference", () => inferenceSection(crew, rounds(15, 100, 400)));
      await section("the PPO update", () => ppoSection(crew, rounds(15, 150, 600)));
      await section("the GRU", () => gruSection(crew, rounds(8, 300, 600)));
      await section("whole learners", () => learnerSection(crew, rounds(10, 150, 400)));
      await section("memory", () => memorySection(crew));
      await section("single kernels", () => kernelSection(crew, rounds(8, 20, 60)));
      if (crew.crowding > BUSY)
        log(`the machine is busy (wall time ${crew.crowding.toFixed(1)} × processor time): run again when it is not`);
      return { figures, absent: crew.absent, machine: machine(crew) };
    } finally {
      await crew.end();
    }
  },
};
