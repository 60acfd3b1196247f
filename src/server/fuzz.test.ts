import fc from "fast-check";
import { expect, test } from "vitest";
import { serverStage } from "../../test/fixtures/server/fake-plane.ts";

const stage = serverStage({ limits: { writeBurst: 1e9, streams: 3 } });

const segment = fc.oneof(
  fc.constantFrom("v1", "agents", "workloads", "cart", "cart-agent", "mode", "slo", "faults", "series", "studies"),
  fc.constantFrom(
    "stream",
    "decisions",
    "events",
    "trajectories",
    "promote",
    "..",
    "%2e%2e",
    "%00",
    "%E0%A4",
    "%",
    "*",
  ),
  fc.string({ maxLength: 12, unit: "binary" }).map((text) => {
    try {
      return encodeURIComponent(text);
    } catch {
      return "%ff";
    }
  }),
);
const known = fc.constantFrom(
  "/v1/overview",
  "/v1/workloads/cart",
  "/v1/workloads/cart/series",
  "/v1/workloads/cart/slo",
  "/v1/workloads/cart/faults",
  "/v1/decisions",
  "/v1/embeddings",
  "/v1/fleet",
  "/v1/agents/cart-agent/mode",
  "/v1/agents/cart-agent/promote",
  "/v1/trajectories",
  "/v1/events",
  "/v1/studies/x/figures/y",
  "/openapi.json",
);
const path = fc.oneof(
  known,
  fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join("/")}`),
);
const queryValue = fc.oneof(
  fc.constantFrom("", "1", "-1", "0", "1e3", "999999999999999", "NaN", "cart", "cart-agent", "error", "null", "[]"),
  fc.string({ maxLength: 20 }),
);
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom("limit", "cursor", "from", "to", "points", "agent", "workload", "severity", "x", "__proto__"),
      queryValue,
    ),
    { maxLength: 4 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString());
const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "post", "X");
const body = fc.oneof(
  fc.constant(null),
  fc.constantFrom(
    '{"mode":"act"}',
    '{"fault":"node-lost"}',
    '{"kind":"none"}',
    '{"__proto__":{"mode":"act"}}',
    "{",
    "",
  ),
  fc.json(),
  fc
    .record({
      kind: fc.constantFrom("latency", "throughput", "none", "other"),
      quantile: fc.double(),
      target: fc.double(),
    })
    .map((slo) => JSON.stringify(slo)),
  fc.string({ maxLength: 50, unit: "binary" }),
);
const headerValue = fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "?"));
const headers = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "if-match",
    "idempotency-key",
    "last-event-id",
    "authorization",
    "origin",
    "accept",
    "accept-encoding",
    "if-none-match",
    "sec-fetch-site",
    "content-length",
  ),
  fc.oneof(fc.constantFrom("application/json", '"1"', "*", "abc", "5", "same-origin", "Bearer x"), headerValue),
  { maxKeys: 5 },
);

test("whatever is asked, the answer is a document or a problem with a code, and never a 500", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ path, query, method, body, headers }),
      async ({ path: where, query: asked, method: how, body: sent, headers: said }) => {
        const mayCarry = how !== "GET" && how !== "HEAD";
        const answer = await stage.ask(`${where}?${asked}`, {
          method: how,
          headers: said,
          ...(mayCarry && sent !== null ? { body: sent } : {}),
        });
        expect(answer.status).toBeLessThan(500 + (answer.status === 503 ? 4 : 0));
        expect(stage.defects).toEqual([]);
        if (answer.status >= 400 && how !== "HEAD")
          expect(await answer.json()).toMatchObject({
            status: answer.status,
            code: expect.stringMatching(/^\w+\.[\w-]+$/),
          });
        else await answer.body?.cancel();
      },
    ),
    { numRuns: 1_500 },
  );
});
