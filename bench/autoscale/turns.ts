/**
 * What an agent costs: its tick with the record of it, its whole turn in the loop, and a thousand turns at one moment.
 * A turn is all of it: reading and parsing, HPA and VPA, encoding, the policy, shield, guard, the actuator's answer, the
 * record on its way to the store, the event. The ports answer at once from memory; the store and the sink take
 * everything and keep nothing, for their own speed is another bench's.
 */

import { memoryActuator } from "../../src/act/index.ts";
import { loadKernels, systemClock } from "../../src/adapters/runtime/index.ts";
import {
  type AgentId,
  type Clock,
  type EpisodeId,
  type Ms,
  ok,
  seconds,
  type WorkloadId,
} from "../../src/base/index.ts";
import { Deadlines } from "../../src/control/loop/bounded-call.ts";
import { loopAgent } from "../../src/control/loop/index.ts";
import type { LoopIo } from "../../src/control/loop/io.ts";
import { Outbox } from "../../src/control/loop/outbox.ts";
import { RecallQueue } from "../../src/control/loop/recall-queue.ts";
import { Recorder } from "../../src/control/loop/recorder.ts";
import { Slot } from "../../src/control/loop/slot.ts";
import { takeTurn } from "../../src/control/loop/turn.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import type { TrajectoryStore } from "../../src/learn/trajectory/index.ts";
import { interleave, type Timed } from "../measure.ts";
import { type BenchContext, type Figure, round } from "../report.ts";
import type { Timing } from "../statistics.ts";
import { type BenchStage, benchAgent, CONTROL_STEP, here, Readings, STEPS_TO_STAGE } from "./agents.ts";
import { COST_SLOTS, costTicks } from "./cost-ticks.ts";

export const CROWD = 1_000;
/** A kernel set has at most 2 GiB, and a learner with its buffers for training takes 2.3 MiB. */
const AGENTS_PER_SET = 500;
/** As many records as a loop lets wait. */
const RECORDS = 65_536;
const TICK_TARGET_US = 50;
const COST_TARGET_US = 30;
const CROWD_TARGET_MS = 100;
const stages: readonly BenchStage[] = ["OFFLINE", "ONLINE", "SERVING"];

export async function turnFigures({ quick, signal, log }: BenchContext): Promise<Figure[]> {
  const kernels = loadKernels();
  const rounds = { count: quick ? 5 : 15, lengthMs: quick ? 60 : 200, warmupMs: quick ? 1_500 : 3_000, signal };
  log("turns of one agent in each stage");
  const single = await Promise.all(stages.map((stage) => crowdOf(1, { stage, kernels })));
  const ticks = await Promise.all(stages.map(async (stage) => ({ stage, time: await ticksOnly(stage, kernels) })));
  const { timings: one } = await interleave(
    [
      ...single.map((time, i) => ({ key: `turn ${stages[i]}`, contender: time, task: "turn" })),
      ...ticks.map(({ stage, time }) => ({ key: `tick ${stage}`, contender: time, task: "tick" })),
    ],
    rounds,
  );
  log("ticks by cost, around the capacity model's plan");
  const { timings: byCost } = await interleave(
    COST_SLOTS.map((slot) => ({ key: `cost ${slot}`, contender: costTicks(slot, kernels), task: "tick" })),
    rounds,
  );
  log(`turns of ${CROWD} agents at once`);
  const crowd = await crowdOf(CROWD, { stage: "ONLINE", kernels });
  const { timings: many } = await interleave([{ key: "crowd", contender: crowd, task: "turn" }], {
    ...rounds,
    count: 2 * rounds.count,
    lengthMs: 1,
  });
  return [
    ...stages.map((stage) => tickFigure(stage, one.get(`tick ${stage}`) as Timing)),
    costFigure(COST_SLOTS.map((slot) => byCost.get(`cost ${slot}`) as Timing)),
    ...stages.map((stage) => turnFigure(stage, one.get(`turn ${stage}`) as Timing)),
    crowdFigure(many.get("crowd") as Timing),
  ];
}

function turnFigure(stage: BenchStage, timing: Timing): Figure {
  const value = timing.best / 1_000;
  return {
    id: `autoscale.turn.${stage}`,
    what: `its whole turn in the loop, ${stage}: read and parse, the tick, act, record, tell`,
    value: round(value),
    unit: "µs",
    median: round(timing.median / 1_000),
  };
}

function tickFigure(stage: BenchStage, timing: Timing): Figure {
  const value = timing.best / 1_000;
  return {
    id: `autoscale.tick.${stage}`,
    what: `a tick of one agent, ${stage}: HPA and VPA, encode, policy, shield, guard, record`,
    value: round(value),
    unit: "µs",
    median: round(timing.median / 1_000),
    target: `at most ${TICK_TARGET_US} µs`,
    holds: value <= TICK_TARGET_US,
  };
}

/** Workloads differ in cost: the mean over them is what counts. */
function costFigure(timings: readonly Timing[]): Figure {
  const mean = (of: "best" | "median") => timings.reduce((sum, timing) => sum + timing[of], 0) / timings.length / 1_000;
  return {
    id: "autoscale.tick.cost",
    what: `a tick by cost with a plan in force: capacity model, forecasters, HPA and VPA, guard; mean of ${timings.length} workloads`,
    value: round(mean("best")),
    unit: "µs",
    median: round(mean("median")),
    target: `at most ${COST_TARGET_US} µs`,
    holds: mean("best") <= COST_TARGET_US,
  };
}

