import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { CodedError } from "../../base/index.ts";
import { loadConfig } from "./load.ts";
import { configSchema } from "./schema.ts";
import { asYaml, redacted } from "./show.ts";
import { parseTargets } from "./target-schema.ts";

const shop = [
  "targets:",
  "  - workload: shop",
  "    slo: { latency: { targetMs: 400 } }",
  "    bounds:",
  "      replicas: { max: 8 }",
  "      cpu: { min: 100m, max: 2 }",
  "      memory: { min: 128Mi, max: 1Gi }",
  "    mode: act",
  "    simulate: { application: web-shop, load: { meanPerSecond: 12 } }",
];

function load(lines: readonly string[]) {
  const cwd = temporaryFolder("targets");
  writeFileSync(join(cwd, "own.yaml"), `${lines.join("\n")}\n`);
  return loadConfig({ schema: configSchema, env: {}, cwd, file: "own.yaml" });
}

/** The file with lines replaced, counted from 1, and others added. */
const withLines = (lines: Readonly<Record<number, string>>, ...added: readonly string[]): readonly string[] => [
  ...shop.map((line, index) => lines[index + 1] ?? line),
  ...added,
];

function refusal(lines: readonly string[]): string {
  try {
    load(lines);
  } catch (thrown) {
    if (thrown instanceof CodedError) return thrown.message;
    throw thrown;
  }
  throw new Error("it was accepted");
}

test("a target is a profile with what the simulated cluster runs for it", () => {
  const [target] = parseTargets(load(shop).config.targets);
  expect(target).toMatchObject({
    title: "shop",
    profile: {
      workload: "shop",
      slo: { kind: "latency", quantile: 0.99, target: 400 },
      bounds: { replicas: { min: 1, max: 8 }, cpu: { min: 100, max: 2_000 } },
      mode: "act",
      controlStep: 15_000,
    },
    rules: {},
    simulate: { application: "web-shop", load: { shape: "diurnal", meanPerSecond: 12 } },
  });
});

test("targets are printed as they were written, and read again mean the same", () => {
  const loaded = load(withLines({}, "    title: Our shop", "    rules: { targetPercent: 55, minCpu: 500m }"));
  const printed = asYaml(redacted(loaded)).split("\n");
  expect(parseTargets(load(printed).config.targets)).toEqual(parseTargets(loaded.config.targets));
  expect(loaded.config.targets[0]).toMatchObject({ rules: { minCpu: "500m" } });
});

test("without any there are none, and `up` brings its own", () => {
  expect(load(["log: { level: warn }"]).config.targets).toEqual([]);
});

describe("refused in one line, with its place:", () => {
  test.each([
    {
      what: "an SLO of no kind",
      lines: { 3: "    slo: fast" },
      says: "own.yaml:3: targets.0.slo must be 'none', or one of",
    },
    {
      what: "bounds the wrong way round",
      lines: { 6: "      cpu: { min: 2, max: 100m }" },
      says: "own.yaml:6: targets.0.bounds.cpu.max must be at least min, which is 2000, and is 100",
    },
    {
      what: "an application that is not there",
      lines: { 9: "    simulate: { application: shop, load: { meanPerSecond: 12 } }" },
      says: "own.yaml:9: targets.0.simulate.application must be one of web-shop, image-resizing",
    },
    {
      what: "nothing to simulate",
      lines: { 9: "    stakes: high" },
      says: "own.yaml:2: targets.0.simulate is not valid: expected object, received undefined",
    },
    {
      what: "a misspelt key",
      lines: { 8: "    moed: act" },
      says: "own.yaml:8: unknown key 'moed' in 'targets.0'; did you mean 'mode'?",
    },
    {
      what: "a threshold that no episode can reach",
      lines: { 8: "    reward: { thresholds: { online: 250 } }" },
      says: "own.yaml:8: targets.0.reward.thresholds.online can never be met: an episode earns at most 100, and 250 is asked for",
    },
  ])("$what", ({ lines, says }) => {
    const message = refusal(withLines(lines as Readonly<Record<number, string>>));
    expect(message).toContain(says);
    expect(message.split("\n")).toHaveLength(1);
  });

  test("two targets of one name, or with different control steps", () => {
    expect(refusal([...shop, ...shop.slice(1)])).toBe(
      "own.yaml:10: targets.1.workload must be another name: targets.0 is 'shop' already",
    );
    const other = shop.slice(1).map((line) => line.replace("workload: shop", "workload: cart"));
    expect(refusal([...shop, ...other, "    controlStepSeconds: 30"])).toBe(
      "own.yaml:18: targets.1.controlStepSeconds must be 15 as in the first target: all have their turns in one step",
    );
  });
});
