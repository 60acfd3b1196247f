/**
 * Call by call over HTTP/1.1, on a port of its own: for clients that have no HTTP/2.
 * Owns: turning away pages in a browser. Not here: what is answered (env-server.ts).
 *
 * No page can open HTTP/2 without TLS, but any can send HTTP/1.1 to a loopback port. So a request with an Origin is refused, and so is
 * one for another host's name where no token protects the port: a page whose name was pointed here would send its own name.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

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
