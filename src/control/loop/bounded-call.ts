/**
 * Calls to the outside that can not hold up the caller.
 * Owns: one deadline for the calls of a phase, and the rule that a port has at most one call of an agent under way.
 * Not here: what to do about a failure.
 *
 * A port that ignores its signal leaves a promise behind. Nobody waits for it, but until it settles no second call is
 * made: otherwise they would pile up, and an action given up long ago could land after a newer one.
 */
import type { Clock, Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, failureOf } from "../../base/index.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  readonly limit: Ms;
  /** Resolves when the time is up; never rejects. */
  readonly expired: Promise<"expired">;
  /** Lets go of the timer, once the calls have returned. */
  end(): void;
  /** Ends the time now: calls that are under way are given up. */
  giveUp(): void;
}

// A constant: without a reason every abort would build an error with a stack, twice per tick of every agent.
const ENDED = "ended";

export function startDeadline(clock: Clock, limit: Ms): Deadline {
  const calls = new AbortController();
  const timer = new AbortController();
  const expired = clock.sleep(limit, timer.signal).then(
    () => {
      calls.abort(timedOut("a call", limit));
      return "expired" as const;
    },
    () => "expired" as const,
  );
  return {
    signal: calls.signal,
    limit,
    expired,
    end: () => timer.abort(ENDED),
    giveUp: () => {
      calls.abort(ENDED);
      timer.abort(ENDED);
    },
  };
}

/** One port, as one agent uses it. */
export class Lane {
  readonly #what: string;
  #isBusy = false;

  constructor(what: string) {
    this.#what = what;
  }

  /** True while a call that was given up has not returned. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  async call<T>(work: (signal: AbortSignal) => Promise<Result<T>>, deadline: Deadline): Promise<Result<T>> {
    if (this.#isBusy) return err(busy(this.#what));
    this.#isBusy = true;
    const answer = this.#settled(work, deadline.signal);
    const first = await Promise.race([answer, deadline.expired]);
    return first === "expired" ? err(timedOut(this.#what, deadline.limit)) : first;
  }

  async #settled<T>(work: (signal: AbortSignal) => Promise<Result<T>>, signal: AbortSignal): Promise<Result<T>> {
    try {
      return await work(signal);
    } catch (thrown) {
      return err(failureOf(thrown) ?? threw(this.#what, thrown));
    } finally {
      this.#isBusy = false;
    }
  }
}

function timedOut(what: string, limit: Ms): Failure {
  return failure(
    "loop.timeout",
    `${what} did not answer within ${limit} ms and was given up; see why it is slow, or raise the loop's limit for it`,
    { retry: true },
  );
}

function busy(what: string): Failure {
  return failure(
    "loop.port-busy",
    `${what} still holds a call that was given up earlier, so it was not asked again; it is asked when that call returns`,
    { retry: true },
  );
}

function threw(what: string, cause: unknown): Failure {
  const words = cause instanceof Error ? cause.message : String(cause);
  return failure("loop.port-threw", `${what} threw an error instead of answering: ${words.slice(0, 200)}`, {
    retry: true,
    cause,
  });
}
