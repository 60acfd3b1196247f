import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { runCli } from "./run-cli.ts";

const example = fileURLToPath(new URL("../../examples/own-workloads.yaml", import.meta.url));

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("config");
  copyFileSync(example, join(cwd, "own.yaml"));
});

const up = (...args: string[]) =>
  runCli(["up", "--port", "0", "--no-otlp", "--application", "none", "--config", "own.yaml", ...args], { cwd });

interface Summary {
  readonly workload: string;
  readonly title: string;
  readonly stage: string;
  readonly steps: number;
  readonly twin: { readonly dollars: number };
}

test("`up` manages the targets of a user's file, with twins, and goes on with them", async () => {
  const { code, stdout, stderr } = await up("--data", "kept", "--duration", "3", "--speed", "60", "--json");
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  const { workloads } = JSON.parse(stdout) as { workloads: readonly Summary[] };
  expect(workloads.map(({ workload, title }) => [workload, title])).toEqual([
    ["checkout", "Checkout"],
    ["thumbnails", "thumbnails"],
  ]);
  for (const { stage, steps, twin } of workloads) {
    expect(stage).toBe("OFFLINE");
    expect(steps).toBeGreaterThan(0);
    expect(twin.dollars).toBeGreaterThan(0);
  }
  // Behind the line with the checksum.
  const saved = () => JSON.parse(readFileSync(join(cwd, "kept", "plane.json"), "utf8").split("\n")[1] ?? "");
  expect(saved().workloads.checkout.slo).toEqual({ kind: "latency", quantile: 0.99, target: 450 });
  expect(saved().agents).toMatchObject({ "checkout-agent": { mode: "act" }, "thumbnails-agent": { mode: "canary" } });
  // What the owner asks for now is newer than what was saved.
  writeFileSync(join(cwd, "own.yaml"), readFileSync(example, "utf8").replace("targetMs: 450", "targetMs: 500"));
  expect((await up("--data", "kept", "--duration", "1", "--speed", "60", "--json")).code).toBe(0);
  expect(saved().workloads.checkout.slo).toEqual({ kind: "latency", quantile: 0.99, target: 500 });
});

test("a bad target is one sentence with its place, and --workloads does not go with targets", async () => {
  const text = readFileSync(example, "utf8");
  const line = text.split("\n").findIndex((one) => one.includes("web-rendering")) + 1;
  writeFileSync(join(cwd, "own.yaml"), text.replace("web-rendering", "web-renderin"));
  const bad = await up("--data", ":memory:");
  expect(bad.code).toBe(2);
  expect(bad.stderr).toMatch(new RegExp(`^coxswain: own.yaml:${line}: targets.0.simulate.application must be one of`));
  expect(bad.stderr.trim().split("\n")).toHaveLength(1);
  copyFileSync(example, join(cwd, "own.yaml"));
  const both = await up("--data", ":memory:", "--workloads", "2");
  expect(both.code).toBe(2);
  expect(both.stderr).toContain("--workloads does not go with the targets of a settings file");
});
