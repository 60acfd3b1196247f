/**
 * When the critical path of a request type has moved to other operations (Insight 2.1: contention shows as such a move).
 * Owns: windows of observed paths and the test that compares each with the one before.
 *
 * A window's usual path is the one that most of its requests took. A change is reported when another path has become the
 * usual one and its share has risen by more than chance explains: a two-proportion z-test at `zScore`, one-sided. The
 * same requests in another order, or a handful of them, change nothing.
 */
import type { Ms } from "../../base/index.ts";
import { seconds } from "../../base/index.ts";

export interface PathChange {
  readonly requestType: string;
  /** When the window that shows it ended. */
  readonly at: Ms;
  /** The signatures of the usual path before and now. */
  readonly from: string;
  readonly to: string;
  /** The share of requests that took `to`, before and now. */
  readonly shareBefore: number;
  readonly shareNow: number;
  readonly z: number;
}

export interface PathChangesOptions {
  /** 10 s unless said. */
  readonly window?: Ms;
  /** Requests that both windows need; 20 unless said. */
  readonly enough?: number;
  /** 3.09 unless said: one false alarm in a thousand windows. */
  readonly zScore?: number;
}

interface Window {
  requests: number;
  readonly paths: Map<string, number>;
}

interface Followed {
  /** The newest window with enough requests in it. */
  reference: Window | undefined;
  current: Window;
}

export class PathChanges {
  readonly #window: Ms;
  readonly #enough: number;
  readonly #zScore: number;
  readonly #types = new Map<string, Followed>();
  #endsAt: number | undefined;

  constructor({ window = seconds(10), enough = 20, zScore = 3.09 }: PathChangesOptions = {}) {
    this.#window = window;
    this.#enough = enough;
    this.#zScore = zScore;
  }

  /** One request's path at a time that never goes back; the changes that its window's end has shown. */
  observe(path: { readonly requestType: string; readonly signature: string }, at: Ms): PathChange[] {
    const changes = this.advance(at);
    let type = this.#types.get(path.requestType);
    if (type === undefined) {
      type = { reference: undefined, current: emptyWindow() };
      this.#types.set(path.requestType, type);
    }
    type.current.requests += 1;
    type.current.paths.set(path.signature, (type.current.paths.get(path.signature) ?? 0) + 1);
    return changes;
  }

  /** Ends windows whose time is over. */
  advance(now: Ms): PathChange[] {
    if (this.#endsAt === undefined) {
      this.#endsAt = now + this.#window;
      return [];
    }
    if (now < this.#endsAt) return [];
    const ended = this.#endsAt as Ms;
    // Windows in which nothing came are skipped over: there is nothing in them to compare.
    this.#endsAt += this.#window * (1 + Math.floor((now - ended) / this.#window));
    const changes: PathChange[] = [];
    for (const [requestType, type] of this.#types) {
      const { reference, current } = type;
      if (current.requests < this.#enough) {
        // Too few to say anything; they are kept and added to, so that a rare request type is judged in the end.
        continue;
      }
      const change = reference === undefined ? undefined : this.#compare(reference, current);
      if (change !== undefined) changes.push({ requestType, at: ended, ...change });
      type.reference = current;
      type.current = emptyWindow();
    }
    return changes;
  }

  #compare(before: Window, now: Window): Omit<PathChange, "requestType" | "at"> | undefined {
    const from = usualOf(before);
    const to = usualOf(now);
    if (from === to) return undefined;
    const [countBefore, countNow] = [before.paths.get(to) ?? 0, now.paths.get(to) ?? 0];
    const shareBefore = countBefore / before.requests;
    const shareNow = countNow / now.requests;
    const pooled = (countBefore + countNow) / (before.requests + now.requests);
    const spread = Math.sqrt(pooled * (1 - pooled) * (1 / before.requests + 1 / now.requests));
    const z = spread === 0 ? 0 : (shareNow - shareBefore) / spread;
    return z >= this.#zScore ? { from, to, shareBefore, shareNow, z } : undefined;
  }
}

const emptyWindow = (): Window => ({ requests: 0, paths: new Map() });

/** The path that most requests took; of two that are as frequent, the first by name. */
function usualOf({ paths }: Window): string {
  let usual = "";
  let most = 0;
  for (const [signature, count] of paths) {
    if (count > most || (count === most && signature < usual)) {
      usual = signature;
      most = count;
    }
  }
  return usual;
}
