/**
 * An environment in another process, as an `AsyncEnv`.
 * Owns: episodes and steps as logical time, and what the caller sees when something breaks:
 * - the connection breaks: nothing; the call is repeated and the host answers it once;
 * - the host forgot the session (`env.session-lost`): the episode ends truncated, `interruption` says why, and the next
 *   reset opens a new session;
 * - the host stays away: `env.unreachable`, and the next call must be a reset.
 * Not here: connections (remote-session.ts), recording (record-remote.ts).
 */
import { create, equals } from "@bufbuild/protobuf";
import {
  type Clock,
  CodedError,
  type Failure,
  failure,
  failureOf,
  type Ms,
  milliseconds,
  seededRng,
} from "../../base/index.ts";
import type {
  AsyncEnv,
  EnvConfig,
  EnvSpec,
  NumericValue,
  ResetRequest,
  Space,
  Step,
  Waiting,
} from "../../learn/env/index.ts";
import { systemClock } from "../runtime/index.ts";
import { type Observed, type Ready, ResetSchema, SpaceSchema, StepSchema } from "./generated/coxswain/env/v1/env_pb.ts";
import { RemoteSession } from "./remote-session.ts";
import { afterReset, afterStep, endOf, fromMessage, type Moment, type Standing } from "./remote-standing.ts";
import { jsonOf } from "./wire-problems.ts";
import { spaceFromMessage, valueFromNumbers, valueToNumbers } from "./wire-spaces.ts";

export interface RemoteEnvOptions {
  /** As `serveEnvs` reports it. */
  readonly url: string;
  /** Which environment of the host: `CartPole-v1`. */
  readonly id: string;
  readonly config?: EnvConfig;
  /** Where the host asks for one. */
  readonly accessToken?: string;
  /** From an earlier `resumeToken`: goes on in that session, or fails with `env.session-lost`. */
  readonly resumeToken?: string;
  /** How long one call may wait for a host that cannot be reached; 30 s unless said. */
  readonly patience?: Ms;
  readonly clock?: Clock;
}

export interface RemoteEnv<Obs, Action> extends AsyncEnv<Obs, Action> {
  /** Keep it where a crash does not reach it, and another process can go on in the same episode. */
  readonly resumeToken: string;
  readonly moment: Moment;
  /** The newest observation and the last step; undefined before the first reset. */
  readonly standing: Standing | undefined;
  /** Why the episode ended without the world's doing, until the next reset. */
  readonly interruption: Failure | undefined;
  /** How often a broken connection was replaced. */
  readonly reconnects: number;
  /** Goes away and leaves the session on the host for whoever has its token. */
  detach(): Promise<void>;
}

/** Opens a session, or goes on in one. */
export async function connectEnv<Obs = Float32Array, Action = NumericValue>(
  options: RemoteEnvOptions,
): Promise<RemoteEnv<Obs, Action>> {
  const { clock = systemClock, patience = milliseconds(30_000), config = {} } = options;
  const { url, id, accessToken, resumeToken } = options;
  const session = new RemoteSession({ url, id, config, accessToken, resumeToken, patience, clock });
  try {
    const ready = await session.ready();
    if (ready === undefined) throw new Error("a first connection always comes with an answer to Init");
    return new PlayedEnv(session, ready, clock) as unknown as RemoteEnv<Obs, Action>;
  } catch (thrown) {
    session.leave();
    throw thrown;
  }
}

/** Failures of a step after which the episode is as it was. */
const HARMLESS = new Set(["space.mismatch", "env.needs-reset"]);

class PlayedEnv implements RemoteEnv<unknown, unknown> {
  readonly spec: EnvSpec;
  readonly observationSpace: Space<unknown>;
  readonly actionSpace: Space<unknown>;
  readonly #session: RemoteSession;
  readonly #clock: Clock;
  readonly #described: Ready;
  #id: string;
  #episode: number;
  #nextStep: number;
  #standing: Standing | undefined;
  #interruption: Failure | undefined;
  /** Why the next call must be a reset. */
  #unknown: string | undefined;
  #isBusy = false;
  #isClosed = false;
  /** A new session after a loss must not play the old one's episodes again, so its seed is derived from these. */
  #seed = 0;
  #losses = 0;
  #mustSeed = false;

  constructor(session: RemoteSession, ready: Ready, clock: Clock) {
    const { id = "", maxSteps, rewardThreshold } = ready.spec ?? {};
    this.spec = {
      id,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(rewardThreshold === undefined ? {} : { rewardThreshold }),
    };
    this.observationSpace = spaceFromMessage(ready.observationSpace);
    this.actionSpace = spaceFromMessage(ready.actionSpace);
    this.#session = session;
    this.#clock = clock;
    this.#described = ready;
    this.#id = ready.session;
    this.#standing = fromMessage(ready.session, ready.standing);
    this.#episode = this.#standing?.episode ?? 0;
    this.#nextStep = this.#standing?.last === undefined ? 0 : this.#standing.last.step + 1;
  }

  get resumeToken(): string {
    return this.#session.resumeToken;
  }

