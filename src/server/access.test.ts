import { expect, test } from "vitest";
import { json, serverStage } from "../../test/fixtures/server/fake-plane.ts";
import type { Problem } from "../contract/index.ts";
import type { Token } from "./access.ts";

const tokens: readonly Token[] = [
  { name: "ann", role: "viewer", secret: "viewer-secret-0123456789" },
  { name: "bob", role: "operator", secret: "operator-secret-0123456789" },
];

const viewer = "Bearer viewer-secret-0123456789";
const operator = "Bearer operator-secret-0123456789";

test.each([
  // path, method, without a token, as viewer, as operator
  ["GET", "/v1/overview", 401, 200, 200],
  ["GET", "/v1/agents/cart-agent", 401, 200, 200],
  ["HEAD", "/v1/stream", 401, 200, 200],
  ["GET", "/metrics", 401, 200, 200],
  ["GET", "/openapi.json", 401, 200, 200],
  ["GET", "/livez", 200, 200, 200],
  ["GET", "/readyz", 200, 200, 200],
  ["GET", "/v1/nothing", 401, 404, 404],
  ["POST", "/v1/agents/cart-agent/promote", 401, 403, 200],
  ["PUT", "/v1/agents/cart-agent/mode", 401, 403, 200],
  ["POST", "/nowhere", 401, 403, 404],
])("%s %s: %i without a token, %i for a viewer, %i for an operator", async (method, path, ...expected) => {
  const { ask } = serverStage({ access: { kind: "tokens", tokens } });
  const init = method === "PUT" ? json({ mode: "act" }) : {};
  const statuses: number[] = [];
  for (const authorization of [null, viewer, operator]) {
    const headers = { ...(init.headers as object), ...(authorization === null ? {} : { authorization }) };
    statuses.push((await ask(path, { ...init, method, headers })).status);
  }
  expect(statuses).toEqual(expected);
});

test.each([
  "Bearer wrong-secret-0123456789",
  "Bearer ",
  "Bearer viewer-secret-0123456789 more",
  "Basic viewer-secret-0123456789",
  "viewer-secret-0123456789",
  "Bearer viewer-secret-012345678",
])("the header '%s' lets nobody in", async (authorization) => {
  const { ask } = serverStage({ access: { kind: "tokens", tokens } });
  const answer = await ask("/v1/overview", { headers: { authorization } });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
});

test("the audit log names who tried, refused or not, and never a token", async () => {
  const { ask, audited } = serverStage({ access: { kind: "tokens", tokens } });
  for (const authorization of ["Bearer guess-0123456789-0123", viewer, operator])
    await ask("/v1/agents/cart-agent/promote", { method: "POST", headers: { authorization } });
  expect(audited.map(({ who, outcome, code }) => [who, outcome, code])).toEqual([
    ["nobody", "refused", "server.token-missing"],
    ["ann", "refused", "server.role"],
    ["bob", "done", null],
  ]);
  expect(JSON.stringify(audited)).not.toMatch(/secret|guess/);
});

test.each([
  ["localhost:7070", 200],
  ["127.0.0.1:7070", 200],
  ["127.9.9.9", 200],
  ["[::1]:7070", 200],
  ["evil.example", 403],
  ["localhost.evil.example:7070", 403],
  ["127.0.0.1.evil.example", 403],
  ["10.0.0.1:7070", 403],
])("without tokens a request for host %s is answered %i", async (host, status) => {
  const { app, ask } = serverStage();
  expect((await app.fetch(new Request(`http://${host}/v1/overview`))).status).toBe(status);
  expect((await ask("/v1/overview", { headers: { host } })).status).toBe(status);
});

test("with tokens any name will do, since the token is what counts", async () => {
  const { app } = serverStage({ access: { kind: "tokens", tokens } });
  const request = new Request("http://plane.example/v1/overview", { headers: { authorization: viewer } });
  expect((await app.fetch(request)).status).toBe(200);
});

test.each([
  [{ origin: "http://127.0.0.1:7070" }, 200],
  [{ origin: "http://127.0.0.1:7070", "sec-fetch-site": "same-origin" }, 200],
  [{}, 200],
  [{ origin: "http://evil.example" }, 403],
  [{ origin: "http://127.0.0.1:8080" }, 403],
  [{ origin: "null" }, 403],
  [{ "sec-fetch-site": "cross-site" }, 403],
  [{ "sec-fetch-site": "same-site" }, 403],
])("a change sent with %j is answered %i", async (headers, status) => {
  const { ask, plane } = serverStage();
  const answer = await ask("/v1/agents/cart-agent/pause", { method: "POST", headers: { ...headers } });
  expect(answer.status).toBe(status);
  expect(plane.commands).toHaveLength(status === 200 ? 1 : 0);
  if (status === 403) expect((await answer.json()) as Problem).toMatchObject({ code: "server.origin" });
});

test("a preflight of another origin gets no permission", async () => {
  const { ask } = serverStage();
  const headers = { origin: "http://evil.example", "access-control-request-method": "POST" };
  const answer = await ask("/v1/agents/cart-agent/pause", { method: "OPTIONS", headers });
  expect(answer.status).toBe(403);
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
});