function crowdFigure(timing: Timing): Figure {
  const value = timing.best / 1e6;
  return {
    id: "autoscale.crowd",
    what: `turns of ${CROWD} agents in one process, all due at the same moment`,
    value: round(value),
    unit: "ms",
    median: round(timing.median / 1e6),
    target: `at most ${CROWD_TARGET_MS} ms on one core`,
    holds: value <= CROWD_TARGET_MS,
  };
}

interface CrowdOptions {
  readonly stage: BenchStage;
  readonly kernels: Kernels;
}

/** One iteration is one turn of every agent. */
async function crowdOf(count: number, { stage, kernels }: CrowdOptions): Promise<Timed> {
  const clock = new SteppedClock();
  const readings = new Readings(7);
  let set = kernels;
  const slots = Array.from({ length: count }, (_, i) => {
    if (i > 0 && i % AGENTS_PER_SET === 0) set = loadKernels();
    const workload = `workload-${i}` as WorkloadId;
    const made = benchAgent({ kernels: set, workload, stage, seed: i, bufferSize: 512 });
    const create = () => loopAgent({ ...made, estimate: { seed: i } });
    return new Slot({ agent: `agent-${i}` as AgentId, workload, create }, clock.now());
  });
  const deadlines = new Deadlines(systemClock);
  const store = blackHole();
  const io: LoopIo = {
    clock,
    deadlines,
    telemetry: { read: async (workload) => ok(readings.at(workload, clock.now())) },
    actuator: memoryActuator(slots.map(({ spec }) => [spec.workload, here] as const)),
    recorder: new Recorder({ store, clock: systemClock, capacity: RECORDS }),
    recalls: new RecallQueue({ store, clock: systemClock, deadlines }),
    outbox: new Outbox({ sink: { write: async () => {} }, deadlines }),
    limits: {
      look: seconds(3),
      act: seconds(5),
      state: seconds(5),
      clockTolerance: seconds(2),
      saveEvery: 20,
      restartAfter: 3,
    },
  };
  const turns = async (iterations: number): Promise<void> => {
    for (let i = 0; i < iterations; i++) {
      clock.step();
      await Promise.all(slots.map((slot) => takeTurn(slot, io)));
    }
  };
  if (stage === "SERVING") await turns(STEPS_TO_STAGE);
  else await turns(2);
  for (const slot of slots) {
    if (slot.last?.stage !== stage || slot.crashes > 0)
      throw new Error(`the bench's agent is in ${slot.last?.stage} after ${slot.crashes} crashes, not in ${stage}`);
  }
  return timedAsync(turns);
}

/** Agents alone, without ports: a tick and the record of it on its way to the store. */
async function ticksOnly(stage: BenchStage, kernels: Kernels): Promise<Timed> {
  const clock = new SteppedClock();
  const readings = new Readings(7);
  const workload = "workload" as WorkloadId;
  const agent = "agent" as AgentId;
  const recorder = new Recorder({ store: blackHole(), clock: systemClock, capacity: RECORDS });
  const made = benchAgent({ kernels, workload, stage, seed: 1, bufferSize: 512 });
  const run = async (iterations: number) => {
    for (let i = 0; i < iterations; i++) {
      clock.step();
      const at = clock.now();
      const { step, completed } = made.agent.tick({
        reading: ok(readings.at(workload, at)),
        have: ok(here),
        nodes: "unlimited",
        now: at,
      });
      // As the loop hands them over, copied field by field.
      if (completed) {
        const { step: number, reward, end, finalObs } = completed;
        const episode = `agent.${completed.episode}` as EpisodeId;
        recorder.complete(
          finalObs ? { episode, step: number, reward, end, finalObs } : { episode, step: number, reward, end },
        );
      }
      if (step) {
        const { step: number, obs, proposed, executed, logProb } = step;
        const episode = `agent.${step.episode}` as EpisodeId;
        recorder.append({
          episode,
          agent,
          step: number,
          at,
          obs,
          proposed,
          executed,
          logProb,
          reward: null,
          end: "no",
        });
      }
      // At the loop's pace a batch has few records; here thousands would gather, and the collector would be measured.
      if (i % 64 === 63) await recorder.settle();
    }
    await recorder.settle();
    if (recorder.stats.lost + recorder.stats.refused > 0) throw new Error("the bench lost records");
  };
  await run(STEPS_TO_STAGE);
  return timedAsync(run);
}

function timedAsync(run: (iterations: number) => Promise<void>): Timed {
  return {
    async time(_task, iterations) {
      const cpu = process.cpuUsage();
      const wall = process.hrtime.bigint();
      await run(iterations);
      const wallNs = Number(process.hrtime.bigint() - wall);
      const used = process.cpuUsage(cpu);
      return { iterations, wallNs, cpuNs: (used.user + used.system) * 1_000 };
    },
  };
}

/** Simulated time that moves a control step at a time; its timers are the machine's, so that their cost is real. */
class SteppedClock implements Clock {
  #now = 1_700_000_000_000;

  step(): void {
    this.#now += CONTROL_STEP;
  }

  now(): Ms {
    return this.#now as Ms;
  }

  monotonic(): Ms {
    return this.#now as Ms;
  }

  sleep(duration: Ms, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(duration, signal);
  }
}

function blackHole(): TrajectoryStore {
  const refuse = () => Promise.reject(new Error("this store keeps nothing to ask for"));
  return {
    append: async (records) => ({ added: records.length, repeated: 0 }),
    complete: async (completions) => ({ completed: completions.length, repeated: 0 }),
    recentRewards: refuse,
    recentEpisodes: async () => [],
    topEpisodes: refuse,
    bottomEpisodes: refuse,
    oldestEpisodes: refuse,
    sample: refuse,
    episode: refuse,
    counts: refuse,
    scan: () => {
      throw new Error("this store keeps nothing to scan");
    },
    forget: refuse,
    close: async () => {},
  };
}
