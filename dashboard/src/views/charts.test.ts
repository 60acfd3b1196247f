import { expect, test } from "vitest";
import type { SloDocument } from "../../../src/contract/index.ts";
import { podKnobs } from "../../../test/fixtures/documents/pod-knobs.ts";
import { History } from "../plane/history.ts";
import { chartsOf, grantedToAll } from "./charts.ts";

const slo: SloDocument = { kind: "latency", quantile: 0.95, target: 100 };
const titled = (...[options]: Parameters<typeof chartsOf>) =>
  chartsOf(options).map(({ title, column }) => [title, column]);

test("a workload of pods has replicas, and CPU and memory used beside what all pods were granted", () => {
  expect(titled({ slo, knobs: podKnobs, used: ["cpu", "memory"] })).toEqual([
    ["Load", "load"],
    ["Latency", "latency"],
    ["Replicas", "replicas"],
    ["CPU", "cpuUse"],
    ["Memory", "memoryUse"],
    ["Reward", "reward"],
  ]);
  const history = new History(10, podKnobs);
  const measured = { at: 1000, load: 1, latency: 1, preservation: 1, expected: 1, ready: 2, reward: null, cost: 0 };
  history.push({ ...measured, have: { replicas: 3, cpu: 500, memory: 7 }, use: { cpu: 900, memory: 8 } }, null);
  const granted = chartsOf({ slo, knobs: podKnobs, used: ["cpu", "memory"] }).map((chart) => chart.granted);
  expect(granted.flatMap((one) => (one === undefined ? [] : [grantedToAll(history.ours, one)]))).toEqual([
    [1500],
    [21],
  ]);
});

test("what is judged by the SLOs of others has their preservation in place of a latency of its own", () => {
  expect(titled({ slo: { kind: "none" }, isJudgedByOthers: true, knobs: [], used: [] })).toEqual([
    ["Load", "load"],
    ["SLO preservation", "preservation"],
    ["Reward", "reward"],
  ]);
});

test("a workload of any other task has its own knobs, drawn as set where nobody measures their use", () => {
  const knobs = [
    { name: "replicas", title: "Containers", unit: "containers" },
    { name: "llc", title: "Last-level cache per container", unit: "MiB" },
    { name: "rate", title: "Rate", unit: "messages/s" },
  ];
  expect(titled({ slo, knobs, used: ["llc", "other"] }).slice(2, -1)).toEqual([
    ["Containers", "replicas"],
    ["Last-level cache", "llcUse"],
    ["Rate", "rate"],
  ]);
  const [, , , cache, rate] = chartsOf({ slo, knobs, used: ["llc"] });
  expect([cache?.granted, rate?.granted, rate?.isStepped]).toEqual([
    { knob: "llc", count: "replicas" },
    undefined,
    true,
  ]);
  expect([cache?.say(12), rate?.say(20)]).toEqual(["12 MiB", "20 messages/s"]);
});
