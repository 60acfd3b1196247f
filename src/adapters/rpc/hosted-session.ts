/**
 * One environment that somebody far away plays.
 * Owns: logical time (episode, step), the memory from which a repeated call is answered, and where the session stands.
 * Not here: streams (env-server.ts), which sessions exist and for how long (session-table.ts).
 *
 * A call is named by its episode and step. What was asked last is kept together with its answer, as a promise: a repeat
 * that arrives while the world still moves waits for the same move.
 */
import { create } from "@bufbuild/protobuf";
import { CodedError, failure, failureOf } from "../../base/index.ts";
import type {
  AsyncEnv,
  Env,
  Reset as EnvReset,
  Step as EnvStep,
  FleetEnv,
  ResetRequest,
} from "../../learn/env/index.ts";
import {
  type Observed,
  ObservedSchema,
  type Reset,
  type ServerMessage,
  ServerMessageSchema,
  type Standing,
  StandingSchema,
  type Step,
} from "./generated/coxswain/env/v1/env_pb.ts";
import { actionsFromMessage, agentsToMessage } from "./wire-fleets.ts";
import { factsOf, problemMessage, publicFailure } from "./wire-problems.ts";
import { valueFromNumbers, valueToNumbers } from "./wire-spaces.ts";

/** What can be hosted: a simulated world, a live one whose steps take time, or one of many agents. */
export type HostedWorld = Env<unknown, unknown> | AsyncEnv<unknown, unknown> | FleetEnv<unknown, unknown>;

export const isFleet = (world: HostedWorld): world is FleetEnv<unknown, unknown> => "possibleAgents" in world;

export interface HostedSessionOptions {
  readonly world: HostedWorld;
  /** Told about what the world threw without a code: a defect, for the host's log. */
  readonly onDefect: (thrown: unknown) => void;
}

interface Remembered {
  readonly episode: number;
  /** Absent for a reset. */
  readonly step?: number;
  readonly action?: readonly number[];
  readonly actions?: Step["actions"];
  readonly answer: Promise<ServerMessage>;
}

type StepFacts = Pick<Standing, "previousObservation" | "action" | "decidedAtMs" | "previousReward">;

/** Failures after which the episode is as it was: the call was turned away before it reached the world. */
const HARMLESS = new Set(["space.mismatch", "env.needs-reset", "fleet.unknown-agent"]);

export class HostedSession {
  readonly world: HostedWorld;
  readonly #onDefect: (thrown: unknown) => void;
  #episode = 0;
  #nextStep = 0;
  #isBroken = false;
  #remembered: Remembered | undefined;
  #last: Observed | undefined;
  #stepFacts: StepFacts | undefined;

  constructor({ world, onDefect }: HostedSessionOptions) {
    this.world = world;
    this.#onDefect = onDefect;
  }

  /** Where the session stands once the world is at rest; undefined before the first reset. */
  async standing(): Promise<Standing | undefined> {
    await this.#remembered?.answer;
    return this.#last && create(StandingSchema, { last: this.#last, ...this.#stepFacts });
  }

  reset(call: Reset): Promise<ServerMessage> {
    const { episode } = call;
    const known = this.#remembered;
    if (known !== undefined && known.step === undefined && known.episode === episode) return known.answer;
    if (episode <= this.#episode) return this.#outOfStep(call);
    this.#episode = episode;
    this.#nextStep = 0;
    return this.#remember({ episode }, () => this.#carryOutReset(call));
  }

  step(call: Step): Promise<ServerMessage> {
    const { episode, step, action, actions } = call;
    const known = this.#remembered;
    const isRepeat =
      known !== undefined &&
      known.episode === episode &&
      known.step === step &&
      known.action !== undefined &&
      isSame(known.action, action) &&
      isSameFleet(known.actions ?? [], actions);
    if (isRepeat) return known.answer;
    if (episode !== this.#episode || step !== this.#nextStep) return this.#outOfStep(call);
    return this.#remember({ episode, step, action, actions }, () => this.#carryOutStep(call));
  }

  async close(): Promise<void> {
    await this.#remembered?.answer;
    await this.world.close();
  }

  /** Calls are carried out one after the other, also when a second stream took the session over in between. */
  #remember(call: Omit<Remembered, "answer">, carryOut: () => Promise<Observed>): Promise<ServerMessage> {
    const before = this.#remembered?.answer;
    const carried = async (): Promise<ServerMessage> => {
      await before;
      try {
        const value = await carryOut();
        return create(ServerMessageSchema, { answer: { case: "observed", value } });
      } catch (thrown) {
        const known = failureOf(thrown);
        if (known === undefined) this.#onDefect(thrown);
        if (known === undefined || !HARMLESS.has(known.code)) this.#isBroken = true;
        return problemMessage(publicFailure(thrown), call);
      }
    };
    const answer = carried();
    this.#remembered = { ...call, answer };
    return answer;
  }

  async #carryOutReset({ episode, seed, options }: Reset): Promise<Observed> {
    const request = { ...(seed === undefined ? {} : { seed: safeSeed(seed) }), ...(options && { options }) };
    const began = isFleet(this.world) ? resetFleet(this.world, request) : await resetAlone(this.world, request);
    this.#isBroken = false;
    this.#stepFacts = undefined;
    this.#last = create(ObservedSchema, { episode, ...began });
    return this.#last;
  }

