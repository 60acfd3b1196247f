/**
 * Which sessions a host keeps, and for how long.
 * Owns: ids and resume tokens, the limit on sessions, one attached client per session, forgetting idle ones.
 * Not here: what a session does (hosted-session.ts), the timer that calls `sweep` (env-server.ts).
 */
import { createHash, randomBytes } from "node:crypto";
import { type Clock, CodedError, type Failure, failure, type Ms } from "../../base/index.ts";
import type { HostedSession } from "./hosted-session.ts";

export interface SessionTableOptions {
  readonly clock: Clock;
  readonly maxSessions: number;
  /** Without a message for so long, a session is forgotten. */
  readonly idle: Ms;
}

/** Called when the session is taken from the client that was attached to it. */
type Kick = (why: Failure) => void;

export interface Slot {
  readonly id: string;
  readonly token: string;
  readonly hosted: HostedSession;
}

interface Entry extends Slot {
  usedAt: number;
  kick: Kick | undefined;
}

export class SessionTable {
  readonly #clock: Clock;
  readonly #maxSessions: number;
  readonly #idle: Ms;
  /** By the digest of the token, so that a lookup's time tells nothing about tokens. */
  readonly #entries = new Map<string, Entry>();
  /** Places promised to sessions whose world is still being made. */
  #promised = 0;

  constructor({ clock, maxSessions, idle }: SessionTableOptions) {
    this.#clock = clock;
    this.#maxSessions = maxSessions;
    this.#idle = idle;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A new session, if there is room for one more. */
  async open(make: () => Promise<HostedSession>, kick: Kick): Promise<Slot> {
    this.sweep();
    if (this.#entries.size + this.#promised >= this.#maxSessions) throw new CodedError(this.#full());
    this.#promised += 1;
    try {
      const entry: Entry = {
        id: randomBytes(8).toString("hex"),
        token: randomBytes(24).toString("base64url"),
        hosted: await make(),
        usedAt: this.#clock.monotonic(),
        kick,
      };
      this.#entries.set(digestOf(entry.token), entry);
      return entry;
    } finally {
      this.#promised -= 1;
    }
  }

  /** The session of a token, taken from whoever was attached: a broken connection may look alive for long. */
  resume(token: string, kick: Kick): Slot {
    this.sweep();
    const entry = this.#entries.get(digestOf(token));
    if (entry === undefined) throw new CodedError(this.#lost());
    entry.kick?.(
      failure("env.session-moved", "another client goes on with this session's token; open a session of your own"),
    );
    entry.kick = kick;
    entry.usedAt = this.#clock.monotonic();
    return entry;
  }

  touch({ token }: Slot): void {
    const entry = this.#entries.get(digestOf(token));
    if (entry !== undefined) entry.usedAt = this.#clock.monotonic();
  }

  /** The client went away; the session waits for it. */
  leave({ token }: Slot, kick: Kick): void {
    const entry = this.#entries.get(digestOf(token));
    if (entry?.kick === kick) entry.kick = undefined;
  }

  async end({ token }: Slot): Promise<void> {
    const entry = this.#entries.get(digestOf(token));
    this.#entries.delete(digestOf(token));
    await entry?.hosted.close();
  }

  /** Forgets what was not used for too long. */
  sweep(): void {
    const oldest = this.#clock.monotonic() - this.#idle;
    for (const [key, entry] of this.#entries) if (entry.usedAt < oldest) this.#forget(key, entry);
  }

  /** The host stops: nobody can come back to it. */
  clear(): void {
    for (const [key, entry] of this.#entries) this.#forget(key, entry);
  }

  #forget(key: string, entry: Entry): void {
    this.#entries.delete(key);
    entry.kick?.(this.#lost());
    // A world that fails while it closes has nobody left to tell.
    entry.hosted.close().catch(() => undefined);
  }

  #lost(): Failure {
    return failure(
      "env.session-lost",
      `the host does not know this session: it restarted, or there was no message for ${this.#idle} ms; the episode is over, so reset`,
    );
  }

  #full(): Failure {
    return failure(
      "env.too-many-sessions",
      `the host keeps ${this.#maxSessions} sessions already; close one, or start it with a higher limit`,
      { retry: true },
    );
  }
}

const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");
