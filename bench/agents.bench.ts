/**
 * `coxswain bench agents`: what a fleet costs: a step of all its agents, an update of one, memory, and how that grows.
 * Peer: the paper's own figures, which are printed beside ours; nobody else has published 110 agents of this kind.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadKernels, tryKernels } from "../src/adapters/runtime/index.ts";
import { milliseconds, parseWorkloadId, seededRng, unwrap, type WorkloadId } from "../src/base/index.ts";
import { createCoordinator } from "../src/control/agents/index.ts";
import {
  functionChoices,
  functionFeatures,
  functionsPpo,
  sharedFeatures,
} from "../src/control/tasks/functions/index.ts";
import { Ppo } from "../src/learn/rl/index.ts";
import type { Kernels } from "../src/learn/tensor/index.ts";
import { agentsOverNats } from "./agents/over-nats.ts";
import { MICROSECONDS, MILLISECONDS, plainFigure } from "./comparison.ts";
import { interleave, local, type Rounds, type Timed } from "./measure.ts";
import { atMost, type Bench, type BenchReport, describeMachine, type Figure, round } from "./report.ts";
import type { Timing } from "./statistics.ts";

const OBS = functionFeatures.length + functionChoices.length;
const CONTEXT = sharedFeatures.length;
/** An episode of the paper, after which each agent learns. */
const STEPS = 50;

export const agentsBench: Bench = {
  title: "a fleet of agents: decisions and global states, an update, memory, on one thread; then over NATS",
  async run({ quick, signal, log }): Promise<BenchReport> {
    const machine = describeMachine();
    const rounds: Rounds = quick
      ? { count: 4, lengthMs: 60, warmupMs: 150, signal }
      : { count: 12, lengthMs: 200, warmupMs: 500, signal };
    log("measuring a step of 110 agents");
    const figures: Figure[] = [await stepOf(110, rounds)];
    for (const name of ["native", "wasm"] as const) {
      const kernels = tryKernels(name);
      if (!kernels.ok) continue;
      log(`measuring an update, ${name} kernels`);
      figures.push(await updateWith(kernels.value, rounds));
    }
    log("measuring memory");
    figures.push(memoryOf(200));
    log("measuring how a step grows");
    figures.push(...(await growth(quick ? 1_000 : 5_000, rounds)));
    log("measuring a step over NATS");
    const overNats = await agentsOverNats({ quick, signal });
    figures.push(...overNats.figures);
    return { figures, absent: overNats.absent, machine: machine() };
  },
};

