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
  /** The calls have returned: the time does not matter any more. */
  end(): void;
  /** Ends the time now: calls that are under way are given up. */
  giveUp(): void;
}

/** Deadlines of one length, in the order they were begun, which is the order they run out in. */
class Queue {
  readonly #clock: Clock;
  readonly #limit: Ms;
  readonly #closed: AbortSignal;
  #waiting: Running[] = [];
  /** Those before it are over: calls return in about the order they were made, so few are kept longer than they last. */
  #first = 0;
  #isWatched = false;

  constructor({ clock, closed }: { readonly clock: Clock; readonly closed: AbortSignal }, limit: Ms) {
    this.#clock = clock;
    this.#closed = closed;
    this.#limit = limit;
  }

  start(): Deadline {
    const deadline = new Running(this.#limit, { due: this.#clock.monotonic() + this.#limit, queue: this });
    this.#waiting.push(deadline);
    if (!this.#isWatched) void this.#watch();
    return deadline;
  }

  letGo(): void {
    while (this.#waiting[this.#first]?.isOver) this.#first += 1;
    if (this.#first * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }

  async #watch(): Promise<void> {
    this.#isWatched = true;
    for (;;) {
      this.letGo();
      const next = this.#waiting[this.#first];
      if (next === undefined) break;
      try {
        await this.#clock.sleep(Math.max(0, next.due - this.#clock.monotonic()) as Ms, this.#closed);
      } catch {
        // Closed: nobody waits for what is left, and a timer would keep the process alive.
        return;
      }
      const now = this.#clock.monotonic();
      // Those that were begun at the same moment run out together.
      const due = this.#waiting.filter((deadline) => !deadline.isOver && deadline.due <= now);
      for (const deadline of due) deadline.giveUp(timedOut("a call", this.#limit));
    }
    this.#isWatched = false;
  }
}

class Running implements Deadline {
  readonly limit: Ms;
  readonly due: number;
  readonly expired: Promise<"expired">;
  readonly #queue: Queue;
  readonly #controller = new AbortController();
  #expire: (value: "expired") => void = () => {};
  isOver = false;

  constructor(limit: Ms, { due, queue }: { readonly due: number; readonly queue: Queue }) {
    this.limit = limit;
    this.due = due;
    this.#queue = queue;
    this.expired = new Promise((resolve) => {
      this.#expire = resolve;
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    this.isOver = true;
    this.#queue.letGo();
  }

  giveUp(reason: unknown = "ended"): void {
    if (this.isOver) return;
    this.end();
    this.#controller.abort(reason);
    this.#expire("expired");
  }
}

/**
 * All deadlines of a loop. A timer per call would cost more than most calls take, and nearly every one would be cleared
 * again; so there is one timer per length of deadline, and it looks only at those that are not over when it fires.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #queues = new Map<Ms, Queue>();
  readonly #closed = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(limit: Ms): Deadline {
    let queue = this.#queues.get(limit);
    if (queue === undefined) {
      queue = new Queue({ clock: this.#clock, closed: this.#closed.signal }, limit);
      this.#queues.set(limit, queue);
    }
    return queue.start();
  }

  /** No time runs out any more. */
  close(): void {
    this.#closed.abort();
  }
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
