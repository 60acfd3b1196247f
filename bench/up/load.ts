/**
 * Requests at a steady rate, whatever becomes of the ones before.
 * Owns: the schedule and the percentiles. A request's time counts from the moment at which it was due: a server that stalls
 * is charged for everybody who would have asked meanwhile, not only for the one that it kept waiting.
 */
import { Agent, get } from "node:http";
import { setTimeout as after } from "node:timers/promises";

export interface LoadOptions {
  readonly url: string;
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  readonly sent: number;
  /** Answers other than 2xx and 304, and requests without an answer. */
  readonly failed: number;
  /** Of all that were answered, ascending, in milliseconds. */
  readonly times: Float64Array;
}

export async function steadyLoad({ url, paths, perSecond, seconds, signal }: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const count = Math.round(perSecond * seconds);
  const answers: Promise<number | undefined>[] = [];
  const start = performance.now();
  try {
    for (let sent = 0; sent < count; ) {
      signal.throwIfAborted();
      // Timers are no finer than a millisecond: all that are due by now go out together.
      const due = Math.min(count, Math.floor(((performance.now() - start) / 1_000) * perSecond) + 1);
      for (; sent < due; sent++) {
        const dueAt = start + (sent / perSecond) * 1_000;
        answers.push(timed(new URL(paths[sent % paths.length] ?? "/", url), { agent, dueAt }));
      }
      await after(1);
    }
    const taken = await Promise.all(answers);
    const times = Float64Array.from(taken.filter((time) => time !== undefined)).sort();
    return { sent: count, failed: count - times.length, times };
  } finally {
    agent.destroy();
  }
}

function timed(
  url: URL,
  { agent, dueAt }: { readonly agent: Agent; readonly dueAt: number },
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      const { statusCode = 0 } = response;
      const isGood = (statusCode >= 200 && statusCode < 300) || statusCode === 304;
      response.resume();
      response.once("end", () => resolve(isGood ? performance.now() - dueAt : undefined));
      response.once("error", () => resolve(undefined));
    });
    request.once("error", () => resolve(undefined));
  });
}

/** The smallest value that at least this share of all is not above; NaN of none. */
export function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN;
}
