import { expect, test } from "vitest";
import { noAccount } from "../../../src/contract/index.ts";
import { perDayWords, savedBriefly, savedPerDay, savedWords, savingsOf, savingsSentence } from "./savings.ts";

const account = (cost: number, violations = 0) => ({ ...noAccount, steps: 1_000, violations, cost });

test("what is saved is said in dollars and of what the twin cost, with how often the SLO was kept", () => {
  // 13.20 - 10 = 3.20, and 3.20 / 13.20 = 24.2 %.
  const pair = { ours: account(10, 6), twin: account(13.2, 9) };
  expect(savingsOf(pair)?.share).toBeCloseTo(0.2424, 4);
  expect(savingsSentence(pair, "HPA and VPA")).toBe(
    "Saved $3.20 (24 %) against HPA and VPA alone, at 99.4 % against 99.1 % of steps within the SLO.",
  );
});

test("what is spent more is not called saved", () => {
  const pair = { ours: account(13), twin: account(12.6) };
  expect(savedWords(savingsOf(pair) ?? { dollars: 0, share: 0 })).toBe("$0.40 (3.2 %) more");
  expect(savingsSentence(pair, "AIMD")).toBe(
    "Spent $0.40 (3.2 %) more than AIMD alone would have, at 100 % against 100 % of steps within the SLO.",
  );
  expect([perDayWords(-1.2), perDayWords(4.1), perDayWords(null)]).toEqual([
    "now $1.20 a day more",
    "now $4.10 a day",
    "",
  ]);
});

test("what is next to nothing is called nothing, or not said", () => {
  expect(savedWords({ dollars: 0.001, share: 0.0001 })).toBe("nothing yet");
  expect([0, 3.2, -0.4].map((dollars) => savedBriefly({ dollars, share: dollars }))).toEqual([
    "",
    "saved $3.20",
    "spent $0.40 more",
  ]);
  expect(perDayWords(-0.001)).toBe("");
});

test("without a twin, or without prices, there is nothing to say", () => {
  expect(savingsSentence({ ours: account(10), twin: null }, "AIMD")).toBeNull();
  expect(savingsSentence({ ours: account(0), twin: account(0) }, "AIMD")).toBeNull();
});

test("the present rate is that of the steps lately, by their length", () => {
  // A thinned past, 60 s between points, then steps of 15 s: 5,760 of them a day.
  const at = [0, 60, 120, 135, 150];
  const history = { at, ours: { cost: [9, 9, 0.01, 0.01, 0.02] }, twin: { cost: [9, 9, 0.02, null, 0.04] } };
  // (0.01 + 0.02) / 2 = 0.015 a step, in the two steps after 60 that both were measured in.
  expect(savedPerDay(history, 60)).toBeCloseTo(0.015 * 5_760, 9);
  expect(savedPerDay(history, 150)).toBeNull();
  expect(savedPerDay({ at: [1], ours: { cost: [1] }, twin: { cost: [2] } }, 0)).toBeNull();
});
