import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { CodedError } from "../../base/index.ts";
import { SECRET } from "./leaves.ts";
import { loadConfig } from "./load.ts";
import { configSchema } from "./schema.ts";
import { redacted, shownSettings } from "./show.ts";

const schema = z.strictObject({
  loop: z
    .strictObject({ tickMs: z.int().positive().default(1000), settleMs: z.int().positive().default(5000) })
    .refine((loop) => loop.settleMs >= loop.tickMs, { path: ["settleMs"], message: "must be at least tickMs" })
    .prefault({}),
  store: z.strictObject({ url: z.string().default("memory:"), token: z.string().meta(SECRET).optional() }).prefault({}),
  tags: z.array(z.string()).default([]),
  dryRun: z.boolean().default(false),
});

let cwd: string;
beforeEach(() => {
  cwd = temporaryFolder("config");
});

const load = (options: Partial<Parameters<typeof loadConfig<typeof schema>>[0]> = {}) =>
  loadConfig({ schema, env: {}, cwd, ...options });

function write(text: string, name = "coxswain.yaml"): string {
  writeFileSync(join(cwd, name), text);
  return name;
}

function failureOf(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof CodedError) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

describe("precedence", () => {
  test("flags win over the environment, it over the file, the file over defaults", () => {
    write("loop:\n  tickMs: 20\n  settleMs: 60\ndryRun: true\n");
    const { config, origins } = load({
      env: { COXSWAIN_LOOP_TICK_MS: "30", COXSWAIN_LOOP_SETTLE_MS: "70" },
      flags: [{ path: ["loop", "tickMs"], flag: "--tick", value: 40 }],
    });
    expect(config.loop).toEqual({ tickMs: 40, settleMs: 70 });
    expect(config.dryRun).toBe(true);
    expect(config.tags).toEqual([]);
    expect(origins.get("loop.tickMs")).toEqual({ kind: "flag", flag: "--tick" });
    expect(origins.get("loop.settleMs")).toEqual({ kind: "environment", variable: "COXSWAIN_LOOP_SETTLE_MS" });
    expect(origins.get("dryRun")).toEqual({ kind: "file", file: "coxswain.yaml", line: 4 });
    expect(origins.get("tags")).toEqual({ kind: "default" });
  });

  test("a flag that was not given leaves the layer below alone", () => {
    write("dryRun: true\n");
    expect(load({ flags: [{ path: ["dryRun"], flag: "--dry-run", value: undefined }] }).config.dryRun).toBe(true);
  });

  test("a named file wins over the one that lies around, and an environment variable can name it", () => {
    write("dryRun: true\n");
    write('{"tags": ["a"]}', "other.json");
    expect(load({ file: "other.json" }).config).toMatchObject({ dryRun: false, tags: ["a"] });
    expect(load({ env: { COXSWAIN_CONFIG: join(cwd, "other.json") } }).config.tags).toEqual(["a"]);
  });

  test("environment text becomes the setting's type", () => {
    const { config } = load({ env: { COXSWAIN_TAGS: "a, b", COXSWAIN_DRY_RUN: "1", COXSWAIN_STORE_URL: "7" } });
    expect(config).toMatchObject({ tags: ["a", "b"], dryRun: true, store: { url: "7" } });
  });
});

describe("errors name the place", () => {
  test("an unknown key gives file, line and the nearest known key", () => {
    write("loop:\n  tickMs: 20\n  setleMs: 60\n");
    expect(failureOf(load)).toEqual({
      code: "config.unknown-key",
      message: "coxswain.yaml:3: unknown key 'setleMs' in 'loop'; did you mean 'settleMs'?",
    });
  });

  test("a key that resembles nothing gets no suggestion", () => {
    write("# head\nwatermelon: 1\n");
    expect(failureOf(load).message).toBe("coxswain.yaml:2: unknown key 'watermelon'");
  });

  test("a wrong type gives file, line, path and what was expected", () => {
    write("loop:\n  tickMs: soon\n");
    expect(failureOf(load)).toEqual({
      code: "config.invalid",
      message: "coxswain.yaml:2: loop.tickMs is not valid: expected number, received string",
    });
  });

  test("a wrong value from the environment names the variable", () => {
    expect(failureOf(() => load({ env: { COXSWAIN_LOOP_TICK_MS: "soon" } })).message).toMatch(
      /^COXSWAIN_LOOP_TICK_MS: loop\.tickMs is not valid/,
    );
  });

  test("a wrong value from a flag names the flag", () => {
    const flags = [{ path: ["loop", "tickMs"], flag: "--tick", value: -1 }];
    expect(failureOf(() => load({ flags })).message).toMatch(/^--tick: loop\.tickMs is not valid/);
  });

  test("a rule between two keys is reported where the offending one was written", () => {
    write("loop:\n  tickMs: 900\n\n  settleMs: 100\n");
    expect(failureOf(load).message).toBe("coxswain.yaml:4: loop.settleMs must be at least tickMs");
  });

  test("every problem is listed, not just the first", () => {
    write("loop:\n  tickMs: 0\nlop: 1\n");
    const { message } = failureOf(load);
    expect(message).toContain("coxswain.yaml:2: loop.tickMs");
    expect(message).toContain("coxswain.yaml:3: unknown key 'lop'; did you mean 'loop'?");
  });

  test("broken YAML gives the line", () => {
    write("loop:\n  tickMs: [1,\n");
    const found = failureOf(load);
    expect(found.code).toBe("config.syntax");
    expect(found.message).toMatch(/^coxswain\.yaml:[23]: /);
  });

  test("a key given twice is refused, not overwritten", () => {
    write("dryRun: true\ndryRun: false\n");
    expect(failureOf(load)).toMatchObject({
      code: "config.syntax",
      message: expect.stringMatching(/^coxswain\.yaml:2: /),
    });
  });

  test("a list or a bare word instead of settings is refused", () => {
    write("- a\n");
    expect(failureOf(load).message).toBe("coxswain.yaml:1: expected settings as 'key: value', found a list");
    write("hello\n");
    expect(failureOf(load).message).toContain("found a single value");
  });

  test("a named file that is missing is a failure of its own", () => {
    expect(failureOf(() => load({ file: "nowhere.yaml" }))).toMatchObject({
      code: "config.unreadable",
      message: expect.stringContaining("nowhere.yaml: "),
    });
  });
});

