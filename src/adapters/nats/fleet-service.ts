/**
 * A pool's coordinator on NATS: requests in, answers when a step is closed, members written down.
 * Owns: subscriptions, the timer that closes steps, when members are written. Not here: every decision (control/agents/fleet-host.ts).
 */

import { randomUUID } from "node:crypto";
import type { Msg, Subscription } from "@nats-io/transport-node";
import {
  type Clock,
  type Failure,
  failure,
  failureOf,
  type Ms,
  milliseconds,
  ok,
  type Result,
  type WorkloadId,
} from "../../base/index.ts";
import type {
  HostState,
  JoinAnswer,
  JoinRequest,
  KeptMember,
  StepAnswer,
  StepRequest,
} from "../../control/agents/index.ts";
import type { NatsLink } from "./connection.ts";
import { natsFailure } from "./failures.ts";
import { readJoin, readStep, subjects, writeAnswer } from "./fleet-messages.ts";
import { type FleetRecords, leaseRenewal } from "./fleet-records.ts";

/** The part of a fleet's host that NATS needs. */
export interface ServedFleet {
  join(request: JoinRequest, at: { readonly session: string; readonly now: Ms }): JoinAnswer;
  leave(session: string): readonly WorkloadId[];
  admits(session: string): Result<boolean>;
  ask(session: string, request: StepRequest, now: Ms): Result<StepAnswer | undefined>;
  due(now: Ms): { readonly isDue: boolean; readonly at: Ms };
  close(now: Ms): { readonly step: number; readonly answers: ReadonlyMap<string, StepAnswer> };
  keep(since: Ms): readonly KeptMember[];
  state(): HostState;
}

export interface FleetServiceOptions {
  readonly link: NatsLink;
  readonly pool: string;
  readonly fleet: ServedFleet;
  readonly records: FleetRecords;
  readonly expiry: Ms;
  readonly clock: Clock;
  readonly on: {
    readonly joined?: (answer: JoinAnswer, name: string) => void;
    readonly left?: (agents: readonly WorkloadId[]) => void;
    readonly closed?: (state: { readonly step: number; readonly took: Ms }) => void;
    /** Something that others need not wait for went wrong; it is tried again. */
    readonly trouble: (failure: Failure) => void;
  };
}

export interface FleetService {
  /** Resolves when the coordinator cannot go on: another one has the pool, or the server lets it hear nobody. */
  readonly ended: Promise<Failure>;
  close(): Promise<void>;
}

export function serveFleet(options: FleetServiceOptions): FleetService {
  return new Service(options);
}

class Service implements FleetService {
  readonly ended: Promise<Failure>;
  readonly #options: FleetServiceOptions;
  readonly #subscriptions: readonly Subscription[];
  /** Who waits for the open step's closing. */
  readonly #waiting = new Map<string, Msg>();
  #timer: NodeJS.Timeout | undefined;
  readonly #upkeep: NodeJS.Timeout;
  /** What renews the lease and keeps members, while it is at it. */
  #keepingUp: Promise<void> | undefined;
  #isClosed = false;
  #openedAt: Ms;
  #keptAt: Ms;
  #end: (failure: Failure) => void = () => undefined;

