import { expect, test } from "vitest";
import type { Sample, SeriesDocument } from "../../../src/contract/index.ts";
import { podKnobs } from "../../../test/fixtures/documents/pod-knobs.ts";
import { History } from "./history.ts";

const sample = (at: number): Sample => ({
  at,
  load: at,
  latency: null,
  preservation: null,
  expected: null,
  ready: 1,
  have: { replicas: 2, cpu: 3, memory: 4 },
  use: { cpu: 5, memory: 6 },
  reward: null,
  cost: 0,
});

function series(at: readonly number[]): SeriesDocument {
  const column = at.map(() => 7);
  const fixed = { load: column, latency: column, expected: column, preservation: column, reward: column, cost: column };
  return { workload: "w", at, columns: { ...fixed, cpu: column, cpuUse: column }, twin: null };
}

test("it never holds more than its capacity and one trimming, and keeps the newest", () => {
  const history = new History(100, podKnobs);
  for (let at = 1; at <= 1000; at += 1) {
    history.push(sample(at * 1000), null);
    expect(history.at.length).toBeLessThanOrEqual(228);
  }
  expect(history.at.at(-1)).toBe(1000);
  expect(Object.keys(history.ours)).toHaveLength(6 + 2 * podKnobs.length);
  for (const column of [...Object.values(history.ours), ...Object.values(history.twin)])
    expect(column.length).toBe(history.at.length);
});

test("a repeated or older sample does not make time run backwards", () => {
  const history = new History(10, podKnobs);
  for (const at of [1000, 2000, 2000, 1500, 3000]) history.push(sample(at), null);
  expect(history.at).toEqual([1, 2, 3]);
});

test("the stored past goes before the live samples and stops where they begin", () => {
  const history = new History(10, podKnobs);
  history.push(sample(3000), sample(3000));
  history.prepend(series([1000, 2000, 3000, 4000]));
  expect(history.at).toEqual([1, 2, 3]);
  expect(history.ours.load).toEqual([7, 7, 3000]);
  expect(history.twin.load).toEqual([null, null, 3000]);
});

test("knobs and their use are columns, and null where the stored past has none of them", () => {
  const history = new History(10, podKnobs);
  history.push(sample(3000), null);
  history.prepend(series([1000]));
  const { cpu, cpuUse, memory, memoryUse, replicasUse } = history.ours;
  expect({ cpu, cpuUse, memory, memoryUse, replicasUse }).toEqual({
    cpu: [7, 3],
    cpuUse: [7, 5],
    memory: [null, 4],
    memoryUse: [null, 6],
    replicasUse: [null, null],
  });
  history.begin([{ name: "rate", title: "Rate", unit: "" }]);
  history.push({ ...sample(4000), have: { rate: 8 } }, null);
  expect([history.at, history.ours.rate, history.ours.cpu]).toEqual([[4], [8], undefined]);
});
