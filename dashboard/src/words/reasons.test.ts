import { expect, test } from "vitest";
import { becauseWords, changedBy, reasonWords } from "./reasons.ts";

test("reasons are read out, and one that is not known is shown as it came", () => {
  expect(reasonWords("serving")).toBe("Serving: the learner acts with its settled policy.");
  expect(reasonWords("cool-down: cpu")).toBe("Guard: changed too recently to change again (CPU).");
  expect(reasonWords("stale-data")).toBe("Guard: refused, the measurements are too old.");
  expect(reasonWords("HPA: CPU at 71 % of the request")).toBe("HPA: CPU at 71 % of the request");
  expect(becauseWords("operator")).toBe("A person decided so.");
  expect(becauseWords("something new")).toBe("something new");
});

test("who changed the learner's wish is told apart, because only the guard's corrections count as trips", () => {
  expect(changedBy(["serving", "descends-slowly", "slo-near"])).toEqual(["shield"]);
  expect(changedBy(["training", "canary", "step: replicas"])).toEqual(["canary band", "guard"]);
  expect(changedBy(["training"])).toEqual([]);
});