  constructor(options: FleetServiceOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const { link, pool } = options;
    const names = subjects(pool);
    const on = (subject: string, handle: (message: Msg) => void): Subscription =>
      link.connection.subscribe(subject, {
        callback: (failed, message) => {
          if (failed === null) handle(message);
          // Nobody would be heard on it, now or later.
          else this.#end(natsFailure(failed, `agents' requests on '${subject}'`));
        },
      });
    this.#openedAt = this.#now();
    this.#keptAt = this.#now();
    this.#subscriptions = [
      on(names.join, (message) => void this.#join(message)),
      on(names.steps, (message) => this.#step(message)),
      on(names.leaves, (message) => void this.#leave(message)),
      on(names.status, (message) => this.#answer(message, ok(options.fleet.state()))),
    ];
    this.#upkeep = setInterval(() => {
      // A server that is away makes calls wait: no more of them than one.
      this.#keepingUp ??= this.#keepUp().finally(() => {
        this.#keepingUp = undefined;
      });
    }, leaseRenewal);
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#upkeep);
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    // A renewal under way would take the lease again.
    await this.#keepingUp;
    await this.#options.records.release();
  }

  #now(): Ms {
    return this.#options.clock.monotonic();
  }

  async #join(message: Msg): Promise<void> {
    const request = readJoin(message.data);
    if (!request.ok) {
      this.#answer(message, request);
      return;
    }
    const { fleet, on } = this.#options;
    const now = this.#now();
    const answer = fleet.join(request.value, { session: randomUUID(), now });
    on.joined?.(answer, request.value.name);
    this.#schedule();
    // Before they are told: a coordinator that is killed right after knows them.
    const joined = new Set(answer.members.map(({ agent }) => agent));
    await this.#keep(fleet.keep(now).filter(({ agent }) => joined.has(agent)));
    this.#answer(message, ok(answer));
  }

  async #leave(message: Msg): Promise<void> {
    const { fleet, on, records } = this.#options;
    const gone = fleet.leave(sessionIn(message));
    if (gone.length > 0) on.left?.(gone);
    this.#schedule();
    const forgotten = await records.forget(gone);
    if (!forgotten.ok) on.trouble(forgotten.failure);
    this.#answer(message, ok(fleet.state()));
  }

  #step(message: Msg): void {
    const session = sessionIn(message);
    const answer = this.#ask(session, message);
    if (answer === "at the closing") {
      this.#waiting.set(session, message);
      this.#schedule();
    } else if (answer !== "never") this.#answer(message, answer);
  }

  #ask(session: string, { data }: Msg): Result<StepAnswer> | "at the closing" | "never" {
    const { fleet } = this.#options;
    // Before it is read: reading costs more than refusing.
    const admitted = fleet.admits(session);
    if (!admitted.ok) return admitted;
    if (!admitted.value) return "never";
    const request = readStep(data);
    if (!request.ok) return request;
    const asked = fleet.ask(session, request.value, this.#now());
    if (!asked.ok) return asked;
    return asked.value === undefined ? "at the closing" : ok(asked.value);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const now = this.#now();
    const { isDue, at } = this.#options.fleet.due(now);
    if (isDue) this.#closeStep(now);
    else this.#timer = setTimeout(() => this.#schedule(), at - now);
  }

  #closeStep(now: Ms): void {
    const { fleet, on } = this.#options;
    let closed: ReturnType<ServedFleet["close"]>;
    try {
      closed = fleet.close(now);
    } catch (thrown) {
      const why =
        failureOf(thrown) ?? failure("agents.platform", `the platform failed: ${String(thrown)}`, { cause: thrown });
      this.#end(why);
      return;
    }
    for (const [session, answer] of closed.answers) {
      const message = this.#waiting.get(session);
      if (message !== undefined) this.#answer(message, ok(answer));
    }
    this.#waiting.clear();
    on.closed?.({ step: closed.step, took: milliseconds(this.#now() - this.#openedAt) });
    this.#openedAt = this.#now();
    // A step that takes no time must not keep messages from being read.
    this.#timer = setTimeout(() => this.#schedule(), 0);
  }

  async #keepUp(): Promise<void> {
    const { records, expiry, on, fleet } = this.#options;
    const renewed = await records.renew();
    if (!renewed.ok) {
      if (renewed.failure.code === "agents.another-coordinator") this.#end(renewed.failure);
      else on.trouble(renewed.failure);
      return;
    }
    const now = this.#now();
    if (now - this.#keptAt < expiry / 3) return;
    await this.#keep(fleet.keep(milliseconds(this.#keptAt - expiry / 3)));
    this.#keptAt = now;
  }

  async #keep(members: readonly KeptMember[]): Promise<void> {
    const kept = await this.#options.records.keep(members);
    if (!kept.ok) this.#options.on.trouble(kept.failure);
  }

  #answer(message: Msg, result: Result<JoinAnswer | StepAnswer | HostState>): void {
    try {
      message.respond(writeAnswer(result));
    } catch (thrown) {
      this.#options.on.trouble(natsFailure(thrown, "an answer of the coordinator"));
    }
  }
}

const sessionIn = ({ subject }: Msg): string => subject.slice(subject.lastIndexOf(".") + 1);
