/**
 * One serverless function as an environment: a choice is made, guarded and carried out, and a control step later the
 * function is read, encoded and rewarded. Through the same task that agents have (task.ts).
 * Owns: that order, episodes, the penalty of the paper's arm. Not here: the world (a port), names of environments.
 *
 * An illegal choice is a self-loop: nothing is done, and time passes all the same, since on a shared platform the others'
 * does.
 */
import { freshGuardState, type GuardLimits, type GuardState, guard } from "../../../act/index.ts";
import type { Ms, Result, Rng, WorkloadId } from "../../../base/index.ts";
import { CodedError, failure, milliseconds, seededRng, unwrap } from "../../../base/index.ts";
import { discrete, type Env } from "../../../learn/env/index.ts";
import type { FunctionReading } from "../../../observe/telemetry/index.ts";
import { choiceProblem, type FunctionBounds, type FunctionSetting, functionChoices, usualBounds } from "./action.ts";
import { functionLimits } from "./limits.ts";
import { type FunctionSeen, functionSpace } from "./observation.ts";
import { functionReward } from "./reward.ts";
import { type BadChoices, functionsTask } from "./task.ts";

/** The part of a platform that one function's environment needs. Both rungs of the serverless world have it, and more. */
export interface FunctionsPort {
  readonly now: Ms;
  advance(until: Ms): void;
  read(workload: WorkloadId): FunctionReading;
  setting(workload: WorkloadId): FunctionSetting;
  apply(workload: WorkloadId, set: Partial<FunctionSetting>): Result<unknown>;
}

export interface FunctionsEnvOptions {
  /** Versioned, as in `FunctionsFluid-v0`. */
  readonly id: string;
  readonly workload: WorkloadId;
  /** A new world for an episode: everything random in it comes from this stream. */
  readonly makeWorld: (rng: Rng) => FunctionsPort;
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  readonly badChoices?: BadChoices;
  readonly bounds?: FunctionBounds;
}

interface Running {
  readonly world: FunctionsPort;
  guarded: GuardState;
  seen: FunctionSeen;
}

/** Control steps that a new world is given to deliver its first metrics. */
const MOST_WAITS = 10;

export function functionsEnv(options: FunctionsEnvOptions): Env<Float32Array, number> {
  const { id, workload, makeWorld, badChoices = "masked", bounds = usualBounds } = options;
  const { controlStep, episodeSteps } = options;
  const task = functionsTask({ badChoices, bounds, controlStep, episodeSteps });
  const limits: GuardLimits = unwrap(functionLimits(bounds));
  const actionSpace = discrete(functionChoices.length);
  let rng = seededRng(0);
  let episode = 0;
  let phase: "new" | "running" | "closed" = "new";
  let steps = 0;
  let running: Running | undefined;

  const look = (world: FunctionsPort, memory: unknown) => task.encode(world.read(workload), { memory, now: world.now });

  const begin = (world: FunctionsPort): Running => {
    for (let waits = 0; waits < MOST_WAITS; waits++) {
      world.advance(milliseconds(world.now + controlStep));
      const seen = look(world, task.freshMemory);
      if (seen.ok) return { world, guarded: freshGuardState, seen: seen.value };
    }
    throw new CodedError(failure("env.no-telemetry", `${id}: nothing was measured of '${workload}'; choose another`));
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
      return { obs: running.seen.values.slice(), info: { workload } };
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
      const isBad = act(running, choice);
      const { world } = running;
      world.advance(milliseconds(world.now + controlStep));
      running.seen = unwrap(look(world, running.seen.memory));
      steps += 1;
      const isLast = steps >= episodeSteps;
      phase = isLast ? "new" : "running";
      const reward = functionReward(running.seen.measures, { isPenalised: isBad });
      return { obs: running.seen.values.slice(), reward, end: isLast ? "truncated" : "no" };
    },
    close() {
      phase = "closed";
      running = undefined;
    },
  };

  /** Whether the choice was one that is not carried out. Masked policies cannot make one; whoever does all the same pays too. */
  function act(inside: Running, choice: number): boolean {
    const { world, seen, guarded: state } = inside;
    const { now } = world;
    const isBad = choiceProblem(choice, seen, bounds) !== undefined;
    const have = world.setting(workload);
    const want = task.decode([choice], seen);
    // A decision of this step rests on what this step was shown.
    const verdict = guard({ workload, want, measuredAt: now }, { limits, state, have, nodes: "unlimited", now });
    if (verdict.action.kind === "set") unwrap(world.apply(workload, verdict.action.set));
    inside.guarded = verdict.state;
    return isBad;
  }
}
