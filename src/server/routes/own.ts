/**
 * What the server says about itself.
 * Owns: /livez, /readyz, /metrics for Prometheus. Not here: the figures (given as text), /openapi.json (app.ts).
 */
import { z } from "@hono/zod-openapi";
import { failure } from "../../base/index.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";

export interface OwnRoutes {
  /** Why the server can not be relied on right now; empty when it can. */
  readonly readiness: () => readonly string[];
  /** In Prometheus' text format. */
  readonly metrics: () => string | Promise<string>;
}

const health = z
  .strictObject({ ok: z.literal(true) })
  .readonly()
  .openapi("Health");

const WELL = { ok: true } as const;

export function addOwnRoutes(app: HonoApp, { readiness, metrics }: OwnRoutes): void {
  addEndpoint(app, {
    id: "livez",
    method: "get",
    path: "/livez",
    tag: "server",
    summary: "The server runs.",
    isOpen: true,
    answer: health,
    handle: () => ({ document: WELL }),
  });

  addEndpoint(app, {
    id: "readyz",
    method: "get",
    path: "/readyz",
    tag: "server",
    summary: "The control plane can be relied on; 503 with the reasons where not.",
    isOpen: true,
    answer: health,
    problems: [503],
    handle() {
      const reasons = readiness();
      if (reasons.length === 0) return { document: WELL };
      return { failure: failure("server.not-ready", `not ready: ${reasons.join("; ")}`, { retry: true }) };
    },
  });

  addEndpoint(app, {
    id: "prometheus",
    method: "get",
    path: "/metrics",
    tag: "server",
    summary: "Figures for Prometheus.",
    mediaType: "text/plain",
    answer: z.string(),
    handle: async () => ({
      response: new Response(await metrics(), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
      }),
    }),
  });
}
