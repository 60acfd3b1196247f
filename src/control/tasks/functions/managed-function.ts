/**
 * One function under management on a simulated platform: it is looked at, a choice is made, guarded and carried out.
 * Owns: that order for one function. Not here: when time passes and what an episode is (env.ts alone, fleet.ts among others).
 */
import { freshGuardState, type GuardLimits, type GuardState, guard } from "../../../act/index.ts";
import {
  CodedError,
  failure,
  type Ms,
  milliseconds,
  type Result,
  unwrap,
  type WorkloadId,
} from "../../../base/index.ts";
import type { FunctionReading } from "../../../observe/telemetry/index.ts";
import { choiceProblem, type FunctionBounds, type FunctionSetting } from "./action.ts";
import { functionLimits } from "./limits.ts";
import type { FunctionSeen } from "./observation.ts";
import { functionReward, type RewardForm } from "./reward.ts";
import type { FunctionsTask } from "./task.ts";

/** How long a decision takes, in time of the platform, and whether it waits for those before it. */
export interface DecisionCharge {
  readonly takes: Ms;
  readonly inTurn: boolean;
}

/** The part of a platform that one function's management needs. Both rungs of the serverless world have it, and more. */
export interface FunctionsPort {
  readonly now: Ms;
  advance(until: Ms): void;
  read(workload: WorkloadId): FunctionReading;
  setting(workload: WorkloadId): FunctionSetting;
  apply(workload: WorkloadId, set: Partial<FunctionSetting>, charge?: DecisionCharge): Result<unknown>;
}

/** What was done with a decision. */
export interface Carried {
  /** It was illegal or undid the last one, and nothing was done. */
  readonly isBad: boolean;
  /** It was carried out as it was meant. */
  readonly asProposed: boolean;
  /** What the function has been asked to be from now on. */
  readonly setting: FunctionSetting;
}

export interface ManagedFunctionOptions {
  readonly task: FunctionsTask;
  readonly workload: WorkloadId;
  readonly bounds: FunctionBounds;
  readonly reward: RewardForm;
}

/** A fallback may move further in a step than a choice: as far as there is room. */
const RULE_STEPS = 1_000;

export class ManagedFunction {
  readonly workload: WorkloadId;
  readonly #task: FunctionsTask;
  readonly #bounds: FunctionBounds;
  readonly #reward: RewardForm;
  readonly #limits: { readonly choices: GuardLimits; readonly rules: GuardLimits };
  #guarded: GuardState = freshGuardState;
  #seen: FunctionSeen | undefined;

  constructor({ task, workload, bounds, reward }: ManagedFunctionOptions) {
    this.workload = workload;
    this.#task = task;
    this.#bounds = bounds;
    this.#reward = reward;
    this.#limits = {
      choices: unwrap(functionLimits(bounds)),
      rules: unwrap(functionLimits(bounds, { steps: RULE_STEPS })),
    };
  }

  get seen(): FunctionSeen {
    if (this.#seen === undefined)
      throw new CodedError(failure("env.needs-reset", `nothing was seen of ${this.workload} yet; look at it first`));
    return this.#seen;
  }

  /** A failure where nothing was measured yet; what was seen before stays. */
  look(world: FunctionsPort): Result<FunctionSeen> {
    const memory = this.#seen === undefined ? this.#task.freshMemory : this.#seen.memory;
    const seen = this.#task.encode(world.read(this.workload), { memory, now: world.now });
    if (seen.ok) this.#seen = seen.value;
    return seen;
  }

  /** Masked policies cannot make a bad choice; whoever does all the same has done nothing. */
  choose(world: FunctionsPort, choice: number, charge?: DecisionCharge): Carried {
    const { seen } = this;
    const isBad = choiceProblem(choice, seen, this.#bounds) !== undefined;
    const { setting, asProposed } = this.#apply(world, this.#task.decode([choice], seen), {
      limits: this.#limits.choices,
      charge,
    });
    return { isBad, asProposed: asProposed && !isBad, setting };
  }

  /** What rules want, in one go. */
  want(world: FunctionsPort, want: FunctionSetting, charge?: DecisionCharge): Carried {
    return { isBad: false, ...this.#apply(world, want, { limits: this.#limits.rules, charge }) };
  }

  reward({ isBad }: Pick<Carried, "isBad">): number {
    return functionReward(this.seen.measures, { form: this.#reward, isPenalised: isBad });
  }

  costOf(setting: FunctionSetting): number {
    return this.#task.costOf(setting, this.seen);
  }

  #apply(
    world: FunctionsPort,
    want: FunctionSetting,
    { limits, charge }: { readonly limits: GuardLimits; readonly charge: DecisionCharge | undefined },
  ): Omit<Carried, "isBad"> {
    const { workload } = this;
    const { now } = world;
    const have = world.setting(workload);
    // A decision of this step rests on what this step was shown.
    const verdict = guard(
      { workload, want, measuredAt: now },
      { limits, state: this.#guarded, have, nodes: "unlimited", now },
    );
    this.#guarded = verdict.state;
    const set = verdict.action.kind === "set" ? verdict.action.set : {};
    if (verdict.action.kind === "set") unwrap(world.apply(workload, set, charge));
    const setting = { ...have, ...set };
    const asProposed =
      setting.shares === want.shares && setting.memory === want.memory && setting.containers === want.containers;
    return { asProposed, setting };
  }
}

/** Control steps that a new world is given to deliver its first metrics. */
const MOST_WAITS = 10;

/** Time passes until something was measured of all of them. */
export function awaitFirstLook(
  world: FunctionsPort,
  managed: readonly ManagedFunction[],
  { controlStep, id }: { readonly controlStep: Ms; readonly id: string },
): void {
  let missing = managed;
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    world.advance(milliseconds(world.now + controlStep));
    missing = managed.filter((one) => !one.look(world).ok);
    if (missing.length === 0) return;
  }
  const names = missing.map(({ workload }) => `'${workload}'`).join(", ");
  throw new CodedError(failure("env.no-telemetry", `${id}: nothing was measured of ${names}; choose another`));
}
