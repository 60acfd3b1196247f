/**
 * One workload as an environment: a policy's action is decoded, guarded, carried out, and a control step later the
 * workload is read, encoded and rewarded.
 * Owns: that order, episodes, what an episode begins with.
 * Not here: the world (a port), the spaces and the arithmetic (autoscale-*.ts), names of environments (whoever composes
 * a world with this, since control knows none).
 */
import type { Allocation, GuardLimits, GuardState, Verdict } from "../../../act/index.ts";
import { freshGuardState, guard } from "../../../act/index.ts";
import type { Ms, Rng, WorkloadId } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng, unwrap } from "../../../base/index.ts";
import type { Env } from "../../../learn/env/index.ts";
import { actionSpace, decodeAction } from "./action.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Demand } from "./demand.ts";
import { demandOf, noDemand } from "./demand.ts";
import type { Observation, ObservationMemory } from "./observation.ts";
import { encodeObservation, freshObservationMemory, observationSpace } from "./observation.ts";
import type { RewardParts } from "./reward.ts";
import { rewardParts } from "./reward.ts";
import type { WorkloadPort } from "./workload-port.ts";

/** A new world for an episode: everything random in it comes from this stream. */
export type MakeWorld = (rng: Rng) => WorkloadPort;

export interface AutoscaleEnvOptions {
  /** Versioned, as in `AutoscaleFluid-v0`. */
  readonly id: string;
  readonly task: AutoscaleTask;
  readonly workload: WorkloadId;
  readonly makeWorld: MakeWorld;
  readonly limits: GuardLimits;
  /** Time that passes in a new world before an episode begins, so that pods run and there is something to measure. */
  readonly settle?: Ms;
  /** An episode without a seed goes on in the world of the last one, as in production; otherwise each has its own. */
  readonly continues?: boolean;
  /** Told of every step, for studies that score on more than the reward. */
  readonly onStep?: (step: AutoscaleStep) => void;
}

export interface AutoscaleStep {
  readonly verdict: Verdict<Allocation>;
  readonly reward: RewardParts;
  readonly observation: Observation;
  readonly world: WorkloadPort;
}

export type AutoscaleEnv = Env<Float32Array, Float32Array>;

/** What an episode needs of the world it runs in. */
interface Running {
  readonly world: WorkloadPort;
  guarded: GuardState;
  memory: ObservationMemory;
  /** As it was when the policy was last shown something. */
  demand: Demand;
}

/** Control steps that a new world is given to deliver its first metrics. */
const mostWaits = 40;

export function autoscaleEnv(options: AutoscaleEnvOptions): AutoscaleEnv {
  const { id, workload, makeWorld, limits, settle = milliseconds(0), continues = false, onStep } = options;
  // Where metrics are lost for long a fallback would act. There is none in here: an episode goes on with the last
  // values, since ending it, or a reward of nothing, would teach the policy about the pipeline and not the workload.
  const task: AutoscaleTask = { ...options.task, maxAge: milliseconds(Number.POSITIVE_INFINITY) };
  let rng = seededRng(0);
  let episode = 0;
  let phase: "new" | "running" | "ended" | "closed" = "new";
  let steps = 0;
  let running: Running | undefined;

  const observe = (inside: Running): Observation => {
    const { world, memory } = inside;
    const seen = unwrap(encodeObservation(task, world.read(workload), { memory, now: world.now }));
    inside.memory = seen.memory;
    inside.demand = seen.demand;
    return seen;
  };

  const begin = (): Running => {
    const world = makeWorld(rng.fork(episode));
    const inside: Running = {
      world,
      guarded: freshGuardState,
      memory: freshObservationMemory,
      demand: demandOf(noDemand),
    };
    world.advance(milliseconds(world.now + settle));
    for (let waits = 0; waits < mostWaits; waits += 1) {
      const seen = encodeObservation(task, world.read(workload), { memory: inside.memory, now: world.now });
      if (seen.ok) break;
      if (!seen.failure.retry) break; // and the first observation says why
      world.advance(milliseconds(world.now + task.controlStep));
    }
    return inside;
  };

  return {
    spec: { id, maxSteps: task.episodeSteps },
    observationSpace: observationSpace(task),
    actionSpace,
    reset({ seed, options: given = {} } = {}) {
      if (phase === "closed") throw closed(id);
      for (const key of Object.keys(given))
        throw new CodedError(failure("env.options", `${id} has no reset option '${key}'; it knows none`));
      phase = "new";
      if (seed !== undefined) {
        rng = seededRng(seed);
        episode = 0;
        running = undefined;
      }
      if (running === undefined || !continues) {
        running = begin();
        episode += 1;
      } else if (steps === 0) {
        // Reset twice in a row: time passes all the same, or the two episodes would begin alike.
        running.world.advance(milliseconds(running.world.now + task.controlStep));
      }
      const { values } = observe(running);
      steps = 0;
      phase = "running";
      return { obs: values, info: { workload, at: running.world.now } };
    },
    step(action) {
      if (phase === "closed") throw closed(id);
      if (phase !== "running" || running === undefined)
        throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
      if (!(action instanceof Float32Array && action.length === actionSpace.size && actionSpace.accepts(action)))
        throw new CodedError(
          failure("space.mismatch", `${id} got an action that is not ${actionSpace.describe()}; check the policy`),
        );
      phase = "new"; // and stays so when the world fails
      const { world } = running;
      const before = world.allocation(workload);
      const verdict = decideAndApply(running, decodeAction(task, action, running.demand));
      world.advance(milliseconds(world.now + task.controlStep));
      const observation = observe(running);
      const parts = rewardParts(task, {
        measures: observation.measures,
        allocation: verdict.setting,
        previous: before,
      });
      steps += 1;
      const isLast = steps >= task.episodeSteps;
      phase = isLast ? "ended" : "running";
      onStep?.({ verdict, reward: parts, observation, world });
      return { obs: observation.values, reward: parts.total, end: isLast ? "truncated" : "no" };
    },
    close() {
      phase = "closed";
      running = undefined;
    },
  };

  function decideAndApply(inside: Running, want: Allocation): Verdict<Allocation> {
    const { world, guarded: state } = inside;
    const { now } = world;
    const verdict = guard(
      // The policy is asked whatever the age of its data: see above.
      { workload, want, measuredAt: now },
      { limits, state, have: world.allocation(workload), nodes: world.nodes(workload), now },
    );
    unwrap(world.apply(verdict.action));
    inside.guarded = verdict.state;
    return verdict;
  }
}

const closed = (id: string): CodedError =>
  new CodedError(failure("env.closed", `${id} was closed and cannot be used; make a new one`));
