/**
 * How much one may ask for.
 * Owns: the bucket that writes are taken from, answers remembered by Idempotency-Key, waiting no longer than a limit.
 * Not here: the size of a request (app.ts), of a stream's backlog (stream-hub.ts), which connection goes (connections.ts).
 */
import { CodedError, err, failure, type Result } from "../base/index.ts";

export interface Limits {
  readonly bodyBytes: number;
  readonly writesPerSecond: number;
  readonly writeBurst: number;
  /** How long the plane may take to answer. */
  readonly waitMs: number;
  /** At the same time; one more takes the place of one that is not being answered (connections.ts). */
  readonly connections: number;
  readonly streams: number;
  /** Of those, for one token's name: one that is shared, or lost, does not take all of them. */
  readonly streamsPerName: number;
  /** Of all, left to operators by those who only look. */
  readonly streamsForOperators: number;
  /** Of one stream, not yet read by its client. */
  readonly backlogBytes: number;
  /** Of what was sent lately, for clients that come back. */
  readonly resumeBytes: number;
  readonly heartbeatMs: number;
  /** The stream sends at most once in this time. */
  readonly portionMs: number;
}

export const defaultLimits: Limits = {
  bodyBytes: 16_384,
  writesPerSecond: 5,
  writeBurst: 20,
  waitMs: 5_000,
  connections: 1_000,
  streams: 100,
  streamsPerName: 50,
  streamsForOperators: 20,
  backlogBytes: 2_000_000,
  resumeBytes: 8_000_000,
  heartbeatMs: 15_000,
  portionMs: 100,
};

/** Time and timers as the server needs them; tests give their own. */
export interface ServerClock {
  now(): number;
  every(ms: number, run: () => void): () => void;
  after(ms: number, run: () => void): () => void;
}

export const wallClock: ServerClock = {
  now: () => Date.now(),
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A bucket per name that fills again with time: the seconds to wait, or null where it may go on. */
export function createBuckets({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): {
  take(name: string, now: number): number | null;
} {
  const buckets = new Map<string, { level: number; at: number }>();
  return {
    take(name, now) {
      const { level, at } = buckets.get(name) ?? { level: burst, at: now };
      const filled = Math.min(burst, level + (Math.max(0, now - at) / 1000) * perSecond);
      buckets.set(name, { level: filled >= 1 ? filled - 1 : filled, at: now });
      return filled >= 1 ? null : Math.ceil((1 - filled) / perSecond);
    },
  };
}

const REMEMBERED_KEYS = 1_000;
const REMEMBERED_MS = 600_000;

interface Remembered<T> {
  readonly request: string;
  readonly until: number;
  readonly answer: Promise<T>;
}

/** The answer to a request that is sent again under the same key, for ten minutes; null when the request is another. */
export function createIdempotency<T>(): {
  once(
    key: string,
    what: { readonly request: string; readonly now: number; run(): Promise<T>; isFinal(answer: T): boolean },
  ): Promise<T> | null;
} {
  const answers = new Map<string, Remembered<T>>();
  return {
    once(key, { request, now, run, isFinal }) {
      const known = answers.get(key);
      if (known !== undefined && known.until > now) return known.request === request ? known.answer : null;
      answers.delete(key);
      const answer = run();
      answers.set(key, { request, until: now + REMEMBERED_MS, answer });
      // What may go better the next time is no answer to keep: the next request with this key tries again.
      const forget = (): void => void (answers.get(key)?.answer === answer && answers.delete(key));
      answer.then((value) => {
        if (!isFinal(value)) forget();
      }, forget);
      const oldest = answers.keys().next().value;
      if (answers.size > REMEMBERED_KEYS && oldest !== undefined) answers.delete(oldest);
      return answer;
    },
  };
}

/** What the plane answers, or `server.timeout`: a request never waits for ever. A rejection is the plane's defect and goes on. */
export function within<T>(
  answer: Promise<Result<T>>,
  { ms, clock, what }: { readonly ms: number; readonly clock: ServerClock; readonly what: string },
): Promise<Result<T>> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () =>
      resolve(
        err(
          failure(
            "server.timeout",
            `the control plane gave no answer within ${ms / 1000} s (${what}); it may still be carried out: look before asking again`,
            { retry: true },
          ),
        ),
      ),
    );
    answer.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (thrown: unknown) => {
        cancel();
        if (thrown instanceof CodedError) resolve(err(thrown.failure));
        else reject(thrown);
      },
    );
  });
}
