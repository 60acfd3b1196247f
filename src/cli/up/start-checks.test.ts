/** What is wrong with addresses, ports and tokens is said before `up` opens anything. */
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("start-checks");
});

const LONG = "0123456789abcdef";

async function up(...args: readonly string[]) {
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: () => undefined },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
    signal: AbortSignal.timeout(20_000),
    now: () => performance.now(),
    exitWith() {},
  };
  const usual = ["up", "--duration", "0.1", "--data", "data", "--port", "0", "--application", "none", "--json"];
  const code = await run(shell, [...usual, ...args]);
  return { code, stderr: err.join("") };
}

test.each([
  ["an empty file", "", [], "has no tokens"],
  ["a file of comments", "# operator ann secret\n", [], "has no tokens"],
  ["no line for the API", `sender bob ${LONG}\n`, [], "has no 'viewer' or 'operator'"],
  ["no line for spans", `operator ann ${LONG}\n`, [], "has no 'sender'"],
  ["a short secret for the API", "operator ann short\n", ["--no-otlp"], "token of 'ann' is shorter than 16"],
  ["a short secret for spans", `operator ann ${LONG}\nsender bob short\n`, [], "token for spans is shorter than 16"],
])("tokens, %s: refused", async (_what, text, args, expected) => {
  writeFileSync(join(cwd, "tokens"), text);
  const { code, stderr } = await up("--token-file", "tokens", ...args);
  expect(stderr).toContain(expected);
  expect(code).toBe(2);
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("an address that others reach is refused without tokens, for the API and for spans", async () => {
  expect(await up("--host", "0.0.0.0")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("server.token-required"),
  });
  writeFileSync(join(cwd, "spans.yaml"), "otlp: { host: 0.0.0.0, httpPort: 0, grpcPort: 0 }\n");
  const spans = await up("--config", "spans.yaml");
  expect(spans).toMatchObject({ code: 2, stderr: expect.stringContaining("otlp.token-required") });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("an address of another machine, a port that is taken, and one that is wanted twice are refused", async () => {
  writeFileSync(join(cwd, "tokens"), `operator ann ${LONG}\n`);
  const elsewhere = await up("--host", "192.0.2.1", "--token-file", "tokens", "--no-otlp");
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("server.bind") });
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const port = String((taken.address() as AddressInfo).port);
  expect((await up("--port", port, "--no-otlp")).stderr).toContain("server.port-taken");
  expect((await up("--otlp-http-port", port, "--otlp-grpc-port", "0")).stderr).toContain("otlp.bind");
  await new Promise((resolve) => taken.close(resolve));
  expect((await up("--port", port, "--otlp-http-port", port)).stderr).toContain("otlp.bind");
  expect(existsSync(join(cwd, "data"))).toBe(false);
});
