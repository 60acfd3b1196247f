/**
 * Many functions of one platform as an environment: all choose at once, a control step passes, all are looked at.
 * Owns: episodes of a fleet, and functions that come and go in between. Not here: one function (managed-function.ts), who
 * chooses (control/agents), the world (a port).
 *
 * The semantics are PettingZoo's parallel ones: `agents` are those who act now, each has its own observation and reward. A function
 * that joins is an agent from the step on in which something was measured of it. Rules take part with a setting instead of a choice.
 */
import type { Ms, Result, Rng, WorkloadId } from "../../../base/index.ts";
import { CodedError, err, failure, milliseconds, ok, seededRng, unwrap } from "../../../base/index.ts";
import { type FunctionBounds, type FunctionSetting, usualBounds } from "./action.ts";
import {
  awaitFirstLook,
  type Carried,
  type DecisionCharge,
  type FunctionsPort,
  ManagedFunction,
} from "./managed-function.ts";
import type { FunctionSeen } from "./observation.ts";
import type { RewardForm } from "./reward.ts";
import { type BadChoices, type FunctionsTask, functionsTask } from "./task.ts";

/** What a function is to the world that it runs on; a fleet only needs its name. */
export interface FleetFunction {
  readonly id: WorkloadId;
}

export interface FleetWorld<F extends FleetFunction> extends FunctionsPort {
  add(spec: F): Result<void>;
  remove(workload: WorkloadId): Result<void>;
}

export interface FleetOptions<F extends FleetFunction, W extends FleetWorld<F>> {
  /** Versioned, as in `FunctionsFleetFluid-v0`. */
  readonly id: string;
  readonly functions: readonly F[];
  /** A new world for an episode: everything random in it comes from this stream. */
  readonly makeWorld: (rng: Rng, functions: readonly F[]) => W;
  readonly controlStep: Ms;
  readonly episodeSteps: number;
  readonly badChoices?: BadChoices;
  readonly reward?: RewardForm;
  readonly bounds?: FunctionBounds;
}

/** The number of a choice, or what rules want. */
export type FleetAction = number | FunctionSetting;

export interface FleetDecision {
  readonly action: FleetAction;
  /** What it is charged for, in time of the platform; nothing unless given. */
  readonly charge?: DecisionCharge;
}

export interface FleetOutcome {
  readonly seen: FunctionSeen;
  /** The agent's own. */
  readonly reward: number;
  readonly carried: Carried;
}

export interface FleetStep {
  /** One for each agent that acted and is still there. */
  readonly outcomes: ReadonlyMap<WorkloadId, FleetOutcome>;
  readonly end: "no" | "truncated";
}

export class Fleet<F extends FleetFunction, W extends FleetWorld<F> = FleetWorld<F>> {
  readonly task: FunctionsTask;
  readonly episodeSteps: number;
  readonly #options: FleetOptions<F, W>;
  readonly #bounds: FunctionBounds;
  readonly #functions = new Map<WorkloadId, F>();
  readonly #managed = new Map<WorkloadId, ManagedFunction>();
  /** Joined, and nothing was measured of them yet. */
  readonly #waiting = new Map<WorkloadId, ManagedFunction>();
  #rng = seededRng(0);
  #episode = 0;
  #steps = 0;
  #world: W | undefined;

