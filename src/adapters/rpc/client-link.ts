/**
 * One stream of one client, on the client's side: messages out, messages in, and how it ended.
 * Not here: what to do about an end (remote-env.ts).
 */
import { create } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { CodedError, type Failure, failure, Mailbox } from "../../base/index.ts";
import {
  type ClientMessage,
  ClientMessageSchema,
  EnvService,
  type Problem,
  type ServerMessage,
} from "./generated/coxswain/env/v1/env_pb.ts";
import { problemFailure } from "./wire-problems.ts";

export type Call = ClientMessage["call"];

/** The connection is gone; the same call may succeed on another one. */
export class BrokenLink extends Error {
  constructor(cause: unknown) {
    super("the connection to the environment's host broke", { cause });
    this.name = "BrokenLink";
  }
}

/** The way to one host; links are opened on it one after the other. */
export class Dialer {
  readonly #manager: Http2SessionManager;
  readonly #client: Client<typeof EnvService>;
  readonly #headers: Headers;

  constructor(url: string, accessToken: string | undefined) {
    // Pings find a host that vanished without a word; it would otherwise take TCP a quarter of an hour.
    this.#manager = new Http2SessionManager(url, { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 });
    const transport = createGrpcTransport({ baseUrl: url, sessionManager: this.#manager, acceptCompression: [] });
    this.#client = createClient(EnvService, transport);
    this.#headers = new Headers(accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` });
  }

  open(): Link {
    return new Link((outgoing, signal) => this.#client.session(outgoing, { headers: this.#headers, signal }));
  }

  close(): void {
    this.#manager.abort();
  }
}

type Start = (outgoing: AsyncIterable<ClientMessage>, signal: AbortSignal) => AsyncIterable<ServerMessage>;

export class Link {
  readonly #outbox = new Mailbox<ClientMessage>({ capacity: 8 });
  readonly #inbox = new Mailbox<ServerMessage>({ capacity: 64 });
  readonly #stop = new AbortController();
  #ended: unknown = new Error("the host ended the stream");
  #verdict: Failure | undefined;

  constructor(start: Start) {
    const outbox = this.#outbox;
    async function* outgoing(): AsyncGenerator<ClientMessage> {
      for (let message = await outbox.take(); message !== undefined; message = await outbox.take()) yield message;
    }
    void this.#receive(start(outgoing(), this.#stop.signal));
  }

  get isOpen(): boolean {
    return !this.#inbox.isClosed;
  }

  /** What the host said about the session as a whole, if it did; it may have come while nobody waited. */
  get verdict(): Failure | undefined {
    return this.#verdict;
  }

  send(call: Call): void {
    this.#outbox.offer(create(ClientMessageSchema, { call }));
  }

  /** The next message; rejects with what ended the stream when none will come. */
  async next(signal?: AbortSignal): Promise<ServerMessage> {
    const message = await this.#inbox.take(signal);
    if (message !== undefined) return message;
    throw endOf(this.#ended);
  }

  /** Lets what was sent go out, then ends the stream; the host ends its side. */
  async finish(): Promise<void> {
    this.#outbox.close();
    while ((await this.#inbox.take()) !== undefined);
  }

  close(): void {
    this.#outbox.close();
    this.#inbox.close();
    this.#stop.abort();
  }

  async #receive(incoming: AsyncIterable<ServerMessage>): Promise<void> {
    try {
      // A host that answers what nobody asked fills the box; the rest is of no use to anyone.
      for await (const message of incoming) {
        const { answer } = message;
        if (answer.case === "problem" && isAboutSession(answer.value)) this.#verdict = problemFailure(answer.value);
        this.#inbox.offer(message);
      }
    } catch (thrown) {
      this.#ended = thrown;
    }
    this.#outbox.close();
    this.#inbox.close();
  }
}

/** A problem that answers no call is about the session. */
export function isAboutSession({ episode, step }: Problem): boolean {
  return episode === 0 && step === undefined;
}

function endOf(ended: unknown): Error {
  const refusal = ended instanceof ConnectError ? refusalOf(ended) : undefined;
  return refusal === undefined ? new BrokenLink(ended) : new CodedError(refusal);
}

/** Statuses that another try would only repeat. */
function refusalOf(error: ConnectError): Failure | undefined {
  switch (error.code) {
    case Code.Unauthenticated:
    case Code.PermissionDenied:
      return failure("env.token-refused", "the environment's host wants a valid access token; pass 'accessToken'", {
        cause: error,
      });
    case Code.ResourceExhausted:
      return failure(
        "env.message-too-large",
        "a message is larger than the environment's host takes; send less, or raise 'maxMessageBytes' there",
        { cause: error },
      );
    case Code.Unimplemented:
      return failure("env.protocol", "there is no environment service at this address; check the url and the version", {
        cause: error,
      });
    default:
      return undefined;
  }
}
