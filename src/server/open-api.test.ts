import { z } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { fleet } from "../../test/fixtures/documents/fleet.ts";
import { decision, event, json, START, samples, serverStage } from "../../test/fixtures/server/fake-plane.ts";

/** The parts of OpenAPI 3.1 that the document uses; strict, so that a misspelt field is found. */
const schemaObject = z.record(z.string(), z.unknown());
const media = z.strictObject({ schema: schemaObject });
const parameter = z.strictObject({
  schema: schemaObject,
  required: z.boolean(),
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  description: z.string().optional(),
});
const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(10),
  description: z.string().optional(),
  security: z.array(z.strictObject({ token: z.array(z.never()) })),
  parameters: z.array(parameter).optional(),
  requestBody: z
    .strictObject({ required: z.literal(true), content: z.strictObject({ "application/json": media }) })
    .optional(),
  responses: z.record(
    z.string().regex(/^[1-5]\d\d$/),
    z.strictObject({
      description: z.string().min(1),
      content: z.record(z.string().regex(/^[a-z]+\/[a-z+-]+$/), media),
      headers: z.record(z.string(), z.strictObject({ description: z.string(), schema: schemaObject })).optional(),
    }),
  ),
});
const openApi = z.strictObject({
  openapi: z.literal("3.1.0"),
  info: z.strictObject({
    title: z.string(),
    version: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.string() })),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[A-Z][A-Za-z]+$/), schemaObject),
    parameters: z.strictObject({}),
    securitySchemes: z.record(
      z.string(),
      z.strictObject({ type: z.literal("http"), scheme: z.string(), description: z.string() }),
    ),
  }),
  webhooks: z.strictObject({}).optional(),
  paths: z.record(
    z.string().startsWith("/"),
    z.strictObject({ get: operation.optional(), post: operation.optional(), put: operation.optional() }),
  ),
});

const documentOf = async () => openApi.parse(await (await serverStage().ask("/openapi.json")).json());

function operationsOf(document: z.output<typeof openApi>) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, found]) => (found === undefined ? [] : { path, method, operation: found })),
  );
}

/** Every `$ref` anywhere below. */
function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" ? String(inner) : referencesIn(inner)));
}

test("the document has the form of OpenAPI 3.1, and every reference leads somewhere", async () => {
  const document = await documentOf();
  const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  const references = new Set(referencesIn(document));
  expect([...references].filter((reference) => !names.includes(reference))).toEqual([]);
  expect(references.size).toBeGreaterThan(20);
});

test("operations have names of their own, known tags, and a description of each parameter of the path", async () => {
  const document = await documentOf();
  const operations = operationsOf(document);
  const ids = operations.map(({ operation: { operationId } }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = document.tags.map(({ name }) => name);
  for (const { path, operation: found } of operations) {
    expect(tags).toContain(found.tags[0]);
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).sort();
    const described = (found.parameters ?? []).filter((item) => item.in === "path");
    expect(described.map(({ name }) => name).sort()).toEqual(inPath);
    expect(described.every(({ required }) => required)).toBe(true);
    expect(Object.keys(found.responses)).toContain("200");
  }
});

test("every route of the API is in the document", async () => {
  const document = await documentOf();
  const listed = operationsOf(document).map(({ path, method }) => `${method.toUpperCase()} ${path}`);
  expect(listed.sort()).toEqual(
    [
      "GET /livez",
      "GET /metrics",
      "GET /openapi.json",
      "GET /readyz",
      "GET /v1/agents",
      "GET /v1/agents/{id}",
      "GET /v1/decisions",
      "GET /v1/embeddings",
      "GET /v1/events",
      "GET /v1/fleet",
      "GET /v1/metrics",
      "GET /v1/overview",
      "GET /v1/services",
      "GET /v1/services/graph",
      "GET /v1/services/instances",
      "GET /v1/services/paths",
      "GET /v1/services/requests",
      "GET /v1/services/suspects",
      "GET /v1/stream",
      "GET /v1/studies",
      "GET /v1/studies/{id}",
      "GET /v1/studies/{id}/figures/{name}",
      "GET /v1/traces",
      "GET /v1/traces/{id}",
      "GET /v1/trajectories",
      "GET /v1/workloads",
      "GET /v1/workloads/{id}",
      "GET /v1/workloads/{id}/series",
      "POST /v1/agents/{id}/pause",
      "POST /v1/agents/{id}/promote",
      "POST /v1/agents/{id}/resume",
      "POST /v1/agents/{id}/roll-back",
      "POST /v1/services/anomalies",
      "POST /v1/services/anomalies/{id}/stop",
      "POST /v1/workloads/{id}/faults",
      "PUT /v1/agents/{id}/mode",
      "PUT /v1/services/acting",
      "PUT /v1/services/requests",
      "PUT /v1/workloads/{id}/slo",
    ].sort(),
  );
});

test("what the server answers is what its document says, for every JSON answer and for a problem", async () => {
  const document = await documentOf();
  const stage = serverStage();
  stage.plane.send(samples(START, ["cart"]), decision("cart"), event("a note"));
  const schemaFor = (path: string, { method = "get", status = "200", type = "application/json" } = {}) => {
    const found = operationsOf(document).find((item) => item.path === path && item.method === method);
    const schema = found?.operation.responses[status]?.content[type]?.schema;
    expect(schema, `${method} ${path} ${status}`).toBeDefined();
    // Components stand beside the schema, so that references resolve within one document.
    return z.fromJSONSchema(
      JSON.parse(
        JSON.stringify({ ...schema, $defs: document.components.schemas }).replaceAll(
          "#/components/schemas/",
          "#/$defs/",
        ),
      ) as Parameters<typeof z.fromJSONSchema>[0],
    );
  };
  const agrees = async (path: string, asked = path) => {
    const answer = await stage.ask(asked);
    expect(schemaFor(path).safeParse(await answer.json()).error, asked).toBeUndefined();
  };
  await agrees("/v1/overview");
  await agrees("/v1/workloads");
  await agrees("/v1/workloads/{id}", "/v1/workloads/cart");
  await agrees("/v1/workloads/{id}/series", "/v1/workloads/cart/series");
  await agrees("/v1/decisions");
  await agrees("/v1/agents");
  await agrees("/v1/agents/{id}", "/v1/agents/cart-agent");
  await agrees("/v1/trajectories", "/v1/trajectories?agent=cart-agent");
  await agrees("/v1/events");
  await agrees("/v1/metrics");
  await agrees("/v1/studies");
  await agrees("/v1/embeddings");
  stage.plane.send({ kind: "fleet", fleet });
  await agrees("/v1/fleet");
  await agrees("/livez");
  const overview: unknown = await (await stage.ask("/v1/overview")).json();
  expect(schemaFor("/v1/agents").safeParse(overview).success).toBe(false);

  const refused = await stage.ask("/v1/agents/cart-agent/mode", { method: "PUT", ...json({ mode: "wild" }) });
  const problem = schemaFor("/v1/agents/{id}/mode", {
    method: "put",
    status: "400",
    type: "application/problem+json",
  });
  expect(problem.safeParse(await refused.json()).error).toBeUndefined();
});
