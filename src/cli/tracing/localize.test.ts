import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { node, spansOf } from "../../../test/fixtures/traces/span-tree.ts";
import { encodeOtlp } from "../../adapters/otlp/index.ts";
import { encodeLocalizer, Localizer } from "../../control/localize/index.ts";
import { NameTable, spanColumnsOf } from "../../observe/telemetry/index.ts";
import { run } from "../program.ts";
import type { Shell } from "../shell.ts";
import type { LocalizeReport } from "./localize.ts";

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("localize");
});

async function localize(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const shell: Shell = {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env: {},
    cwd,
    signal: new AbortController().signal,
    now: () => 0,
    exitWith() {},
  };
  const code = await run(shell, ["trace", "localize", ...args]);
  return { code, stdout: out.join(""), stderr: err.join("") };
}

/** Requests of 40 ms of which `cart` has its part and `shop` the rest; the k-th takes `cartMs(k)` there. */
function record(file: string, cartMs: (k: number) => number, count = 60): void {
  const spans = Array.from({ length: count }, (_, k) => {
    const start = 1e9 + k * 1e6;
    const cart = 1_000 * cartMs(k);
    const shop = 20_000 + 500 * (k % 3);
    return spansOf(
      node("shop", [start, start + shop + cart], [node("cart", [start + 10_000, start + 10_000 + cart])]),
      {
        trace: k + 1,
      },
    );
  }).flat();
  writeFileSync(join(cwd, file), encodeOtlp(spanColumnsOf(spans, new NameTable())));
}

const report = async (...args: readonly string[]): Promise<LocalizeReport> => {
  const { code, stdout, stderr } = await localize(...args, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as LocalizeReport;
};

describe("from one recording", () => {
  test("who varies with the requests comes first, and it is said that nothing was trained", async () => {
    record("slow.pb", (k) => (k % 5 === 0 ? 200 : 10));
    const { suspects, traces, isTrained } = await report("slow.pb");
    expect([traces, isTrained]).toEqual([60, false]);
    expect(suspects.map(({ instance }) => instance)).toEqual(["cart-0", "shop-0"]);
    expect(suspects[0]).toMatchObject({ request: "shop/op", expectedSaving: 0, congestionIntensity: 20 });
    const { stdout } = await localize("slow.pb");
    expect(stdout).toContain("no trained model");
    expect(stdout).toMatch(/1\s+cart-0\s+shop\/op/);
    expect(stdout).toContain("no telemetry of it");
  });
});

describe("against normal times", () => {
  test("what an instance takes beyond them is told in milliseconds", async () => {
    record("before.pb", () => 10);
    record("slow.pb", (k) => 60 + (k % 2));
    const { suspects, normalTraces } = await report("slow.pb", "--normal", "before.pb");
    expect(normalTraces).toBe(60);
    expect(suspects.find(({ instance }) => instance === "cart-0")?.expectedSaving).toBeCloseTo(50.5, 6);
  });

  test("a trained localizer's file is used, and its threshold may be set", async () => {
    record("slow.pb", (k) => (k % 5 === 0 ? 200 : 10));
    writeFileSync(join(cwd, "model"), encodeLocalizer(new Localizer({ seed: 3 })));
    expect((await report("slow.pb", "--model", "model", "--threshold", "0.9")).threshold).toBe(0.9);
  });
});

describe("what cannot be done is told in one sentence", () => {
  test.each([
    [["nowhere.json"], 2, "does not exist"],
    [["few.pb"], 1, "too few"],
    [["slow.pb", "--model", "nowhere"], 2, "trace.model"],
    [["slow.pb", "--model", "slow.pb"], 1, "checkpoint.corrupt"],
    [["slow.pb", "--normal", "empty"], 1, "it is empty"],
  ])("%j", async (args, exit, said) => {
    record("few.pb", () => 10, 5);
    record("slow.pb", () => 10);
    writeFileSync(join(cwd, "empty"), "");
    const { code, stdout, stderr } = await localize(...args, "--json");
    expect([code, stdout]).toEqual([exit, ""]);
    expect(stderr).toContain(said);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("a threshold that is no share is refused as usage", async () => {
    expect(await localize("x", "--threshold", "2")).toMatchObject({ code: 2 });
  });
});
