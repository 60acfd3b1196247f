import { expect, test } from "vitest";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";
import { cartPolePicture } from "./cart-pole-picture.ts";
import { LiveScreen } from "./live-screen.ts";

interface FakeOptions {
  readonly isTTY: boolean;
  /** Called with every text that is written to standard output. */
  readonly onWrite?: (text: string, stop: () => void) => void;
}

function fakeShell({ isTTY, onWrite }: FakeOptions) {
  const abort = new AbortController();
  const out: string[] = [];
  const shell: Shell = {
    stdout: {
      isTTY,
      columns: 70,
      rows: 24,
      write(text) {
        out.push(text);
        onWrite?.(text, () => abort.abort(new DOMException("stopped", "AbortError")));
      },
    },
    stderr: { write: () => true },
    env: {},
    cwd: "/",
    signal: abort.signal,
    now: () => performance.now(),
    exitWith() {},
  };
  return { shell, out };
}

test("without a terminal the demo prints plain lines, ends by itself, and the agent has learned", async () => {
  const { shell, out } = fakeShell({ isTTY: false });
  expect(await run(shell, ["demo"])).toBe(0);
  const text = out.join("");
  expect(text).not.toContain("\u001b");
  const number = (pattern: RegExp) => Number(text.match(pattern)?.[1]);
  const before = number(/random policy earns ([\d.]+) per episode/);
  const after = number(/learned policy earns ([\d.]+) per episode/);
  // A random policy keeps the pole up for some twenty steps; 500 is the most there is.
  expect(before).toBeGreaterThan(10);
  expect(before).toBeLessThan(40);
  expect(after).toBeGreaterThan(300);
  expect(after).toBeLessThanOrEqual(500);
  expect(text.match(/^step +\d+ /gm)?.length).toBeGreaterThan(8);
});

test("Ctrl-C while it draws stops it at once and gives the cursor back", async () => {
  const { shell, out } = fakeShell({
    isTTY: true,
    onWrite: (text, stop) => {
      if (text.includes("learning with PPO")) stop();
    },
  });
  await run(shell, ["demo"]);
  expect(out.filter((text) => text.includes("learning with PPO"))).toHaveLength(1);
  expect(out[0]).toContain("\u001b[?25l");
  expect(out.at(-1)).toBe("\u001b[?25h");
});

test("a drawing goes over the one before it, line by line, and what is kept is not touched again", () => {
  const { shell, out } = fakeShell({ isTTY: true });
  const screen = new LiveScreen(shell);
  screen.draw("one\ntwo\nthree");
  screen.draw("four\nfive");
  expect(out.at(-1)).toBe("\u001b[3A\r\u001b[Kfour\n\u001b[Kfive\n\u001b[J");
  screen.keep();
  screen.draw("six");
  expect(out.at(-1)).toBe("\u001b[Ksix\n\u001b[J");
});

test("the picture shows the cart where it is and the pole leaning as it does", () => {
  const size = { columns: 30, rows: 6 };
  const topOf = (obs: readonly number[]) => {
    const rows = cartPolePicture(obs, size).split("\n");
    const row = rows.find((line) => /[^⠀]/.test(line)) ?? "";
    return row.search(/[^⠀]/);
  };
  expect(cartPolePicture([0, 0, 0, 0], size).split("\n")).toHaveLength(6);
  const upright = topOf([0, 0, 0, 0]);
  expect(topOf([0, 0, 0.5, 0])).toBeGreaterThan(upright);
  expect(topOf([0, 0, -0.5, 0])).toBeLessThan(upright);
  expect(topOf([-1.5, 0, 0, 0])).toBeLessThan(upright);
});
