import { expect, test } from "vitest";
import type { AgentDocument, Command } from "../../../src/contract/index.ts";
import { consequencesOf, meaningOf } from "./consequences.ts";

type Asked = NonNullable<Parameters<typeof consequencesOf>[1]>;

const fallback = { name: "hpa+vpa", title: "HPA and VPA" };
const agent: Asked = { id: "shop-agent", stage: "ONLINE", acting: "learner", mode: "act", gates: [], fallback };
const slo = { kind: "latency", quantile: 0.99, target: 400 } as const;
const backwards: readonly Command[] = [
  { kind: "roll-back", agent: agent.id },
  { kind: "pause", agent: agent.id },
  { kind: "set-slo", workload: "shop", slo },
];

test("whatever takes the learner's turn gives it to the fallback, by its name", () => {
  for (const command of backwards)
    expect(consequencesOf(command, agent).lines.join(" ")).toContain("HPA and VPA will act from the next step on");
});

test("where the agent only recommends nobody acts, and nothing says that HPA and VPA do", () => {
  const asked: Asked = { ...agent, mode: "recommend", acting: "nobody" };
  for (const command of backwards) {
    const words = consequencesOf(command, asked).lines.join(" ");
    expect(words).toContain("Nobody acts");
    expect(words).not.toContain("HPA and VPA will act");
  }
  for (const kind of ["promote", "resume"] as const)
    expect(consequencesOf({ kind, agent: agent.id }, asked).lines[0]).toContain("nobody acts");
  expect(meaningOf({ stage: "OFFLINE", mode: "recommend", fallback } satisfies Partial<AgentDocument>)).toContain(
    "nobody acts",
  );
});

test("what would happen is told apart from what happens, by the mode", () => {
  expect(meaningOf({ stage: "SERVING", mode: "act", fallback })).toBe("The learner acts with a settled policy.");
  expect(meaningOf({ stage: "SERVING", mode: "recommend", fallback })).toContain("The learner would act");
  const asked: Asked = { ...agent, mode: "recommend", acting: "nobody" };
  for (const fault of ["telemetry-lost", "learner-crash"] as const) {
    const words = (about: Asked) => consequencesOf({ kind: "inject", workload: "shop", fault }, about).lines[0];
    expect(words(agent)).toContain("HPA and VPA must take over within one step.");
    expect(words(asked)).toContain("HPA and VPA would take over within one step, but it only recommends: nobody acts.");
  }
  expect(consequencesOf({ kind: "promote", agent: agent.id }, asked).lines[1]).toContain(
    "would put HPA and VPA in charge",
  );
});
