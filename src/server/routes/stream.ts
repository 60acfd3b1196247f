/**
 * GET /v1/stream: live data as server-sent events.
 * Owns: the route and its description. Not here: what is sent and when (stream-hub.ts).
 */
import { z } from "@hono/zod-openapi";
import { failure } from "../../base/index.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";
import type { Limits } from "../limits.ts";
import { laggedSchema, snapshotSchema, updatesSchema } from "../schemas.ts";
import type { StreamHub } from "../stream-hub.ts";

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that gather answers before passing them on would make live data late.
  "x-accel-buffering": "no",
};

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
    handle({ request }) {
      // A HEAD would open a stream that nobody reads.
      if (request.method === "HEAD") return { response: new Response(null, { headers: HEADERS }) };
      if (hub.streams >= limits.streams) {
        const text = `${limits.streams} streams are open already: close one, or try again later`;
        return { failure: failure("server.too-many-streams", text, { retry: true }) };
      }
      return { response: new Response(hub.open(request.headers.get("last-event-id")), { headers: HEADERS }) };
    },
  });
}
