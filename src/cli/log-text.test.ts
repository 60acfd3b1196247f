import { expect, test } from "vitest";
import { createLogger } from "./log.ts";
import type { Sink } from "./shell.ts";

type Format = "auto" | "text" | "json";

function written(
  act: (log: ReturnType<typeof createLogger>) => void,
  options: Partial<Sink> & { format?: Format } = {},
) {
  const { format = "text", ...sink } = options;
  const lines: string[] = [];
  act(createLogger({ level: "info", format, sink: { ...sink, write: (line) => lines.push(line) } }));
  return lines.join("");
}

const CLOCK = /^\d\d:\d\d:\d\d$/;

test("an event is its time, its severity and its sentence; what the sentence says is not said twice", () => {
  const line = written((log) =>
    log.info({ severity: "notice", kind: "transition", workload: "web-shop", text: "Web shop: OFFLINE → ONLINE" }, "e"),
  );
  const [time, severity, ...words] = line.trim().split(/ {2,}/);
  expect(time).toMatch(CLOCK);
  expect([severity, ...words]).toEqual(["notice", "Web shop: OFFLINE → ONLINE"]);
});

test("any other line is its message with its fields, without those that are empty", () => {
  const line = written((log) => log.warn({ folder: "/pool", code: null, sizes: [1, 2] }, "the model cannot be used"));
  expect(line.slice("00:00:00".length)).toBe("  warning  the model cannot be used  folder=/pool  sizes=[1,2]\n");
});

test("a defect has its text in the line and its stack below it", () => {
  const line = written((log) => log.error({ err: new Error("no such file") }, "defect"));
  const [first, second, third] = line.split("\n");
  expect(first).toContain("error    defect: no such file");
  expect(second).toBe("    Error: no such file");
  expect(third).toMatch(/^ {8}at /);
});

test("secrets are redacted in readable lines, too", () => {
  expect(written((log) => log.info({ token: "hunter2" }, "connected"))).toContain("token=[redacted]");
});

test("only a terminal gets readable lines unasked, and a format that was asked for is kept to", () => {
  const say = (log: ReturnType<typeof createLogger>) => log.info("begun");
  const isJson = (text: string) => text.startsWith("{");
  expect(isJson(written(say, { format: "auto" }))).toBe(true);
  expect(isJson(written(say, { format: "auto", isTTY: true }))).toBe(false);
  expect(isJson(written(say, { format: "json", isTTY: true }))).toBe(true);
  expect(isJson(written(say, { format: "text", isTTY: false }))).toBe(false);
});

test("colours are there only where they are wanted", () => {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  for (const hasColour of [false, true]) createLogger({ level: "info", format: "text", sink, hasColour }).warn("slow");
  expect(lines.map((line) => line.includes("\u001b["))).toEqual([false, true]);
});