  constructor(options: FleetOptions<F, W>) {
    const {
      badChoices = "masked",
      reward = "kept",
      bounds = usualBounds,
      controlStep,
      episodeSteps,
      functions,
    } = options;
    this.#options = options;
    this.#bounds = bounds;
    this.episodeSteps = episodeSteps;
    this.task = functionsTask({ badChoices, reward, bounds, controlStep, episodeSteps });
    for (const spec of functions) this.#functions.set(spec.id, spec);
    if (this.#functions.size < functions.length)
      throw new CodedError(failure("fleet.duplicate", `${options.id}: two functions have one name; rename one`));
  }

  get agents(): readonly WorkloadId[] {
    return [...this.#managed.keys()];
  }

  get functions(): readonly F[] {
    return [...this.#functions.values()];
  }

  /** Of the episode under way. */
  get world(): W {
    if (this.#world === undefined)
      throw new CodedError(
        failure("env.needs-reset", `${this.#options.id} has no episode under way and cannot step; reset() it`),
      );
    return this.#world;
  }

  seen(agent: WorkloadId): FunctionSeen {
    const managed = this.#managed.get(agent);
    if (managed === undefined) throw new CodedError(noAgent(this.#options.id, agent));
    return managed.seen;
  }

  reset({ seed, steps }: { readonly seed?: number; readonly steps?: number } = {}): void {
    if (seed !== undefined) {
      this.#rng = seededRng(seed);
      this.#episode = 0;
    }
    const { makeWorld, controlStep, id, episodeSteps } = this.#options;
    const world = makeWorld(this.#rng.fork(this.#episode), this.functions);
    this.#episode += 1;
    this.#steps = steps ?? episodeSteps;
    this.#managed.clear();
    this.#waiting.clear();
    for (const workload of this.#functions.keys()) this.#managed.set(workload, this.#manage(workload));
    awaitFirstLook(world, [...this.#managed.values()], { controlStep, id });
    this.#world = world;
  }

  /** Agents without a decision leave things as they are. */
  step(decisions: ReadonlyMap<WorkloadId, FleetDecision>): FleetStep {
    const { world } = this;
    const { controlStep, id } = this.#options;
    if (this.#steps <= 0)
      throw new CodedError(failure("env.needs-reset", `${id} has no episode under way and cannot step; reset() it`));
    const carried = new Map<WorkloadId, Carried>();
    for (const [agent, { action, charge }] of decisions) {
      const managed = this.#managed.get(agent);
      if (managed === undefined) throw new CodedError(noAgent(id, agent));
      carried.set(
        agent,
        typeof action === "number" ? managed.choose(world, action, charge) : managed.want(world, action, charge),
      );
    }
    world.advance(milliseconds(world.now + controlStep));
    const outcomes = new Map<WorkloadId, FleetOutcome>();
    for (const [agent, managed] of this.#managed) {
      const seen = unwrap(managed.look(world));
      const done = carried.get(agent);
      if (done !== undefined) outcomes.set(agent, { seen, reward: managed.reward(done), carried: done });
    }
    for (const [agent, managed] of this.#waiting) {
      if (!managed.look(world).ok) continue;
      this.#waiting.delete(agent);
      this.#managed.set(agent, managed);
    }
    this.#steps -= 1;
    return { outcomes, end: this.#steps > 0 ? "no" : "truncated" };
  }

  /** Now, where an episode is under way, and in all later ones. */
  join(spec: F): Result<void> {
    if (this.#functions.has(spec.id))
      return err(failure("fleet.duplicate", `${spec.id} is in the fleet already; use another name`));
    if (this.#world !== undefined) {
      const added = this.#world.add(spec);
      if (!added.ok) return added;
      this.#waiting.set(spec.id, this.#manage(spec.id));
    }
    this.#functions.set(spec.id, spec);
    return ok(undefined);
  }

  leave(agent: WorkloadId): Result<void> {
    if (!this.#functions.has(agent)) return err(noAgent(this.#options.id, agent));
    if (this.#world !== undefined) {
      const removed = this.#world.remove(agent);
      if (!removed.ok) return removed;
    }
    for (const map of [this.#functions, this.#managed, this.#waiting]) map.delete(agent);
    return ok(undefined);
  }

  #manage(workload: WorkloadId): ManagedFunction {
    const { reward = "kept" } = this.#options;
    return new ManagedFunction({ task: this.task, workload, bounds: this.#bounds, reward });
  }
}

const noAgent = (id: string, agent: WorkloadId) =>
  failure("fleet.unknown-agent", `${id} has no agent '${agent}' now; take a name from its agents`);
