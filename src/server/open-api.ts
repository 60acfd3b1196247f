/**
 * The API's own description (OpenAPI 3.1), from the schemas that the routes are checked by.
 * Owns: what stands around the routes. Not here: the routes' own descriptions (routes/).
 */
import type { HonoApp } from "./endpoint.ts";

export function openApiDocument(app: HonoApp, { version }: { readonly version: string }) {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description:
      "Only where the server was started with tokens, which it must be on any address but loopback. A viewer may read, an operator may also change.",
  });
  app.openAPIRegistry.registerPath({
    operationId: "openApi",
    method: "get",
    path: "/openapi.json",
    tags: ["server"],
    summary: "This document.",
    security: [{ token: [] }],
    responses: { 200: { description: "OpenAPI 3.1", content: { "application/json": { schema: { type: "object" } } } } },
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Coxswain",
      version,
      description:
        "What the control plane sees, decides and why, and what a person can change. Times are milliseconds since 1970 of the managed world, CPU is in millicores, memory in bytes, load in requests per second, latency in milliseconds, money in dollars. Errors are problem documents (RFC 9457) with a stable `code`.",
      license: { name: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "control plane", description: "What can be seen." },
      { name: "services", description: "What spans say about services, and the application that is simulated." },
      { name: "commands", description: "What can be changed." },
      { name: "studies", description: "Published results." },
      { name: "server", description: "The server itself." },
    ],
  });
}