test("tuned values replace defaults only, and say what they are tuned for", () => {
  write("loop:\n  settleMs: 9000\n");
  const tuned = { by: "a fast machine", value: { loop: { tickMs: 5, settleMs: 7 }, dryRun: true } };
  const { config, origins } = load({ tuned, env: { COXSWAIN_DRY_RUN: "false" } });
  expect(config.loop).toEqual({ tickMs: 5, settleMs: 9000 });
  expect(config.dryRun).toBe(false);
  expect(origins.get("loop.tickMs")).toEqual({ kind: "tuned", by: "a fast machine" });
});

test("a value that stands where a section belongs is refused, not replaced by what the environment says", () => {
  write("loop: 5\n");
  expect(failureOf(() => load({ env: { COXSWAIN_LOOP_TICK_MS: "30" } })).message).toBe(
    "coxswain.yaml:1: loop is not valid: expected object, received number",
  );
});

test("an empty file means all defaults", () => {
  write("# nothing yet\n");
  expect(load().config.loop.tickMs).toBe(1000);
});

test("the accepted configuration is frozen to the last leaf", () => {
  const { config } = load({ env: { COXSWAIN_TAGS: "a" } });
  expect(() => {
    (config.loop as { tickMs: number }).tickMs = 1;
  }).toThrow(TypeError);
  expect(() => config.tags.push("b")).toThrow(TypeError);
});

test("a misspelt variable is told, one that a cluster puts there is not", () => {
  const { strangers } = load({
    env: {
      COXSWAIN_LOOP_TICKMS: "1",
      COXSWAIN_SERVICE_HOST: "10.0.0.1",
      COXSWAIN_PORT_7070_TCP_ADDR: "10.0.0.1",
      PATH: "",
    },
  });
  expect(strangers).toEqual([
    "the environment variable COXSWAIN_LOOP_TICKMS is not a setting and has no effect; did you mean 'COXSWAIN_LOOP_TICK_MS'?",
  ]);
});

test("a secret is usable but never shown", () => {
  const loaded = load({ env: { COXSWAIN_STORE_TOKEN: "hunter2" } });
  expect(loaded.config.store.token).toBe("hunter2");
  expect(JSON.stringify(redacted(loaded))).not.toContain("hunter2");
  const shown = shownSettings(loaded).find((setting) => setting.setting === "store.token");
  expect(shown).toEqual({ setting: "store.token", value: "[redacted]", origin: "COXSWAIN_STORE_TOKEN" });
  expect(shownSettings(load()).find((setting) => setting.setting === "store.token")?.value).toBeUndefined();
});

test("the program's own schema accepts nothing at all and gives its defaults", () => {
  const { config } = loadConfig({ schema: configSchema, env: {}, cwd });
  expect(config.log.level).toBe("info");
  expect(config.runtime).toEqual({ kernels: "auto", workers: 0 });
});

test("of very many mistakes the first are told, and how many more there are; a long key is cut", () => {
  write(`${"k".repeat(1_000)}: 1\n${Array.from({ length: 5_000 }, (_, i) => `x${i}: 1\n`).join("")}`);
  const { code, message } = failureOf(() => load());
  expect(code).toBe("config.unknown-key");
  const lines = message.split("\n");
  expect(lines).toHaveLength(21);
  expect(lines[0]).toMatch(/^coxswain\.yaml:1: unknown key 'k{80}…'$/);
  expect(lines[20]).toBe("and 4981 more");
});
