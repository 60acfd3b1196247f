/** Settings files that are made to exhaust whoever reads them: each is one clear sentence, soon. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { type Failure, failureOf } from "../../base/index.ts";
import { parseConfig, readConfigFile } from "./document.ts";

function refusalOf(run: () => unknown): Failure | undefined {
  try {
    run();
  } catch (thrown) {
    const found = failureOf(thrown);
    if (found === undefined) throw thrown;
    return found;
  }
  return undefined;
}

const levels = Array.from({ length: 9 }, (_, i) => i + 1);
const bomb = `a0: &a0 [x, x]\n${levels
  .map(
    (i) =>
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(", ")}]`,
  )
  .join("\n")}\n`;
const wide = `big: &big [${Array(20_000).fill("x").join(", ")}]\nmany: [${Array(99).fill("*big").join(", ")}]\n`;

test.each([
  ["aliases of aliases", bomb, "f.yaml: its aliases stand for more than"],
  ["many aliases of one long list", wide, "f.yaml: it has more than 100,000 values"],
  [
    "very many aliases",
    `a: &a x\nb: [${Array(20_000).fill("*a").join(", ")}]\n`,
    "f.yaml: it has more than 1,000 aliases",
  ],
  ["an alias of what it is in", "a: &a [*a]\n", "f.yaml: it is nested more than 50 levels deep"],
  ["brackets in brackets", `a: ${"[".repeat(100_000)}`, "f.yaml: it is nested more than 50 levels deep"],
  [
    "brackets in brackets that end",
    `a: ${"[".repeat(60)}${"]".repeat(60)}`,
    "f.yaml: it is nested more than 50 levels deep",
  ],
  ["dashes after dashes", `a:\n  ${"- ".repeat(50_000)}x\n`, "f.yaml: it is nested more than 50 levels deep"],
  ["maps in maps", `${"{a: ".repeat(20_000)}`, "f.yaml: it is nested more than 50 levels deep"],
  [
    "very many keys",
    Array.from({ length: 60_000 }, (_, i) => `k${i.toString(36)}:\n`).join(""),
    "f.yaml: it has more than",
  ],
  ["more than a megabyte", `# ${"x".repeat(1_100_000)}`, "f.yaml: it is larger than 1 MiB"],
])("%s", (_what, text, expected) => {
  const found = refusalOf(() => parseConfig(text, "f.yaml"));
  expect(found?.code).toBe("config.too-much");
  expect(found?.message.startsWith(expected), found?.message).toBe(true);
  expect(found?.message).not.toContain("\n");
});

test("a few aliases, as people use them, are taken", () => {
  const { value } = parseConfig("a: &a { min: 1, max: 2 }\nb: *a\nc: [*a, *a]\n", "f.yaml");
  expect(value).toEqual({ a: { min: 1, max: 2 }, b: { min: 1, max: 2 }, c: Array(2).fill({ min: 1, max: 2 }) });
});

test("a key that is given twice is refused with its line", () => {
  const found = refusalOf(() => parseConfig("a:\n  b: 1\n  c: 2\n  b: 3\n", "f.yaml"));
  expect(found).toMatchObject({ code: "config.syntax", message: expect.stringMatching(/^f\.yaml:4: .*unique/) });
});

test.skipIf(!existsSync("/dev/zero"))("a file without an end is not read to its end", () => {
  expect(refusalOf(() => readConfigFile("zero", "/dev/zero"))?.message).toMatch(/^zero: it is larger than 1 MiB/);
});

test("an alias of nothing is refused with its line", () => {
  const found = refusalOf(() => parseConfig("a: 1\nb: *nothing\n", "f.yaml"));
  expect(found).toMatchObject({ code: "config.syntax", message: expect.stringMatching(/^f\.yaml:2: .*nothing/) });
});

test("a file of almost a megabyte is read", () => {
  const file = join(temporaryFolder("document"), "large.yaml");
  writeFileSync(file, `log:\n  level: warn\n# ${"x".repeat(1_000_000)}\n`);
  expect(readConfigFile("large.yaml", file).value).toEqual({ log: { level: "warn" } });
});
