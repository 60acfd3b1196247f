/**
 * Agents at work with nothing around them, for their cost.
 * Owns: a fleet that decides and reports, an agent that learns, timing and counting. Not here: what is claimed (simppo-overhead.ts).
 */
import { type Clock, milliseconds, parseWorkloadId, seededRng, unwrap, type WorkloadId } from "../../base/index.ts";
import { createCoordinator, variants } from "../../control/agents/index.ts";
import {
  functionChoices,
  functionFeatures,
  functionsLearner,
  sharedFeatures,
} from "../../control/tasks/functions/index.ts";
import { createLearner, type Learner } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";

const OBS = functionFeatures.length + functionChoices.length;
const CONTEXT = sharedFeatures.length;

function learnerOf(kernels: Kernels, seed: number): Learner {
  const { minibatch } = variants.simppo;
  const { algorithm, action } = functionsLearner("ppo", { badChoices: "masked", minibatch });
  return createLearner(algorithm, {
    kernels,
    shape: { obs: OBS, action, actorContext: 0, criticContext: CONTEXT },
    seed,
  });
}

/** All choices may be made. */
const observation = (value: number): Float32Array =>
  Float32Array.from({ length: OBS }, (_, i) => (i < functionFeatures.length ? value : 1));

/** Each decides by its own network, reports, and is told what the others are. */
export class FleetAtWork {
  readonly #agents: readonly { readonly id: WorkloadId; readonly incarnation: number; readonly learner: Learner }[];
  readonly #seen: readonly Float32Array[];
  readonly #values: readonly Float64Array[];
  readonly #coordinator = createCoordinator({
    features: sharedFeatures,
    deviations: false,
    expiry: milliseconds(Number.MAX_VALUE),
  });

  constructor(count: number, { kernels, seed }: { readonly kernels: Kernels; readonly seed: number }) {
    const rng = seededRng(seed).fork("fleet at work");
    this.#agents = Array.from({ length: count }, (_, i) => {
      const id = unwrap(parseWorkloadId(`f${i}`));
      const { incarnation } = unwrap(this.#coordinator.join(id, { now: milliseconds(0) }));
      return { id, incarnation, learner: learnerOf(kernels, rng.fork(i).uint32()) };
    });
    this.#seen = this.#agents.map(() => observation(rng.next()));
    this.#values = this.#agents.map(() => Float64Array.from({ length: CONTEXT }, () => rng.next()));
  }

  step(): void {
    const { step } = this.#coordinator;
    const now = milliseconds(0);
    for (const [i, { id, incarnation, learner }] of this.#agents.entries()) {
      unwrap(learner.act(this.#seen[i] as Float32Array, { explore: true }));
      const values = this.#values[i] as Float64Array;
      unwrap(this.#coordinator.report({ agent: id, incarnation, step, values, reward: 0.5 }, now));
    }
    this.#coordinator.closeStep(now);
    for (const { id } of this.#agents) unwrap(this.#coordinator.globalState(id));
  }

  dispose(): void {
    for (const { learner } of this.#agents) learner.dispose();
  }
}

export interface TimedRounds {
  readonly clock: Clock;
  readonly count: number;
  readonly lengthMs: number;
}

/** Seconds of one call, in the fastest round; the first is to warm up. */
export function fastest(work: () => void, { clock, count, lengthMs }: TimedRounds): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= count; round++) {
    const began = clock.monotonic();
    let calls = 0;
    let took = 0;
    do {
      work();
      calls += 1;
      took = clock.monotonic() - began;
    } while (took < lengthMs);
    if (round > 0) best = Math.min(best, took / calls);
  }
  return best / 1_000;
}

/** Seconds of an update and of taking in the steps that it learns from, in the fastest of the rounds. */
export function secondsOfUpdate(
  kernels: Kernels,
  { seed, rounds, steps }: { readonly seed: number; readonly rounds: TimedRounds; readonly steps: number },
): number {
  const learner = learnerOf(kernels, seed);
  try {
    return fastest(() => {
      observeEpisode(learner, steps);
      if (learner.update() === undefined) throw new RangeError(`an episode of ${steps} steps is no whole rollout`);
    }, rounds);
  } finally {
    learner.dispose();
  }
}

const context = new Float32Array(CONTEXT).fill(0.5);

/** Decisions are timed apart: here all steps have one and the same. */
function observeEpisode(learner: Learner, steps: number): void {
  const { action, logProb } = unwrap(learner.act(observation(0), { explore: true }));
  for (let i = 0; i < steps; i++) {
    const end = i === steps - 1 ? "truncated" : "no";
    const [obs, nextObs] = [observation(i / steps), observation((i + 1) / steps)];
    unwrap(learner.observe({ obs, action, logProb, reward: i % 3, nextObs, end, criticContext: context }));
  }
}

/** What the kernels' memory holds of an agent, and its steps of an episode outside of it: counted, so the same everywhere. */
export function agentBytes(kernels: Kernels, seed: number): number {
  const before = kernels.memory.used;
  const learner = learnerOf(kernels, seed);
  try {
    const inMemory = kernels.memory.used - before;
    observeEpisode(learner, 50);
    return inMemory + learner.save({ resumable: true }).length - learner.save().length;
  } finally {
    learner.dispose();
  }
}
