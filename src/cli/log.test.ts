import { expect, test } from "vitest";
import { createLogger } from "./log.ts";

function logged(
  level: "info" | "error",
  act: (log: ReturnType<typeof createLogger>) => void,
): Record<string, unknown>[] {
  const lines: string[] = [];
  act(createLogger({ level, sink: { write: (line) => lines.push(line) } }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a line is JSON with the level's name, an ISO time, the message and its fields", () => {
  const [line] = logged("info", (log) => log.info({ seed: 3 }, "job finished"));
  expect(line).toMatchObject({ level: "info", app: "coxswain", msg: "job finished", seed: 3 });
  expect(new Date(line?.time as string).toISOString()).toBe(line?.time);
});

test("lines below the level are not written", () => {
  expect(logged("error", (log) => log.info("quiet"))).toEqual([]);
});

test("a child logger carries its fields on every line", () => {
  const lines = logged("info", (log) => log.child({ study: "rl-cartpole" }).warn("slow"));
  expect(lines[0]).toMatchObject({ study: "rl-cartpole", level: "warn" });
});

test("secrets are redacted at the top and one level down", () => {
  const [line] = logged("info", (log) => log.info({ token: "hunter2", store: { password: "hunter3" } }, "connected"));
  expect(line).toMatchObject({ token: "[redacted]", store: { password: "[redacted]" } });
});
