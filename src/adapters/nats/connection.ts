/**
 * A connection to NATS that comes back by itself, for ever, with growing pauses.
 * Owns: options and what is refused, the first connection, reconnection, closing. Not here: what is said over it, buckets (bucket.ts).
 *
 * What is sent without encryption can be read and changed on its way, so other machines are only reached with TLS unless the
 * network is said to be trusted.
 */
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
} from "@nats-io/transport-node";
import { err, failure, isLoopbackName, type Ms, milliseconds, ok, type Result, seconds } from "../../base/index.ts";
import { natsFailure } from "./failures.ts";

export type NatsAccess =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "user"; readonly user: string; readonly password: string }
  /** The content of a `.creds` file, as NATS's own tools write it. */
  | { readonly kind: "credentials"; readonly content: string };

export interface NatsOptions {
  /** `nats://127.0.0.1:4222` unless given; `tls://…` asks for encryption. */
  readonly servers?: readonly string[];
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly access?: NatsAccess;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** Other machines without encryption: the network is trusted. */
  readonly allowPlain?: boolean;
  /** Of the first connection: one try unless given, else tries until it has come. */
  readonly waitFor?: { readonly signal: AbortSignal; readonly onWait?: (message: string) => void };
  readonly timeout?: Ms;
}

export type LinkState = "connected" | "disconnected" | "closed";

export interface NatsLink {
  readonly connection: NatsConnection;
  readonly state: LinkState;
  /** Called after each change, until the link is closed. */
  onState(listener: (state: LinkState) => void): void;
  /** What was published is sent before, where the server is there. */
  close(): Promise<void>;
}

export const usualServer = "nats://127.0.0.1:4222";
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

export async function connectNats(options: NatsOptions): Promise<Result<NatsLink>> {
  const servers = options.servers ?? [usualServer];
  const refused = problemWith(servers, options);
  if (refused !== undefined) return err(refused);
  for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, 2 * pause)) {
    try {
      return ok(new Link(await connect(clientOptions(servers, options))));
    } catch (thrown) {
      const why = natsFailure(thrown, `the connection to ${servers.join(", ")}`);
      const { waitFor } = options;
      if (waitFor === undefined || waitFor.signal.aborted || !why.retry) return err(why);
      waitFor.onWait?.(why.message);
      await pauseFor(pause, waitFor.signal);
      if (waitFor.signal.aborted) return err(why);
    }
  }
}

/** How long the n-th try waits, with up to as much again by chance, so that a whole fleet does not come at one moment. */
export function pauseBefore(tries: number, chance: number): Ms {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(tries, 10));
  return milliseconds(pause * (1 + chance));
}

class Link implements NatsLink {
  readonly connection: NatsConnection;
  readonly #listeners: ((state: LinkState) => void)[] = [];
  #state: LinkState = "connected";

  constructor(connection: NatsConnection) {
    this.connection = connection;
    // Ends with the connection.
    void this.#follow().catch(() => this.#turn("closed"));
  }

  get state(): LinkState {
    return this.#state;
  }

  onState(listener: (state: LinkState) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    if (this.#state === "connected") await this.connection.drain().catch(() => undefined);
    await this.connection.close().catch(() => undefined);
    this.#turn("closed");
  }

  async #follow(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === "disconnect") this.#turn("disconnected");
      else if (type === "reconnect") this.#turn("connected");
      else if (type === "close") this.#turn("closed");
    }
    this.#turn("closed");
  }

  #turn(state: LinkState): void {
    if (state === this.#state || this.#state === "closed") return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

function clientOptions(servers: readonly string[], options: NatsOptions): ConnectionOptions {
  const { name, timeout = seconds(3), allowPlain = false } = options;
  const tls = options.tls ?? (servers.some((server) => server.startsWith("tls://")) ? {} : undefined);
  let tries = 0;
  let lastTry = Number.NEGATIVE_INFINITY;
  return {
    servers: [...servers],
    name,
    timeout,
    maxReconnectAttempts: -1,
    // A server that restarts with its users not loaded yet must not end a fleet.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => {
      const now = performance.now();
      // A try long after the last one is the first of another outage.
      tries = now - lastTry > 5 * LONGEST_PAUSE ? 0 : tries + 1;
      lastTry = now;
      return pauseBefore(tries, Math.random());
    },
    pingInterval: seconds(5),
    maxPingOut: 2,
    ...accessOptions(options.access),
    // A server tells of others of its cluster, on other machines: what holds for an address that is given holds for them too.
    ignoreClusterUpdates: tls === undefined && !allowPlain,
    ...(tls === undefined ? {} : { tls }),
  };
}

function accessOptions(access: NatsAccess | undefined): Partial<ConnectionOptions> {
  switch (access?.kind) {
    case undefined:
      return {};
    case "token":
      return { token: access.token };
    case "user":
      return { user: access.user, pass: access.password };
    case "credentials": {
      const authenticator: Authenticator = credsAuthenticator(new TextEncoder().encode(access.content));
      return { authenticator };
    }
  }
}

const SCHEMES = ["nats:", "tls:"];

function problemWith(servers: readonly string[], { tls, allowPlain = false }: NatsOptions) {
  for (const server of servers) {
    const url = URL.canParse(server) ? new URL(server) : undefined;
    if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === "")
      return failure("nats.address", `'${server}' is no address of a NATS server; write it like ${usualServer}`);
    if (url.username !== "" || url.password !== "")
      return failure("nats.address", "an address of a NATS server has credentials in it; give them by a file");
    const isPlain = url.protocol === "nats:" && tls === undefined;
    if (isPlain && !allowPlain && !isLoopbackName(url.hostname))
      return failure(
        "nats.plain",
        `${server} is another machine and would be reached without encryption; use tls://, or say that the network is trusted`,
      );
  }
  return undefined;
}

function pauseFor(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, time);
    signal.addEventListener("abort", done);
  });
}
