/**
 * The connections of a listener, so that those which do nothing keep nobody out.
 * Owns: how many there are, and who goes when there is one more: first the oldest that never got an answer (it is slow, or
 * sends nothing), then the oldest that is idle. Not here: how long each may take (the listeners' own timeouts).
 */

export interface TrackedConnection {
  /** A request has begun; call what it returns when it has ended. */
  begin(): () => void;
  remove(): void;
}

interface Entry {
  readonly since: number;
  idleSince: number;
  busy: number;
  isAnswered: boolean;
  readonly close: () => void;
}

export interface ConnectionsOptions {
  readonly most: number;
  readonly now?: () => number;
}

export class Connections {
  readonly #most: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #open = new Set<Entry>();

  constructor({ most, now = () => performance.now() }: ConnectionsOptions) {
    this.#most = most;
    this.#now = now;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Undefined when all others are at work: then this one has to go. */
  add(close: () => void): TrackedConnection | undefined {
    if (this.#open.size >= this.#most) {
      const leaves = this.#find(({ isAnswered }) => !isAnswered) ?? this.#find(({ busy }) => busy === 0);
      if (leaves === undefined) return undefined;
      this.#end(leaves);
    }
    const now = this.#now();
    const entry: Entry = { since: now, idleSince: now, busy: 0, isAnswered: false, close };
    this.#open.add(entry);
    return {
      begin: () => {
        entry.busy += 1;
        return () => {
          entry.busy -= 1;
          entry.isAnswered = true;
          entry.idleSince = this.#now();
        };
      },
      remove: () => this.#open.delete(entry),
    };
  }

  /** Ends those without a first request after `firstMs`, and those without another after `idleMs`. */
  sweep({ firstMs, idleMs }: { readonly firstMs: number; readonly idleMs: number }): void {
    const now = this.#now();
    for (const entry of this.#open) {
      if (entry.busy > 0) continue;
      const isLate = entry.isAnswered ? now - entry.idleSince > idleMs : now - entry.since > firstMs;
      if (isLate) this.#end(entry);
    }
  }

  #find(fits: (entry: Entry) => boolean): Entry | undefined {
    for (const entry of this.#open) if (fits(entry)) return entry;
    return undefined;
  }

  #end(entry: Entry): void {
    this.#open.delete(entry);
    entry.close();
  }
}
