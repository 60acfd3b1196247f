import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, test } from "vitest";
import type { StudyReport } from "../studies/index.ts";
import { parseStudyResult, type StudyResult, type StudyResultRow, tallyOf } from "./study.ts";

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
      kind: "promise",
      target: { direction: "at-least", bound: 475, none: null },
      holds: true,
    },
  ],
};

test("the study runner's report is what the contract promises", () => {
  expectTypeOf<StudyReport>().toExtend<StudyResult>();
});

test("a sound document passes unchanged, with rows of every kind", () => {
  const [promise] = sound.rows;
  const { target: _, ...plain } = promise as (typeof sound.rows)[number];
  const rows = [
    promise,
    { ...promise, kind: "reproduction", outcome: "same-direction", holds: false },
    { ...plain, kind: "shown", holds: null },
  ];
  expect(parseStudyResult({ ...sound, rows })).toEqual({ ok: true, value: { ...sound, rows } });
});

test("promises and reproductions are counted apart, and what is shown is not counted", () => {
  const row = (kind: string, more: object) => ({ ...sound.rows[0], kind, ...more }) as StudyResultRow;
  const rows = [
    row("promise", { holds: true }),
    row("promise", { holds: false }),
    row("promise", { holds: true }),
    row("reproduction", { outcome: "reproduced", holds: true }),
    row("reproduction", { outcome: "same-direction", holds: false }),
    row("reproduction", { outcome: "not", holds: false }),
    row("reproduction", { outcome: "not", holds: false }),
    row("shown", { holds: null }),
  ];
  expect(tallyOf(rows)).toEqual({ promises: 3, promisesHeld: 2, reproductions: 4, reproduced: 1, sameDirection: 1 });
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
    "a row without a kind",
    { ...sound, rows: [{ ...sound.rows[0], kind: undefined }] },
    "rows[0].kind: expected promise or reproduction or shown, found nothing",
  ],
  [
    "a reproduction without an outcome",
    { ...sound, rows: [{ ...sound.rows[0], kind: "reproduction" }] },
    "rows[0].outcome: expected reproduced or same-direction or not, found nothing",
  ],
  [
    "a verdict where nothing is judged",
    { ...sound, rows: [{ ...sound.rows[0], kind: "shown" }] },
    "rows[0].holds: expected null, found true",
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