  get moment(): Moment {
    return { session: this.#id, episode: this.#episode, step: this.#standing?.last?.step };
  }

  get standing(): Standing | undefined {
    return this.#standing;
  }

  get interruption(): Failure | undefined {
    return this.#interruption;
  }

  get reconnects(): number {
    return this.#session.reconnects;
  }

  async reset(request: ResetRequest = {}, { signal }: Waiting = {}) {
    const observed = await this.#exclusively("reset", () => this.#reset(request, signal));
    this.#standing = afterReset(this.#id, observed);
    this.#interruption = undefined;
    this.#unknown = undefined;
    return { obs: valueFromNumbers(this.observationSpace, observed.observation), info: observed.info ?? {} };
  }

  async step(action: unknown, { signal }: Waiting = {}): Promise<Step<unknown>> {
    return this.#exclusively("step", () => this.#step(action, signal));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#session.end();
  }

  async detach(): Promise<void> {
    this.#isClosed = true;
    this.#session.leave();
  }

  async #reset(request: ResetRequest, signal: AbortSignal | undefined): Promise<Observed> {
    const options = request.options && jsonOf(request.options, "the reset option");
    for (;;) {
      // Whatever becomes of this reset, its number is used up: a later one must not be taken for its repeat.
      this.#episode += 1;
      this.#nextStep = 0;
      this.#unknown = "has not been reset yet";
      const seed = request.seed ?? (this.#mustSeed ? this.#derivedSeed() : undefined);
      const value = create(ResetSchema, {
        episode: this.#episode,
        ...(seed === undefined ? {} : { seed: wholeSeed(seed) }),
        ...(options && { options }),
      });
      try {
        const observed = await this.#session.call({ case: "reset", value }, { episode: this.#episode }, signal);
        if (seed !== undefined) this.#seed = seed;
        this.#mustSeed = false;
        return observed;
      } catch (thrown) {
        if (failureOf(thrown)?.code !== "env.session-lost") throw thrown;
        await this.#openAnother(signal);
      }
    }
  }

  async #step(action: unknown, signal: AbortSignal | undefined): Promise<Step<unknown>> {
    if (this.#unknown !== undefined) throw needsReset(this.spec.id, this.#unknown);
    const standing = this.#standing;
    const [episode, step] = [this.#episode, this.#nextStep];
    const numbers = valueToNumbers(this.actionSpace, action).map(Math.fround);
    const value = create(StepSchema, { episode, step, action: numbers, decidedAtMs: this.#clock.now() });
    try {
      const observed = await this.#session.call({ case: "step", value }, { episode, step }, signal);
      if (standing !== undefined) this.#standing = afterStep(standing, value, observed);
      this.#nextStep = step + 1;
      const obs = valueFromNumbers(this.observationSpace, observed.observation);
      return { obs, reward: observed.reward, end: endOf(observed) };
    } catch (thrown) {
      const known = failureOf(thrown);
      if (known?.code === "env.session-lost" && standing !== undefined) return this.#cutShort(known, standing);
      if (known === undefined || !HARMLESS.has(known.code)) this.#unknown = "may or may not have made its last step";
      throw thrown;
    }
  }

  /** The world is gone and with it the step's result: what was seen last is the end of what is known. */
  #cutShort(why: Failure, { obs }: Standing): Step<unknown> {
    this.#interruption = why;
    this.#unknown = "has lost its session";
    return { obs: this.observationSpace.read(obs), reward: 0, end: "truncated" };
  }

  async #openAnother(signal: AbortSignal | undefined): Promise<void> {
    this.#session.forget();
    const ready = await this.#session.ready(signal);
    if (ready === undefined) return;
    if (!isSameWorld(ready, this.#described)) {
      const text = `the host's ${this.spec.id} has other spaces than before it restarted; connect anew`;
      throw new CodedError(failure("env.changed", text));
    }
    this.#id = ready.session;
    this.#episode = 0;
    this.#losses += 1;
    this.#mustSeed = true;
  }

  #derivedSeed(): number {
    return seededRng(this.#seed).fork(`session ${this.#losses}`).uint32();
  }

  async #exclusively<T>(call: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed)
      throw new CodedError(failure("env.closed", `${this.spec.id} was closed and cannot ${call}; make a new one`));
    if (this.#isBusy)
      throw new CodedError(
        failure("env.busy", `${this.spec.id} was asked to ${call} while another call is under way; wait for that one`),
      );
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }
}

function isSameWorld(a: Ready, b: Ready): boolean {
  const same = (x: Ready["actionSpace"], y: Ready["actionSpace"]): boolean =>
    x !== undefined && y !== undefined && equals(SpaceSchema, x, y);
  return same(a.observationSpace, b.observationSpace) && same(a.actionSpace, b.actionSpace);
}

function wholeSeed(seed: number): bigint {
  if (Number.isSafeInteger(seed)) return BigInt(seed);
  throw new CodedError(failure("env.options", `a seed is a whole number up to 2^53 - 1, got ${seed}`));
}

function needsReset(id: string, why: string): CodedError {
  return new CodedError(failure("env.needs-reset", `${id} ${why} and cannot step; call reset() first`));
}
