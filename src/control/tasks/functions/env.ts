/**
 * One serverless function as an environment: a choice is made, guarded and carried out, and a control step later the
 * function is read, encoded and rewarded. Through the same task that agents have (task.ts).
 * Owns: episodes of one function. Not here: the function itself (managed-function.ts), many of them (fleet.ts), the world (a port).
 *
 * An illegal choice is a self-loop: nothing is done, and time passes all the same, since on a shared platform the others'
 * does.
 */
import type { Ms, Rng, WorkloadId } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng, unwrap } from "../../../base/index.ts";
import { discrete, type Env } from "../../../learn/env/index.ts";
import { type FunctionBounds, functionChoices, usualBounds } from "./action.ts";
import { awaitFirstLook, type FunctionsPort, ManagedFunction } from "./managed-function.ts";
import { functionSpace } from "./observation.ts";
import type { RewardForm } from "./reward.ts";
import { type BadChoices, functionsTask } from "./task.ts";

export interface FunctionsEnvOptions {
  /** Versioned, as in `FunctionsFluid-v0`. */
  readonly id: string;
  readonly workload: WorkloadId;
  /** A new world for an episode: everything random in it comes from this stream. */
  readonly makeWorld: (rng: Rng) => FunctionsPort;
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  readonly badChoices?: BadChoices;
  readonly reward?: RewardForm;
  readonly bounds?: FunctionBounds;
}

interface Running {
  readonly world: FunctionsPort;
  readonly managed: ManagedFunction;
}

export function functionsEnv(options: FunctionsEnvOptions): Env<Float32Array, number> {
  const { id, workload, makeWorld, badChoices = "masked", reward = "kept", bounds = usualBounds } = options;
  const { controlStep, episodeSteps } = options;
  const task = functionsTask({ badChoices, reward, bounds, controlStep, episodeSteps });
  const actionSpace = discrete(functionChoices.length);
  let rng = seededRng(0);
  let episode = 0;
  let phase: "new" | "running" | "closed" = "new";
  let steps = 0;
  let running: Running | undefined;

  const begin = (world: FunctionsPort): Running => {
    const managed = new ManagedFunction({ task, workload, bounds, reward });
    awaitFirstLook(world, [managed], { controlStep, id });
    return { world, managed };
  };

  const requireOpen = (): void => {
    if (phase === "closed")
      throw new CodedError(failure("env.closed", `${id} was closed and cannot be used; make a new one`));
  };

  return {
    spec: { id, maxSteps: episodeSteps },
    observationSpace: functionSpace({ hasMask: badChoices === "masked" }),
    actionSpace,
    reset({ seed, options: given = {} } = {}) {
      requireOpen();
      for (const key of Object.keys(given))
        throw new CodedError(failure("env.options", `${id} has no reset option '${key}'; it knows none`));
      phase = "new";
      if (seed !== undefined) {
        rng = seededRng(seed);
        episode = 0;
      }
      running = begin(makeWorld(rng.fork(episode)));
      episode += 1;
      steps = 0;
      phase = "running";
      return { obs: running.managed.seen.values.slice(), info: { workload } };
    },
    step(choice) {
      requireOpen();
      if (phase !== "running" || running === undefined)
        throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
      if (!actionSpace.contains(choice))
        throw new CodedError(
          failure("space.mismatch", `${id} got an action that is not ${actionSpace.describe()}; check the policy`),
        );
      phase = "new"; // and stays so when the world fails
      const { world, managed } = running;
      const carried = managed.choose(world, choice);
      world.advance(milliseconds(world.now + controlStep));
      const seen = unwrap(managed.look(world));
      steps += 1;
      const isLast = steps >= episodeSteps;
      phase = isLast ? "new" : "running";
      return { obs: seen.values.slice(), reward: managed.reward(carried), end: isLast ? "truncated" : "no" };
    },
    close() {
      phase = "closed";
      running = undefined;
    },
  };
}
