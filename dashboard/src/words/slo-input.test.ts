import { expect, test } from "vitest";
import { checkSlo, fieldOf, typedSlo } from "./slo-input.ts";

test("what is set comes into the fields and back out of them unchanged", () => {
  for (const slo of [
    { kind: "latency", percentile: 0.99, target: 197 },
    { kind: "latency", percentile: 0.999, target: 12.5 },
    { kind: "throughput", target: 11.2 },
    { kind: "none" },
  ] as const)
    expect(checkSlo(typedSlo(slo))).toEqual({ ok: true, slo });
});

test("every field says what is wrong with it", () => {
  const problemsOf = (typed: Parameters<typeof checkSlo>[0]) => {
    const checked = checkSlo(typed);
    return checked.ok ? {} : checked.problems;
  };
  expect(problemsOf({ kind: "latency", percentile: "100", target: "fast" })).toEqual({
    percentile: "Give a percentile between 0 and 100, such as 99.",
    target: "Give a number of milliseconds, such as 250.",
  });
  expect(problemsOf({ kind: "latency", percentile: "99", target: "0" })).toEqual({
    target: "Give more than 0: nothing can keep such a target.",
  });
  expect(problemsOf({ kind: "latency", percentile: "99", target: "3600001" }).target).toContain("at most 3,600,000 ms");
  expect(problemsOf({ kind: "throughput", percentile: "", target: "" })).toEqual({
    target: "Give a number of requests per second, such as 40.",
  });
  expect(problemsOf({ kind: "none", percentile: "x", target: "x" })).toEqual({});
});

test("a decimal comma is understood", () => {
  expect(checkSlo({ kind: "throughput", percentile: "", target: " 1,5 " })).toEqual({
    ok: true,
    slo: { kind: "throughput", target: 1.5 },
  });
});

test("a refusal is put beside the field that it is about", () => {
  expect(fieldOf("plane.slo-percentile", "web-shop is measured at percentile 0.99")).toBe("percentile");
  expect(fieldOf("server.bad-request", "body.target: Too big")).toBe("target");
  expect(fieldOf("slo.invalid", "the SLO can not be judged")).toBe("target");
  expect(fieldOf("plane.not-saved", "the change is in force but could not be saved")).toBeNull();
});
