import { expect, test } from "vitest";
import { clockTime, createProgress, progressLine } from "./progress.ts";
import type { Shell } from "./shell.ts";

function fakeShell({ isTTY, env = {} }: { isTTY: boolean; env?: Record<string, string> }) {
  const written: string[] = [];
  let time = 0;
  const sink = { write: (text: string) => written.push(text), isTTY, columns: 60 };
  const shell: Shell = {
    stdout: sink,
    stderr: sink,
    env,
    cwd: "/",
    signal: new AbortController().signal,
    now: () => time,
    exitWith() {},
  };
  return {
    shell,
    written,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

test("nothing is drawn in the first two seconds", () => {
  const { shell, written, pass } = fakeShell({ isTTY: true });
  const bar = createProgress(shell, "work");
  pass(1_900);
  bar.update({ fraction: 0.9 });
  bar.clear();
  expect(written).toEqual([]);
});

test("after two seconds a line with share and time left appears, and goes when cleared", () => {
  const { shell, written, pass } = fakeShell({ isTTY: true });
  const bar = createProgress(shell, "work");
  pass(30_000);
  bar.update({ fraction: 0.25 });
  expect(written.join("")).toContain("25 %  01:30 left");
  bar.clear();
  expect(written.at(-1)).toBe("\r\u001b[K");
});

test("redraws are held to ten per second", () => {
  const { shell, written, pass } = fakeShell({ isTTY: true });
  const bar = createProgress(shell, "work");
  pass(5_000);
  for (let i = 0; i < 1_000; i++) {
    bar.update({ fraction: 0.5 });
    pass(1);
  }
  expect(written).toHaveLength(10);
});

test("nothing is drawn where there is no terminal, or where a CI log would keep it", () => {
  for (const options of [
    { isTTY: false },
    { isTTY: true, env: { TERM: "dumb" } },
    { isTTY: true, env: { CI: "true" } },
  ]) {
    const { shell, written, pass } = fakeShell(options);
    const bar = createProgress(shell, "work");
    pass(60_000);
    bar.update({ fraction: 0.5 });
    bar.clear();
    expect(written).toEqual([]);
  }
});

test("the line is never wider than the terminal", () => {
  for (const columns of [20, 40, 60, 80, 200]) {
    const line = progressLine({
      label: "rl-cartpole",
      fraction: 0.5,
      note: "17 of 20 jobs",
      elapsedMs: 9_000,
      columns,
    });
    expect(line.length).toBeLessThan(columns);
  }
});

test("time is read as minutes and seconds, hours when there are some", () => {
  expect(clockTime(75_000)).toBe("01:15");
  expect(clockTime(3_723_000)).toBe("1:02:03");
});