  async #carryOutStep(call: Step): Promise<Observed> {
    const { episode, step, action, decidedAtMs } = call;
    const { world } = this;
    if (this.#isBroken) throw needsReset(world.spec.id);
    const moved = isFleet(world) ? stepFleet(world, call) : await stepAlone(world, call);
    const previous = this.#last;
    this.#nextStep = step + 1;
    this.#stepFacts = {
      previousObservation: previous?.observation ?? [],
      action,
      decidedAtMs,
      ...(previous?.step === undefined ? {} : { previousReward: previous.reward }),
    };
    this.#last = create(ObservedSchema, { episode, step, ...moved });
    return this.#last;
  }

  async #outOfStep(call: { readonly episode: number; readonly step?: number }): Promise<ServerMessage> {
    const asked = call.step === undefined ? "a reset" : `step ${call.step}`;
    const text = `${asked} of episode ${call.episode} came while the session stands before step ${this.#nextStep} of episode ${this.#episode}; one client plays a session, one call at a time`;
    return problemMessage(failure("env.out-of-step", text), call);
  }
}

type Alone = Exclude<HostedWorld, FleetEnv<unknown, unknown>>;
type Fleet = FleetEnv<unknown, unknown>;

async function resetAlone(world: Alone, request: ResetRequest) {
  const reset: EnvReset<unknown> = await world.reset(request);
  return { observation: valueToNumbers(world.observationSpace, reset.obs), info: factsOf(reset.info) };
}

async function stepAlone(world: Alone, { action }: Step) {
  const { obs, reward, end }: EnvStep<unknown> = await world.step(valueFromNumbers(world.actionSpace, action));
  const observation = valueToNumbers(world.observationSpace, obs);
  return { observation, reward, terminated: end === "terminated", truncated: end === "truncated" };
}

function resetFleet(world: Fleet, request: ResetRequest) {
  const { obs, info } = world.reset(request);
  const began = [...obs].map(([agent, seen]) => [agent, { obs: seen, reward: 0, end: "no" }] as const);
  return { agents: agentsToMessage(world, new Map(began)), info: factsOf(info) };
}

function stepFleet(world: Fleet, { actions }: Step) {
  const steps = world.step(actionsFromMessage(world, actions));
  const isOver = world.agents.length === 0;
  const terminated = isOver && [...steps.values()].every(({ end }) => end === "terminated");
  return { agents: agentsToMessage(world, steps), terminated, truncated: isOver && !terminated };
}

function isSameFleet(a: Step["actions"], b: Step["actions"]): boolean {
  return (
    a.length === b.length && a.every(({ agent, action }, i) => agent === b[i]?.agent && isSame(action, b[i].action))
  );
}

function needsReset(id: string): CodedError {
  return new CodedError(
    failure("env.needs-reset", `${id} failed in its last call and cannot step; call reset() first`),
  );
}

function safeSeed(seed: bigint): number {
  const number = Number(seed);
  if (Number.isSafeInteger(number)) return number;
  throw new CodedError(failure("env.options", `the seed ${seed} is too large; use one up to 2^53 - 1`));
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}
