/**
 * A kind of SLO is a file of its own and a row in the contract's table; everything else follows from the two. The newest
 * kind, availability, is looked for in the sources, and then in every place where people meet an SLO.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, expectTypeOf, test } from "vitest";
import { checkSlo, typedSlo } from "../../dashboard/src/words/slo-input.ts";
import { sloWords } from "../../dashboard/src/words/slo-words.ts";
import { standingOf } from "../../dashboard/src/words/standing.ts";
import { profileYaml } from "../../src/cli/config/index.ts";
import { parseProfile } from "../../src/cli/config/profile.ts";
import {
  describeSlo,
  type Sample,
  type SloDocument,
  sloFields,
  sloKindNames,
  sloNumbers,
  sloShortfall,
} from "../../src/contract/index.ts";
import { sloSchema } from "../../src/contract/schemas/index.ts";
import { parseSlo, type Slo } from "../../src/observe/telemetry/index.ts";

const promised = { kind: "availability", target: 0.999 } as const;

test("the kinds that are judged are the kinds that people are asked for", () => {
  expectTypeOf<SloDocument["kind"]>().toEqualTypeOf<Slo["kind"]>();
  for (const kind of sloKindNames) {
    const numbers = sloFields(kind).map(([name, { example }]) => [name, example]);
    const slo = { kind, ...Object.fromEntries(numbers) };
    expect(sloSchema.parse(slo)).toEqual(slo);
    expect(parseSlo(slo as Slo)).toMatchObject({ ok: true });
    expect(checkSlo(typedSlo(slo as SloDocument))).toEqual({ ok: true, slo });
    expect(sloNumbers(slo as SloDocument)).toEqual(Object.fromEntries(numbers));
  }
});

test("a kind takes its own file, a line in the list of kinds and a row in the contract", () => {
  const isNamed = /["'.]availability\b|\bavailability(?:,| }|:)/;
  const files = ["src", "dashboard/src"].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((path) => /(?<!\.test)\.tsx?$/.test(path) && !path.includes("node_modules"))
      .map((path) => join(root, path)),
  );
  expect(files.length).toBeGreaterThan(500);
  // A call of the simulated hotel has the same name.
  const named = files.filter((file) => !file.startsWith("src/sim/") && isNamed.test(readFileSync(file, "utf8")));
  expect(named.sort()).toEqual([
    "src/contract/slo.ts",
    "src/observe/telemetry/slo/availability.ts",
    "src/observe/telemetry/slo/index.ts",
  ]);
});

test("documents and requests of the API have it, within its bounds", () => {
  expect(sloSchema.safeParse(promised).success).toBe(true);
  expect(sloSchema.safeParse({ ...promised, target: 1 }).success).toBe(true);
  for (const wrong of [
    { ...promised, target: 0 },
    { ...promised, target: 99.9 },
    { ...promised, quantile: 0.99 },
    { kind: promised.kind },
  ])
    expect(sloSchema.safeParse(wrong).success).toBe(false);
});

test("a profile may ask for it, and is printed as it was written", () => {
  const text = (slo: string): string =>
    `workload: shop\nslo: ${slo}\nbounds:\n  replicas: { max: 12 }\n  cpu: { min: 100m, max: 4 }\n  memory: { min: 128Mi, max: 2Gi }\n`;
  const profile = parseProfile(text("{ availability: { target: 0.999 } }"), "shop.yaml");
  expect(profile.slo).toEqual(promised);
  expect(profileYaml(profile)).toContain("slo:\n  availability:\n    target: 0.999\n");
  expect(parseProfile(profileYaml(profile), "printed.yaml")).toEqual(profile);
  expect(() => parseProfile(text("{ availability: { target: 99.9 } }"), "shop.yaml")).toThrow(
    "shop.yaml:2: slo.availability.target is not valid: expected number to be <=1",
  );
  expect(() => parseProfile(text("fast"), "shop.yaml")).toThrow(
    "slo must be 'none', or one of 'latency: { quantile: 0.99, targetMs: 250 }', 'throughput: { targetPerSecond: 40 }' and 'availability: { target: 0.999 }'",
  );
});

test("it is said in words, in trouble and on the dashboard", () => {
  expect(sloWords(promised)).toBe("availability at least 99.9 %");
  expect(sloWords({ ...promised, target: 0.9995 })).toBe("availability at least 99.95 %");
  // 98.901 % of requests answered is 99 % of 99.9 %.
  expect(sloShortfall(promised, { latency: 80, preservation: 0.99 })).toBe(
    "98.901 % of requests answered, promised 99.9 %",
  );
  const now = { at: 0, latency: 80, preservation: 0.99 } as Sample;
  expect(standingOf({ slo: promised, now, trouble: null })).toEqual({
    kind: "over",
    label: "Over target",
    sentence: "99.0 % of the promised answers, target 99.9 %",
  });
  expect(standingOf({ slo: promised, now: { ...now, preservation: 1 }, trouble: null }).kind).toBe("met");
  expect(standingOf({ slo: promised, now: { ...now, preservation: null }, trouble: null }).sentence).toBe(
    "No availability was measured in the last step.",
  );
  expect(checkSlo({ ...typedSlo(promised), target: "99.9" })).toEqual({
    ok: false,
    problems: { target: "Give at most 1: 0.999 is 99.9 % of requests." },
  });
  expect(describeSlo("availability")).toMatchObject({ judged: { by: "preservation", target: "floor" } });
});
