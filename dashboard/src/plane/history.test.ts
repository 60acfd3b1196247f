import { expect, test } from "vitest";
import { type Sample, type SeriesDocument, seriesColumns } from "../../../src/server/plane-contract.ts";
import { History } from "./history.ts";

const sample = (at: number): Sample => ({
  at,
  load: at,
  latency: null,
  preservation: null,
  ready: 1,
  have: { replicas: 2, cpu: 3, memory: 4 },
  use: { cpu: 5, memory: 6 },
  reward: null,
  cost: 0,
});

function series(at: readonly number[]): SeriesDocument {
  const columns = Object.fromEntries(seriesColumns.map((name) => [name, at.map(() => 7)]));
  return { workload: "w", at, columns: columns as unknown as SeriesDocument["columns"], twin: null };
}

test("it never holds more than its capacity and one trimming, and keeps the newest", () => {
  const history = new History(100);
  for (let at = 1; at <= 1000; at += 1) {
    history.push(sample(at * 1000), null);
    expect(history.at.length).toBeLessThanOrEqual(228);
  }
  expect(history.at.at(-1)).toBe(1000);
  for (const name of seriesColumns) {
    expect(history.ours[name].length).toBe(history.at.length);
    expect(history.twin[name].length).toBe(history.at.length);
  }
});

test("a repeated or older sample does not make time run backwards", () => {
  const history = new History(10);
  for (const at of [1000, 2000, 2000, 1500, 3000]) history.push(sample(at), null);
  expect(history.at).toEqual([1, 2, 3]);
});

test("the stored past goes before the live samples and stops where they begin", () => {
  const history = new History(10);
  history.push(sample(3000), sample(3000));
  history.prepend(series([1000, 2000, 3000, 4000]));
  expect(history.at).toEqual([1, 2, 3]);
  expect(history.ours.load).toEqual([7, 7, 3000]);
  expect(history.twin.load).toEqual([null, null, 3000]);
});
