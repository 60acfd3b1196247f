import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, test } from "vitest";
import type { StudyReport } from "../studies/index.ts";
import { parseStudyResult, type StudyResult } from "./contract.ts";

const sound = {
  study: "rl-cartpole",
  title: "CartPole",
  quick: false,
  seeds: [1, 2],
  wallSeconds: 12.5,
  world: "none",
  version: "0.1.0",
  rows: [
    {
      id: "ppo",
      what: "return",
      paper: null,
      ours: { mean: 490, lo: 480, hi: 500, n: 10, unit: "reward" },
      claim: "at least 475",
      holds: true,
    },
  ],
};

test("the study runner's report is what the contract promises", () => {
  expectTypeOf<StudyReport>().toExtend<StudyResult>();
});

test("a sound document passes unchanged, one whose rows are not judged too", () => {
  expect(parseStudyResult(sound)).toEqual({ ok: true, value: sound });
  const shown = { ...sound, rows: [{ ...sound.rows[0], holds: null }] };
  expect(parseStudyResult(shown)).toEqual({ ok: true, value: shown });
});

test.each([
  ["a number", 5, "the document: expected an object, found 5"],
  ["a document without rows", { ...sound, rows: undefined }, "rows: expected a list, found nothing"],
  [
    "an estimate that is no number",
    { ...sound, rows: [{ ...sound.rows[0], ours: { ...sound.rows[0]?.ours, mean: "fast" } }] },
    'rows[0].ours.mean: expected a number, found "fast"',
  ],
  [
    "half a published range",
    { ...sound, rows: [{ ...sound.rows[0], paper: { low: 1 } }] },
    "rows[0].paper.high: expected a number, found nothing",
  ],
])("%s is refused with the place and what was found", (_what, document, problem) => {
  expect(parseStudyResult(document)).toEqual({ ok: false, problem });
});

test("every result that the repository publishes keeps to the contract", () => {
  const folder = fileURLToPath(new URL("../../docs/results/", import.meta.url));
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  for (const file of files)
    expect(parseStudyResult(JSON.parse(readFileSync(`${folder}${file}`, "utf8"))), file).toMatchObject({ ok: true });
});
