import { expect, test } from "vitest";
import { becauseWords, changedBy, reasonWords } from "./reasons.ts";

const rules = { name: "hpa+vpa", title: "HPA and VPA" };

test("reasons are read out, and one that is not known is shown as it came", () => {
  const words = (by: string, rule: string, knob?: string) =>
    reasonWords(knob === undefined ? { by, rule } : { by, rule, knob }, rules);
  expect(words("lifecycle", "serving")).toBe("Serving: the learner acts with its settled policy.");
  expect(words("guard", "cool-down", "cpu")).toBe("Guard: changed too recently to change again (CPU).");
  expect(words("guard", "step", "gpu-share")).toBe("Guard: a smaller step (gpu-share).");
  expect(words("guard", "stale-data")).toBe("Guard: refused, the measurements are too old.");
  expect(words("capacity", "need")).toBe("Capacity: the least that the model expects to keep the SLO.");
  expect(words("lifecycle", "model-learning")).toBe(
    "Too little was seen of the workload to say what it needs, so it is left to HPA and VPA.",
  );
  expect(words("guard", "bespoke", "cpu")).toBe("guard: bespoke (CPU)");
  expect(words("somebody", "something")).toBe("somebody: something");
  expect(becauseWords("operator", rules.title)).toBe("A person decided so.");
  expect(becauseWords("something new", rules.title)).toBe("something new");
});

test("the fallback is called what its agent calls it", () => {
  const aimd = { name: "aimd", title: "AIMD" };
  const paused = { by: "lifecycle", rule: "paused" };
  expect(reasonWords(paused, rules)).toBe("A person paused the agent, so it is left to HPA and VPA.");
  expect(reasonWords(paused, aimd)).toBe("A person paused the agent, so it is left to AIMD.");
  expect(reasonWords({ by: "aimd", rule: "alone" }, aimd)).toBe("AIMD alone.");
  expect(becauseWords("bootstrap", aimd.title)).toBe("It learns from AIMD first.");
});

test("who changed the learner's wish is told apart, because only the guard's corrections count as trips", () => {
  const training = { by: "lifecycle", rule: "training" };
  const shield = (rule: string) => ({ by: "shield", rule });
  expect(changedBy([training, shield("descends-slowly"), shield("slo-near")])).toEqual(["shield"]);
  const step = { by: "guard", rule: "step", knob: "replicas" };
  expect(changedBy([training, { by: "canary", rule: "band" }, step])).toEqual(["canary band", "guard"]);
  expect(changedBy([training, { by: "domain-match", rule: "stranger" }])).toEqual([]);
});
