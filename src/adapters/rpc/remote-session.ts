/**
 * A session on a host, held through broken connections.
 * Owns: opening and resuming, sending a call until it is answered, giving up. Not here: what the calls mean
 * (remote-env.ts).
 */

import { create } from "@bufbuild/protobuf";
import { type Clock, CodedError, failure, type Ms } from "../../base/index.ts";
import type { EnvConfig } from "../../learn/env/index.ts";
import { BrokenLink, type Call, Dialer, isAboutSession, type Link } from "./client-link.ts";
import type { Observed, Ready } from "./generated/coxswain/env/v1/env_pb.ts";
import { InitSchema } from "./generated/coxswain/env/v1/env_pb.ts";
import { PROTOCOL } from "./session-stream.ts";
import { type CallKey, jsonOf, problemFailure } from "./wire-problems.ts";

export interface RemoteSessionOptions {
  readonly url: string;
  readonly id: string;
  readonly config: EnvConfig;
  readonly accessToken: string | undefined;
  readonly resumeToken: string | undefined;
  readonly patience: Ms;
  readonly clock: Clock;
}

const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 1_000;
/** What ends a session for this client: asking again would take it from the client that has it now. */
const FINAL = new Set(["env.session-moved", "env.session-lost"]);

export class RemoteSession {
  readonly #options: RemoteSessionOptions;
  readonly #dialer: Dialer;
  #link: Link | undefined;
  #token: string;
  #reconnects = 0;

  constructor(options: RemoteSessionOptions) {
    this.#options = options;
    this.#dialer = new Dialer(options.url, options.accessToken);
    this.#token = options.resumeToken ?? "";
  }

  get resumeToken(): string {
    return this.#token;
  }

  /** How often a broken connection was replaced. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** A session that the host lost is not asked for again; the next `ready` opens a new one. */
  forget(): void {
    this.#token = "";
    this.#drop();
  }

  /** Attaches to the session, opening one where there is none; what the host says about it. */
  ready(signal?: AbortSignal): Promise<Ready | undefined> {
    return this.#persist((link) => Promise.resolve(link.ready), signal);
  }

  /** Sends a call until it is answered; the host answers a repeat from memory. */
  call(call: Call, key: CallKey, signal?: AbortSignal): Promise<Observed> {
    return this.#persist(async ({ link }) => {
      link.send(call);
      return answerTo(link, key, signal);
    }, signal);
  }

  /** Leaves the session on the host, for whoever has its token. */
  leave(): void {
    this.#drop();
    this.#dialer.close();
  }

  /** Ends the session, if the host can still be told at once. */
  async end(): Promise<void> {
    const link = this.#link;
    if (link?.isOpen) {
      link.send({ case: "close", value: { $typeName: "coxswain.env.v1.Close" } });
      await link.finish();
    }
    this.leave();
  }

  /** Tries on one connection after the other while the failure is theirs. */
  async #persist<T>(
    work: (attached: { readonly link: Link; readonly ready: Ready | undefined }) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const { clock, patience, url } = this.#options;
    const deadline = clock.monotonic() + patience;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      signal?.throwIfAborted();
      try {
        return await work(await this.#attach(signal));
      } catch (thrown) {
        if (!(thrown instanceof BrokenLink)) throw thrown;
        this.#drop();
        this.#reconnects += 1;
        if (clock.monotonic() >= deadline) {
          const text = `the environment's host at ${url} cannot be reached since ${patience} ms; start it, or check the address`;
          throw new CodedError(failure("env.unreachable", text, { retry: true, cause: thrown.cause }));
        }
        await clock.sleep(pause as Ms, signal);
      }
    }
  }

  async #attach(signal: AbortSignal | undefined): Promise<{ readonly link: Link; readonly ready: Ready | undefined }> {
    if (this.#link?.isOpen) return { link: this.#link, ready: undefined };
    const verdict = this.#link?.verdict;
    if (verdict !== undefined && FINAL.has(verdict.code)) throw new CodedError(verdict);
    const { id, config } = this.#options;
    const link = this.#dialer.open();
    this.#link = link;
    const init = { protocol: PROTOCOL, envId: id, resumeToken: this.#token, config: jsonOf(config, "the setting") };
    link.send({ case: "init", value: create(InitSchema, init) });
    const { answer } = await link.next(signal);
    if (answer.case === "ready") {
      this.#token = answer.value.resumeToken;
      return { link, ready: answer.value };
    }
    this.#drop();
    if (answer.case === "problem") throw new CodedError(problemFailure(answer.value));
    throw new CodedError(
      failure("env.protocol", "the environment's host answered Init with something else than Ready; check its version"),
    );
  }

  #drop(): void {
    this.#link?.close();
    this.#link = undefined;
  }
}

/** Waits for the answer to one call; answers to calls that were given up are passed over. */
async function answerTo(link: Link, { episode, step }: CallKey, signal?: AbortSignal): Promise<Observed> {
  for (;;) {
    const { answer } = await link.next(signal);
    const isOurs = (to: CallKey): boolean => to.episode === episode && to.step === step;
    if (answer.case === "observed" && isOurs(answer.value)) return answer.value;
    if (answer.case === "problem" && (isAboutSession(answer.value) || isOurs(answer.value)))
      throw new CodedError(problemFailure(answer.value));
  }
}
