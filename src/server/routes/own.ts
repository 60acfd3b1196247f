/**
 * What the server says about itself.
 * Owns: /livez, /readyz, /metrics for Prometheus. Not here: the figures (given as text), /openapi.json (app.ts).
 */
import { z } from "@hono/zod-openapi";
import { failure } from "../../base/index.ts";
import type { Readiness } from "../../contract/index.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";

export interface OwnRoutes {
  readonly readiness: () => Readiness;
  /** In Prometheus' text format. */
  readonly metrics: () => string | Promise<string>;
}

const health = z
  .strictObject({ ok: z.literal(true) })
  .readonly()
  .openapi("Health");

const readyDocument = z
  .strictObject({
    ok: z.literal(true),
    notes: z.array(z.string()).readonly().openapi({ description: "What was lost, or does not work, meanwhile." }),
  })
  .readonly()
  .openapi("Ready");

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
    answer: readyDocument,
    problems: [503],
    handle() {
      const { reasons, notes } = readiness();
      if (reasons.length === 0) return { document: { ...WELL, notes } };
      const besides = notes.length === 0 ? "" : `; besides: ${notes.join("; ")}`;
      return { failure: failure("server.not-ready", `not ready: ${reasons.join("; ")}${besides}`, { retry: true }) };
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
