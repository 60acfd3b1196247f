/**
 * Two protocols on one port: HTTP/2 for streams, HTTP/1.1 for clients that send one call at a time.
 * Owns: telling them apart by a connection's first bytes, and turning away pages in a browser.
 * Not here: what is answered (env-server.ts).
 *
 * No page can open HTTP/2 without TLS, but any can send HTTP/1.1 to a loopback port. So a request with an Origin is refused, and so is
 * one for another host's name where no token protects the port: a page whose name was pointed here would send its own name.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What every HTTP/2 connection begins with (RFC 9113, 3.4); no request of HTTP/1.1 begins with PRI. */
const PREFACE = Buffer.from("PRI");

export interface Protocols {
  readonly http1: (socket: Socket) => void;
  readonly http2: (socket: Socket) => void;
  /** Milliseconds that a connection may stay silent at first. */
  readonly silence: number;
}

export function tellApart(socket: Socket, { http1, http2, silence }: Protocols): void {
  const drop = (): void => void socket.destroy();
  socket.setTimeout(silence, drop);
  socket.once("error", drop);
  socket.once("data", (first: Buffer) => {
    socket.pause();
    socket.setTimeout(0);
    socket.off("timeout", drop);
    socket.off("error", drop);
    socket.unshift(first);
    const isHttp2 = first.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, first.length));
    (isHttp2 ? http2 : http1)(socket);
    socket.resume();
  });
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

export const withoutPages =
  (handler: Handler, { hasTokens }: { readonly hasTokens: boolean }): Handler =>
  (request, response) => {
    const isPage = request.headers.origin !== undefined || request.headers["sec-fetch-site"] !== undefined;
    if (!isPage && (hasTokens || LOOPBACK.test(request.headers.host ?? ""))) return handler(request, response);
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ code: "permission_denied", message: "pages in a browser may not play here" }));
  };
