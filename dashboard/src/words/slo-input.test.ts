import { expect, test } from "vitest";
import { checkSlo, fieldOf, typedSlo } from "./slo-input.ts";

test("what is set comes into the fields and back out of them unchanged", () => {
  for (const slo of [
    { kind: "latency", quantile: 0.99, target: 197 },
    { kind: "latency", quantile: 0.999, target: 12.5 },
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
  expect(problemsOf({ kind: "latency", quantile: "1", target: "fast" })).toEqual({
    quantile: "Give a quantile from 0.01 to 0.99999, such as 0.99.",
    target: "Give a number of milliseconds, such as 250.",
  });
  expect(problemsOf({ kind: "latency", quantile: "0.99", target: "0" })).toEqual({
    target: "Give at least 0.01 ms: nothing can keep less.",
  });
  expect(problemsOf({ kind: "latency", quantile: "0.99", target: "0.000000001" })).toHaveProperty("target");
  expect(problemsOf({ kind: "latency", quantile: "0.99", target: "3600001" }).target).toContain("at most 3,600,000 ms");
  expect(problemsOf({ kind: "throughput", quantile: "", target: "" })).toEqual({
    target: "Give a number of requests per second, such as 40.",
  });
  expect(problemsOf({ kind: "none", quantile: "x", target: "x" })).toEqual({});
});

test("a decimal comma is understood", () => {
  expect(checkSlo({ kind: "throughput", quantile: "", target: " 1,5 " })).toEqual({
    ok: true,
    slo: { kind: "throughput", target: 1.5 },
  });
});

test("a refusal is put beside the field that it is about", () => {
  expect(fieldOf("plane.slo-quantile", "web-shop is measured at quantile 0.99")).toBe("quantile");
  expect(fieldOf("server.bad-request", "body.target: Too big")).toBe("target");
  expect(fieldOf("slo.invalid", "the SLO cannot be judged")).toBe("target");
  expect(fieldOf("plane.not-saved", "the change is in force but could not be saved")).toBeNull();
});
