import { expect, test } from "vitest";
import { CodedError, failure } from "../base/index.ts";
import { exitCodeOf, reportFailure, toFailure, usageError } from "./failures.ts";
import type { Shell } from "./shell.ts";

function shellFor() {
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: () => expect.unreachable("a failure is not data") },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd: "/",
    signal: new AbortController().signal,
    now: () => 0,
    exitWith() {},
  };
  return { shell, stderr: () => err.join("") };
}

const systemError = (code: string, path: string) => Object.assign(new Error(`${code}: boom`), { code, path });

test("a coded failure is one sentence, with its hint below", () => {
  const { shell, stderr } = shellFor();
  expect(reportFailure(shell, usageError("which study?", "--list names them"), { json: false })).toBe(2);
  expect(stderr()).toBe("coxswain: which study?\n  --list names them\n");
});

test("as JSON it has code, message, retry and the hint, and never the cause", () => {
  const { shell, stderr } = shellFor();
  const thrown = new CodedError(failure("store.locked", "locked", { retry: true, cause: { secret: "hunter2" } }));
  expect(reportFailure(shell, thrown, { json: true })).toBe(1);
  expect(stderr()).toBe('{"code":"store.locked","message":"locked","retry":true}\n');
});

test.each([
  ["ENOENT", "file.missing", false],
  ["EACCES", "file.denied", false],
  ["EROFS", "file.denied", false],
  ["ENOSPC", "file.disk-full", true],
  ["ENOTDIR", "file.wrong-kind", false],
])("the system's %s becomes %s and names the path", (code, expected, retry) => {
  const found = toFailure(systemError(code, "/data/x"));
  expect(found).toMatchObject({ code: expected, retry });
  expect(found.message).toContain("/data/x");
});

test("anything else is a defect of ours, says so and shows where", () => {
  const { shell, stderr } = shellFor();
  expect(reportFailure(shell, new TypeError("x is not a function"), { json: false })).toBe(1);
  expect(stderr()).toContain("coxswain: unexpected: x is not a function");
  expect(stderr()).toContain("please report it");
  expect(stderr()).toContain("failures.test.ts");
});

test("usage and configuration are exit code 2, the rest 1", () => {
  expect(exitCodeOf(failure("usage.unknown-study", ""))).toBe(2);
  expect(exitCodeOf(failure("config.unknown-key", ""))).toBe(2);
  expect(exitCodeOf(failure("checkpoint.corrupt", ""))).toBe(1);
  expect(exitCodeOf(failure("server.port-taken", ""))).toBe(1);
});

test("a name that nothing has, a file that is not there and a weak token are mistakes of the command line too", () => {
  for (const code of ["env.unknown-id", "module.unknown-world", "file.missing", "plane.tokens", "otlp.token-weak"])
    expect(exitCodeOf(failure(code, "")), code).toBe(2);
});
