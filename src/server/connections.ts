/**
 * How many connections one server holds, and which of them goes when one more comes.
 * Owns: the order in which they go. Not here: how long one may take (node-server.ts), how many streams there are
 * (routes/stream.ts), what is asked on a connection (app.ts).
 *
 * A newcomer is never refused for the sake of one that only stands there, so whoever probes or operates gets in however
 * many others do. What is being answered stays, streams among it: of those there are only so many, and any other answer
 * takes seconds at most.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /** What was asked on this connection was let in, by a token where there are any: it goes after all that were not. */
  admitted(socket: Socket): void;
}

interface Connection {
  readonly address: string;
  isAdmitted: boolean;
  /** The request that came last, and its answer; null before the first whole one. */
  exchange: { readonly request: IncomingMessage; readonly answer: ServerResponse } | null;
}

export interface ConnectionOptions {
  readonly most: number;
  /** One was closed to make room, or could not be taken. */
  readonly onCrowded?: () => void;
}

export function limitConnections(server: Server, { most, onCrowded }: ConnectionOptions): Connections {
  const few = Math.ceil(most / 10);
  /** In the order in which they were last used. */
  const held = new Map<Socket, Connection>();
  const used = (socket: Socket, connection: Connection): void => {
    if (!held.delete(socket)) return;
    held.set(socket, connection);
  };

  server.on("connection", (socket: Socket) => {
    if (held.size >= most) {
      onCrowded?.();
      const leaving = whoGoes(held, few) ?? socket;
      held.delete(leaving);
      leaving.destroy();
      if (leaving === socket) return;
    }
    held.set(socket, { address: socket.remoteAddress ?? "", isAdmitted: false, exchange: null });
    socket.once("close", () => held.delete(socket));
  });

  server.on("request", (request: IncomingMessage, answer: ServerResponse) => {
    const connection = held.get(request.socket);
    if (connection === undefined) return;
    connection.exchange = { request, answer };
    used(request.socket, connection);
    answer.once("close", () => used(request.socket, connection));
  });

  return {
    admitted(socket) {
      const connection = held.get(socket);
      if (connection !== undefined) connection.isAdmitted = true;
    },
  };
}

/**
 * The one that was not used for longest, of the address that has most of them; behind a proxy and on loopback all have one
 * address, and only the time counts. Strangers go first, but not while they are few: who has just come and had no time to
 * say a word would always be the next to go.
 */
function whoGoes(held: ReadonlyMap<Socket, Connection>, few: number): Socket | undefined {
  const counts = [0, 0, 0];
  for (const connection of held.values()) {
    const worth = worthOf(connection);
    if (worth !== null) counts[worth] = (counts[worth] ?? 0) + 1;
  }
  const [strangers = 0, idle = 0] = counts;
  const most = strangers >= few ? STRANGER : strangers + idle >= few ? IDLE : UNDER_WAY;
  const byAddress = new Map<string, { readonly oldest: Socket; count: number }>();
  for (const [socket, connection] of held) {
    const worth = worthOf(connection);
    if (worth === null || worth > most) continue;
    const same = byAddress.get(connection.address);
    if (same === undefined) byAddress.set(connection.address, { oldest: socket, count: 1 });
    else same.count += 1;
  }
  let found: { readonly oldest: Socket; readonly count: number } | undefined;
  for (const one of byAddress.values()) if (found === undefined || one.count > found.count) found = one;
  return found?.oldest;
}

/** Nobody that was let in yet. */
const STRANGER = 0;
/** Between two requests: whoever wants the next opens another connection. */
const IDLE = 1;
/** Half of a body came, or the answer is not taken: nothing that was begun is lost. */
const UNDER_WAY = 2;

/** Null for what is being answered, which is never closed for another. */
function worthOf({ exchange, isAdmitted }: Connection): typeof STRANGER | typeof IDLE | typeof UNDER_WAY | null {
  if (exchange === null) return STRANGER;
  const { request, answer } = exchange;
  const isOver = answer.writableFinished || answer.destroyed;
  if (!isOver && request.complete && !answer.writableEnded) return null;
  if (!isAdmitted) return STRANGER;
  return isOver ? IDLE : UNDER_WAY;
}
