/**
 * Calls to the outside that cannot hold up the caller.
 * Owns: one deadline for the calls of a phase, the rule that a port has at most one call of an agent under way, and how
 * many may be out that were given up. Not here: what to do about a failure.
 *
 * A port that ignores its signal leaves a promise behind. Nobody waits for it and its answer is not looked at, so the
 * port can be asked again at once. Only so many may be out, or they would pile up while a port hangs for hours. An action
 * that was given up may so land after a newer one: both had passed the guard, and the next turn reads what is there and
 * puts it right.
 */
import type { Clock, Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, failureOf, minutes } from "../../base/index.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  readonly limit: Ms;
  /** When the time is up, by the monotonic clock. */
  readonly due: number;
  /** Resolves when the time is up; never rejects. */
  readonly expired: Promise<"expired">;
  /** Calls back when the time is up, at once if it is: for many short waits, for which promises are too dear. */
  onExpiry(then: () => void): void;
  /** The calls have returned: the time does not matter any more. */
  end(): void;
  /** Ends the time now: calls that are under way are given up. */
  giveUp(): void;
}

/** Told when the time is up. A chain of them instead of a list: nearly every deadline has two or three. */
interface Waiter {
  readonly expire: () => void;
  readonly next: Waiter | undefined;
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

  start(controller: AbortController): Running {
    const due = this.#clock.monotonic() + this.#limit;
    const deadline = new Running(this.#limit, { due, queue: this, controller });
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
  readonly #queue: Queue;
  readonly #controller: AbortController;
  #waiter: Waiter | undefined;
  #isExpired = false;
  isOver = false;

  constructor(limit: Ms, { due, queue, controller }: { due: number; queue: Queue; controller: AbortController }) {
    this.limit = limit;
    this.due = due;
    this.#queue = queue;
    this.#controller = controller;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): Promise<"expired"> {
    return new Promise((resolve) => this.onExpiry(() => resolve("expired")));
  }

  onExpiry(then: () => void): void {
    if (this.#isExpired) then();
    else this.#waiter = { expire: then, next: this.#waiter };
  }

  end(): void {
    this.isOver = true;
    // The queue may keep it for a while, and must not keep the answers of its calls alive with it.
    this.#waiter = undefined;
    this.#queue.letGo();
  }

  /** For a deadline that follows this one: its signal, where nobody was ever told to give up by it. */
  get unusedController(): AbortController | undefined {
    return this.isOver && !this.#isExpired ? this.#controller : undefined;
  }

  giveUp(reason: unknown = "ended"): void {
    if (this.isOver) return;
    const first = this.#waiter;
    this.#isExpired = true;
    this.end();
    this.#controller.abort(reason);
    for (let waiter = first; waiter !== undefined; waiter = waiter.next) waiter.expire();
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

  /**
   * `after`: a phase that is over, all of whose calls have returned. Its signal serves again, because making one costs as
   * much as a port's whole call, and nobody listens to it any more.
   */
  start(limit: Ms, after?: Deadline): Deadline {
    const controller = (after instanceof Running && after.unusedController) || new AbortController();
    let queue = this.#queues.get(limit);
    if (queue === undefined) {
      queue = new Queue({ clock: this.#clock, closed: this.#closed.signal }, limit);
      this.#queues.set(limit, queue);
    }
    return queue.start(controller);
  }

  /** No time runs out any more. */
  close(): void {
    this.#closed.abort();
  }
}

/** Calls of a lane that may be out after they were given up; with so many the port is not asked. */
export const MOST_ABANDONED = 4;
/** After so long a call that was given up is taken for dead, so that a port that hung and is well again is asked again. */
const WRITE_OFF_AFTER = minutes(10);

/** One port, as one agent uses it. */
export class Lane {
  readonly #what: string;
  #calls = 0;
  /** The number of the call that is waited for; 0 while there is none. */
  #underWay = 0;
  /** Numbers of calls that were given up and have not returned, oldest first, and when their time was up. */
  readonly #abandoned = new Map<number, number>();

  constructor(what: string) {
    this.#what = what;
  }

  /** How many calls were given up and have not returned. */
  get abandoned(): number {
    return this.#abandoned.size;
  }

  /** True while a call is waited for, or too many that were given up have not returned. */
  isBusyAt(monotonic: number): boolean {
    if (this.#underWay !== 0) return true;
    for (const [number, since] of this.#abandoned) {
      if (monotonic - since < WRITE_OFF_AFTER) break;
      this.#abandoned.delete(number);
    }
    return this.#abandoned.size >= MOST_ABANDONED;
  }

  /**
   * Never rejects. One promise with two ways to settle it, and no race of promises between functions that wait for each
   * other: three calls a turn, of a thousand agents at once, are as dear as their agents' ticks otherwise. `heed` looks
   * at what arrived before it is believed; it may throw.
   */
  call<A, T = A>(
    work: (signal: AbortSignal) => Promise<Result<A>>,
    deadline: Deadline,
    heed?: (arrived: Result<A>) => Result<T>,
  ): Promise<Result<T>> {
    if (this.isBusyAt(deadline.due - deadline.limit)) return Promise.resolve(err(busy(this.#what, this.abandoned)));
    this.#calls += 1;
    const number = this.#calls;
    this.#underWay = number;
    return new Promise((resolve) => {
      const lost = (thrown: unknown): void => {
        this.#returned(number);
        resolve(err(failureOf(thrown) ?? threw(this.#what, thrown)));
      };
      begun(work, deadline.signal).then((arrived) => {
        try {
          const answer = heed === undefined ? (arrived as Result<A & T>) : heed(arrived);
          this.#returned(number);
          resolve(answer);
        } catch (thrown) {
          lost(thrown);
        }
      }, lost);
      deadline.onExpiry(() => {
        if (this.#underWay === number) {
          this.#underWay = 0;
          this.#abandoned.set(number, deadline.due);
        }
        resolve(err(timedOut(this.#what, deadline.limit)));
      });
    });
  }

  #returned(number: number): void {
    if (this.#underWay === number) this.#underWay = 0;
    else this.#abandoned.delete(number);
  }
}

/** A promise in any case: a port may throw at once, or answer with something else. */
function begun<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return Promise.resolve(work(signal));
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function timedOut(what: string, limit: Ms): Failure {
  return failure(
    "loop.timeout",
    `${what} did not answer within ${limit} ms and was given up; see why it is slow, or raise the loop's limit for it`,
    { retry: true },
  );
}

function busy(what: string, abandoned: number): Failure {
  return failure(
    "loop.port-busy",
    `${what} still holds ${abandoned === 0 ? "a call" : `${abandoned} calls that were given up`}, so it was not asked again; it is asked when one returns or after ${WRITE_OFF_AFTER / 60_000} minutes`,
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
