/**
 * Joint-action learning: one policy that sees and decides for all functions at once, for up to three of them.
 * Owns: the joint observation, the joint choice and its mask. Not here: agents of their own (fleet-training.ts).
 *
 * What SIMPPO sets out to replace (section 6.1): with seven choices each, three functions have 343 joint ones, four have 2,401.
 */
import { CodedError, failure, type Rng, seededRng, unwrap, type WorkloadId } from "../../base/index.ts";
import { type Learner, Ppo } from "../../learn/rl/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import {
  type Fleet,
  type FleetFunction,
  type FleetWorld,
  functionChoices,
  functionFeatures,
  functionsPpo,
} from "../tasks/functions/index.ts";
import type { EpisodeOptions, FleetEpisode } from "./fleet-training.ts";
import { Tally } from "./tally.ts";
import { usualCharge } from "./variants.ts";

export const MOST_JOINT = 3;

export interface JointTrainingOptions<F extends FleetFunction, W extends FleetWorld<F>> {
  /** Its choices are masked. */
  readonly fleet: Fleet<F, W>;
  readonly kernels: Kernels;
  readonly seed: number;
}

const CHOICES = functionChoices.length;

export class JointTraining<F extends FleetFunction, W extends FleetWorld<F>> {
  readonly learner: Learner;
  readonly #fleet: Fleet<F, W>;
  readonly #explorer: { readonly rng: Rng };
  readonly #joint: number;

  constructor({ fleet, kernels, seed }: JointTrainingOptions<F, W>) {
    const count = fleet.functions.length;
    if (count > MOST_JOINT)
      throw new CodedError(
        failure("agents.too-many-joint", `${count} functions are too many to decide for at once; have ${MOST_JOINT}`),
      );
    const rng = seededRng(seed).fork("joint");
    this.#fleet = fleet;
    this.#joint = CHOICES ** count;
    this.#explorer = { rng: rng.fork("choices") };
    fleet.reset({ seed: rng.fork("worlds").uint32() });
    this.learner = new Ppo({
      kernels,
      shape: {
        obs: count * functionFeatures.length + this.#joint,
        action: { kind: "discrete", n: this.#joint },
        actorContext: 0,
        criticContext: 0,
      },
      config: functionsPpo({ minibatch: 5 }),
      seed: rng.fork("learner").uint32(),
    });
  }

  episode({ steps, learning, explore = learning, onStep }: EpisodeOptions<W>): FleetEpisode {
    const fleet = this.#fleet;
    fleet.reset(steps === undefined ? {} : { steps });
    const tallies = fleet.agents.map((workload) => new Tally(workload));
    let obs = this.#observation();
    let updates = 0;
    for (let end: "no" | "truncated" = "no"; end === "no"; ) {
      const decision = unwrap(this.learner.act(obs, { explore, explorer: this.#explorer }));
      const choices = choicesOf(decision.action[0] as number, fleet.agents);
      const step = fleet.step(
        new Map([...choices].map(([workload, action]) => [workload, { action, charge: usualCharge }])),
      );
      end = step.end;
      onStep?.(fleet.world);
      let reward = 0;
      for (const [i, outcome] of [...step.outcomes.values()].entries()) {
        tallies[i]?.add(outcome);
        reward += outcome.reward / step.outcomes.size;
      }
      const nextObs = this.#observation();
      if (learning) {
        const { action, logProb } = decision;
        unwrap(this.learner.observe({ obs, action, logProb, reward, nextObs, end }));
        if (this.learner.update() !== undefined) updates += 1;
      }
      obs = nextObs;
    }
    const agents = tallies.map((tally) => tally.done());
    return { reward: agents.reduce((sum, { reward }) => sum + reward, 0) / agents.length, updates, agents };
  }

  setProgress(progress: number): void {
    this.learner.setProgress(progress);
  }

  dispose(): void {
    this.learner.dispose();
  }

  /** Everybody's features, then what may be done jointly: a joint choice may where each of its parts may. */
  #observation(): Float32Array {
    const seen = this.#fleet.agents.map((workload) => this.#fleet.seen(workload).values);
    const width = functionFeatures.length;
    const obs = new Float32Array(seen.length * width + this.#joint);
    for (const [i, values] of seen.entries()) obs.set(values.subarray(0, width), i * width);
    for (let joint = 0; joint < this.#joint; joint++) {
      const parts = partsOf(joint, seen.length);
      obs[seen.length * width + joint] = seen.every((values, i) => values[width + (parts[i] as number)] === 1) ? 1 : 0;
    }
    return obs;
  }
}

/** The digits of a joint choice, to the base of the choices that one has. */
function partsOf(joint: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(joint / CHOICES ** i) % CHOICES);
}

const choicesOf = (joint: number, agents: readonly WorkloadId[]): ReadonlyMap<WorkloadId, number> => {
  const parts = partsOf(joint, agents.length);
  return new Map(agents.map((workload, i) => [workload, parts[i] as number]));
};
