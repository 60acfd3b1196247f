/**
 * One workload as an environment: a policy's action is decoded, guarded, carried out, and a control step later the
 * workload is read, encoded and rewarded. Through the same task that agents have (task.ts).
 * Owns: that order, episodes, what an episode begins with, and what a residual's reward is relative to.
 * Not here: the world (a port), the spaces and the arithmetic (the parts of the task), names of environments (whoever
 * composes a world with this, since control knows none).
 *
 * There is no fallback in here. Under the objective `cost` the bill is compared with that of the capacity model's plan at
 * the moment of the decision, so a residual of 0 that the guard lets through earns nothing and costs nothing. The plan
 * itself follows what was done before, and its drift is not in the reward: compare policies by their bills.
 */
import type { Allocation, GuardLimits, GuardState, Verdict } from "../../../act/index.ts";
import { freshGuardState, guard, reachOf } from "../../../act/index.ts";
import type { Ms, Result, Rng, WorkloadId } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng, unwrap } from "../../../base/index.ts";
import type { Env } from "../../../learn/env/index.ts";
import { box } from "../../../learn/env/index.ts";
import type { AutoscaleTask } from "./autoscale.ts";
import type { Observation } from "./observation.ts";
import { observationSpace } from "./observation.ts";
import type { RewardParts } from "./reward.ts";
import { rewardParts } from "./reward.ts";
import { podsTask } from "./task.ts";
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
  /** The objective `cost` has a total only. */
  readonly reward: Pick<RewardParts, "total"> & Partial<RewardParts>;
  readonly observation: Observation;
  readonly world: WorkloadPort;
}

export type AutoscaleEnv = Env<Float32Array, Float32Array>;

/** What an episode needs of the world it runs in. */
interface Running {
  readonly world: WorkloadPort;
  guarded: GuardState;
  memory: unknown;
  /** What the policy was last shown: what its next action is decoded by. */
  seen?: Observation;
}

/** Control steps that a new world is given to deliver its first metrics, and to show enough for a first plan. */
const mostWaits = 40;

export function autoscaleEnv(options: AutoscaleEnvOptions): AutoscaleEnv {
  const { id, workload, makeWorld, limits, settle = milliseconds(0), continues = false, onStep } = options;
  // Where metrics are lost for long a fallback would act. There is none in here: an episode goes on with the last
  // values, since ending it, or a reward of nothing, would teach the policy about the pipeline and not the workload.
  const settings: AutoscaleTask = { ...options.task, maxAge: milliseconds(Number.POSITIVE_INFINITY) };
  const task = podsTask(settings);
  const actionSpace = box({ low: -1, high: 1, size: task.actionSize });
  let rng = seededRng(0);
  let episode = 0;
  let phase: "new" | "running" | "ended" | "closed" = "new";
  let steps = 0;
  let running: Running | undefined;

  // Nobody else asks what the guard would leave.
  const isReachSeen = settings.features === "modelled";

  const look = ({ world, memory, guarded: state }: Running): Result<Observation> => {
    const { now } = world;
    const reading = world.read(workload);
    if (!isReachSeen) return task.encode(reading, { memory, now });
    const reach = reachOf({ limits, state, have: world.allocation(workload), now });
    return task.encode(reading, { memory, now, reach });
  };

  const observe = (inside: Running): Observation => {
    const seen = unwrap(look(inside));
    const work = task.advisor?.work(seen.memory);
    inside.memory = work ? task.advisor?.advised(seen.memory, task.advisor.advise(work.config)) : seen.memory;
    inside.seen = seen;
    return seen;
  };

  const begin = (): Running => {
    const world = makeWorld(rng.fork(episode));
    const inside: Running = { world, guarded: freshGuardState, memory: task.freshMemory };
    world.advance(milliseconds(world.now + settle));
    for (let waits = 0; waits < mostWaits; waits += 1) {
      const seen = look(inside);
      if (seen.ok ? (task.isReady?.(seen.value) ?? true) : !seen.failure.retry) break; // and the first observation says why
      if (seen.ok) inside.memory = seen.value.memory;
      world.advance(milliseconds(world.now + task.controlStep));
    }
    return inside;
  };

  return {
    spec: { id, maxSteps: task.episodeSteps },
    observationSpace: observationSpace(settings),
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
      if (phase !== "running" || running?.seen === undefined)
        throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
      if (!(action instanceof Float32Array && action.length === actionSpace.size && actionSpace.accepts(action)))
        throw new CodedError(
          failure("space.mismatch", `${id} got an action that is not ${actionSpace.describe()}; check the policy`),
        );
      phase = "new"; // and stays so when the world fails
      const { world, seen } = running;
      const before = world.allocation(workload);
      // Where there is no plan yet an action means nothing, and the guard leaves things as they are.
      const verdict = decideAndApply(running, task.decode(action, seen));
      world.advance(milliseconds(world.now + task.controlStep));
      const observation = observe(running);
      const parts = earned(observation, {
        setting: verdict.setting,
        previous: before,
        plan: seen.modelled?.plan?.setting,
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

  interface Done {
    readonly setting: Allocation;
    readonly previous: Allocation;
    readonly plan: Allocation | undefined;
  }

  function earned(observation: Observation, { setting, previous, plan }: Done): AutoscaleStep["reward"] {
    if (settings.objective === "paper")
      return rewardParts(settings, { measures: observation.measures, allocation: setting, previous });
    return { total: task.reward(observation, plan ? { setting, previous, fallback: plan } : { setting, previous }) };
  }

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
