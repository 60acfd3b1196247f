/**
 * GET /v1/stream: live data as server-sent events.
 * Owns: the route and its description. Not here: what is sent and when (stream-hub.ts).
 */
import { z } from "@hono/zod-openapi";
import { failure } from "../../base/index.ts";
import { laggedSchema, snapshotSchema, updatesSchema } from "../../contract/schemas/index.ts";
import type { Principal } from "../access.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";
import type { Limits } from "../limits.ts";
import type { StreamHub } from "../stream-hub.ts";

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that gather answers before passing them on would make live data late.
  "x-accel-buffering": "no",
};

/** An open stream is never closed for a new one: who watches an incident is not to lose it to somebody who comes later. */
function whyFull(hub: StreamHub, limits: Limits, { name, role }: Principal): string | null {
  const most = role === "operator" ? limits.streams : limits.streams - limits.streamsForOperators;
  if (hub.streams >= most)
    return most === limits.streams ? `${most} streams are` : `the ${most} streams of viewers are`;
  return hub.heldBy(name) >= limits.streamsPerName ? `${limits.streamsPerName} streams of '${name}' are` : null;
}

export function addStreamRoute(app: HonoApp, { hub, limits }: { readonly hub: StreamHub; readonly limits: Limits }) {
  addEndpoint(app, {
    id: "stream",
    method: "get",
    path: "/v1/stream",
    tag: "control plane",
    summary: "Live data as server-sent events: `snapshot` first, then `updates`; `lagged` where some were lost.",
    description:
      "Every message has an id; a client that sends it back as Last-Event-ID gets what it missed, or a new snapshot where that is no longer known. Comments keep the connection alive. The schema is that of the `data` of any message.",
    headers: z.object({
      "last-event-id": z.string().optional().openapi({ description: "The id of the last message that arrived." }),
    }),
    mediaType: "text/event-stream",
    answer: z.union([snapshotSchema, updatesSchema, laggedSchema]),
    problems: [503],
    handle({ request, principal }) {
      // A HEAD would open a stream that nobody reads.
      if (request.method === "HEAD") return { response: new Response(null, { headers: HEADERS }) };
      const full = whyFull(hub, limits, principal);
      if (full !== null) {
        const text = `${full} open already: close one, or try again later`;
        return { failure: failure("server.too-many-streams", text, { retry: true }) };
      }
      const stream = hub.open(request.headers.get("last-event-id"), principal.name);
      return { response: new Response(stream, { headers: HEADERS }) };
    },
  });
}