/** All agents decide by their own networks and report; the coordinator adds up and tells each what the others are. */
class BenchFleet {
  readonly agents: readonly WorkloadId[];
  readonly learners: readonly Ppo[];
  readonly #coordinator = createCoordinator({
    features: sharedFeatures,
    deviations: false,
    expiry: milliseconds(Number.MAX_VALUE),
  });
  readonly #incarnations: readonly number[];
  readonly #observations: readonly Float32Array[];
  readonly #values: readonly Float64Array[];

  constructor(count: number, kernels: Kernels) {
    const rng = seededRng(7);
    this.agents = Array.from({ length: count }, (_, i) => unwrap(parseWorkloadId(`f${i}`)));
    this.learners = this.agents.map((_, i) => learnerOf(kernels, i));
    this.#incarnations = this.agents.map(
      (agent) => unwrap(this.#coordinator.join(agent, { now: milliseconds(0) })).incarnation,
    );
    this.#observations = this.agents.map(() => observation(rng.next()));
    this.#values = this.agents.map(() => Float64Array.from({ length: CONTEXT }, () => rng.next()));
  }

  step(): number {
    const { step } = this.#coordinator;
    let sum = 0;
    for (const [i, learner] of this.learners.entries())
      sum += unwrap(learner.act(this.#observations[i]!, { explore: true })).action[0]!;
    // All decide before anybody reports, as in a fleet's training.
    for (const [i, agent] of this.agents.entries())
      unwrap(
        this.#coordinator.report(
          { agent, incarnation: this.#incarnations[i]!, step, values: this.#values[i]!, reward: 0.5 },
          milliseconds(0),
        ),
      );
    this.#coordinator.closeStep(milliseconds(0));
    for (const agent of this.agents) sum += unwrap(this.#coordinator.globalState(agent))[0]!;
    return sum;
  }

  dispose(): void {
    for (const learner of this.learners) learner.dispose();
  }
}

const observation = (value: number): Float32Array =>
  Float32Array.from({ length: OBS }, (_, i) => (i < functionFeatures.length ? value : 1));

// One for all agents, as a fleet's training has it.
const shape = {
  obs: OBS,
  action: { kind: "discrete", n: functionChoices.length },
  actorContext: 0,
  criticContext: CONTEXT,
} as const;
const config = functionsPpo({ minibatch: 5 });

const learnerOf = (kernels: Kernels, seed: number): Ppo => new Ppo({ kernels, shape, config, seed });

async function stepOf(count: number, rounds: Rounds): Promise<Figure> {
  const fleet = new BenchFleet(count, loadKernels());
  const timing = await timed(stepping(fleet), rounds);
  fleet.dispose();
  const bound = atMost(5, "ms");
  const figure = plainFigure(
    { label: "ours", timing },
    { id: "agents.step", what: `decisions and global states of ${count} agents, a step`, unit: MILLISECONDS },
  );
  return {
    ...figure,
    peer: "the paper: 240 ms for one agent's",
    target: bound.text,
    holds: bound.accepts(figure.value),
  };
}

/** The update after an episode of fifty steps: 50 gradient steps of five rows. Only the update is timed. */
async function updateWith(kernels: Kernels, rounds: Rounds): Promise<Figure> {
  const learner = learnerOf(kernels, 1);
  const contender: Timed = {
    async time(_task, iterations) {
      const lap = { iterations, wallNs: 0, cpuNs: 0 };
      for (let i = 0; i < iterations; i++) {
        playEpisode(learner);
        const cpu = process.cpuUsage();
        const wall = process.hrtime.bigint();
        learner.update();
        lap.wallNs += Number(process.hrtime.bigint() - wall);
        const used = process.cpuUsage(cpu);
        lap.cpuNs += (used.user + used.system) * 1_000;
      }
      return lap;
    },
  };
  const timing = await timed(contender, rounds);
  learner.dispose();
  const bound = atMost(kernels.name === "native" ? 1 : 3, "ms");
  const figure = plainFigure(
    { label: "ours", timing },
    {
      id: `agents.update.${kernels.name}`,
      what: `a PPO update of an agent, ${kernels.name} kernels`,
      unit: MILLISECONDS,
    },
  );
  return { ...figure, peer: "the paper: 1,340 ms", target: bound.text, holds: bound.accepts(figure.value) };
}

function playEpisode(learner: Ppo): void {
  for (let i = 0; i < STEPS; i++) {
    const obs = observation(i / STEPS);
    const { action, logProb } = unwrap(learner.act(obs, { explore: true }));
    const end = i === STEPS - 1 ? "truncated" : "no";
    const nextObs = observation((i + 1) / STEPS);
    unwrap(learner.observe({ obs, action, logProb, reward: i % 3, nextObs, end, criticContext: CONTEXT_SEEN }));
  }
}

const CONTEXT_SEEN = new Float32Array(CONTEXT).fill(0.5);

/** Of networks, optimisers and a rollout; of the kernels' memory what is handed out. The native kernels take as much. */
function memoryOf(count: number): Figure {
  const kernels = unwrap(tryKernels("wasm"));
  const first = learnerOf(kernels, 0);
  const before = held(kernels);
  const learners = Array.from({ length: count }, (_, i) => learnerOf(kernels, i));
  const value = round((held(kernels) - before) / count / 1_024);
  for (const learner of [first, ...learners]) learner.dispose();
  const bound = atMost(256, "KiB");
  return {
    id: "agents.memory",
    what: `memory of an agent, of ${count}`,
    value,
    unit: "KiB",
    peer: "the paper: 2 MB",
    target: bound.text,
    holds: bound.accepts(value),
  };
}

/** After a collection: what earlier parts left behind would otherwise be taken off when it goes meanwhile. */
function held({ memory }: Kernels): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return memory.used + heapUsed + arrayBuffers;
}

/** Cost per agent of a step with many agents over that with a hundred. */
async function growth(most: number, rounds: Rounds): Promise<Figure[]> {
  const costs: number[] = [];
  const figures: Figure[] = [];
  for (const count of [100, most]) {
    const fleet = new BenchFleet(count, loadKernels());
    const timing = await timed(stepping(fleet), rounds);
    fleet.dispose();
    costs.push(timing.best / count);
    figures.push(
      plainFigure(
        { label: "ours", timing },
        {
          id: `agents.step.${count}`,
          what: `a step of one agent among ${count}`,
          unit: { ...MICROSECONDS, ns: 1e3 * count },
        },
      ),
    );
  }
  const [few = 1, many = 1] = costs;
  const bound = atMost(1.2, "times");
  const value = round(many / few);
  return [
    ...figures,
    {
      id: "agents.growth",
      what: `cost per agent among ${most}, over that among 100`,
      value,
      unit: "×",
      target: bound.text,
      holds: bound.accepts(value),
    },
  ];
}

const stepping = (fleet: BenchFleet): Timed =>
  local((iterations) => {
    let sum = 0;
    for (let i = 0; i < iterations; i++) sum += fleet.step();
    if (!Number.isFinite(sum)) throw new Error("a decision of the fleet is not a number");
  });

async function timed(contender: Timed, rounds: Rounds): Promise<Timing> {
  const { timings, failed } = await interleave([{ key: "ours", contender, task: "step" }], rounds);
  const timing = timings.get("ours");
  if (timing === undefined) throw new Error(`the fleet could not be measured: ${failed.get("ours")}`);
  return timing;
}
