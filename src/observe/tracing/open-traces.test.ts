import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { KeyedHash } from "../telemetry/index.ts";
import { OpenTraces, PROMPT, ROOTED, ROOTLESS, type TraceList } from "./open-traces.ts";
import { SealedIds } from "./sealed-ids.ts";

const idOf = (number: number): Uint32Array => Uint32Array.of(0, 0, Math.imul(number, 0x9e3779b1), number);

test("traces are found by their ids, however many were opened and closed in whatever order", () => {
  const rng = seededRng(3);
  const traces = new OpenTraces(1_000, new KeyedHash());
  const model = new Map<number, number>();
  for (let step = 0; step < 30_000; step++) {
    const number = 1 + rng.int(2_000);
    const slot = model.get(number);
    expect(traces.find(idOf(number), 0)).toBe(slot ?? -1);
    if (slot !== undefined) {
      traces.close(slot);
      model.delete(number);
    } else if (model.size < 1_000) model.set(number, traces.open(idOf(number), 0, step));
    expect(traces.size).toBe(model.size);
    expect(traces.isFull).toBe(model.size === 1_000);
  }
  for (let number = 1; number <= 2_000; number++) expect(traces.find(idOf(number), 0)).toBe(model.get(number) ?? -1);
});

test("each list keeps the order in which traces were put at its end", () => {
  const rng = seededRng(4);
  const traces = new OpenTraces(64, new KeyedHash());
  const model: Record<TraceList, number[]> = { [ROOTLESS]: [], [ROOTED]: [], [PROMPT]: [] };
  const remove = (slot: number) => {
    for (const list of [ROOTLESS, ROOTED, PROMPT] as const) model[list] = model[list].filter((other) => other !== slot);
  };
  for (let step = 1; step < 3_000; step++) {
    const all = [...model[ROOTLESS], ...model[ROOTED], ...model[PROMPT]];
    const slot = all[rng.int(Math.max(1, all.length))];
    const choice = rng.int(3);
    if (choice === 0 && all.length < 64) model[ROOTLESS].push(traces.open(idOf(step), 0, step));
    else if (slot !== undefined && choice === 1) {
      const list = rng.int(3) as TraceList;
      traces.move(slot, list, step);
      remove(slot);
      model[list].push(slot);
      expect(traces.listOf(slot)).toBe(list);
      expect(traces.seenAt[slot]).toBe(step);
    } else if (slot !== undefined) {
      traces.close(slot);
      remove(slot);
    }
    for (const list of [ROOTLESS, ROOTED, PROMPT] as const) expect(traces.oldest(list)).toBe(model[list][0] ?? -1);
  }
});

test("the last sealed ids are known, twice as many at most, and their memory does not grow", () => {
  const ids = new SealedIds(1_000, new KeyedHash());
  for (let number = 1; number <= 1_500; number++) ids.add(idOf(number), 0);
  const known = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, k) => ids.has(idOf(from + k), 0)).filter(Boolean).length;
  expect(known(1, 1_500)).toBe(1_500);
  expect(known(1_501, 3_000)).toBe(0);
  const size = ids.allocatedBytes;
  for (let number = 1_501; number <= 10_000; number++) ids.add(idOf(number), 0);
  expect(known(9_001, 10_000)).toBe(1_000);
  expect(known(1, 8_000)).toBe(0);
  expect(ids.allocatedBytes).toBe(size);
});

test("an id that is all zero but for one word is remembered like any other", () => {
  const ids = new SealedIds(10, new KeyedHash());
  for (let word = 0; word < 4; word++) {
    const id = new Uint32Array(4);
    id[word] = 1;
    expect(ids.has(id, 0)).toBe(false);
    ids.add(id, 0);
    expect(ids.has(id, 0)).toBe(true);
    ids.add(Uint32Array.of(9, 9, 9, word), 0);
  }
});

test("ids that were chosen to meet in one place cost no more than others", () => {
  // Alike in w3 ^ (w1 >>> 7) and in w2 ^ w0, which was all that the table's hash looked at once.
  const chosen = Array.from({ length: 8_000 }, (_, k) => Uint32Array.of(k, 0, k, 7));
  const others = Array.from({ length: 8_000 }, (_, k) => idOf(k + 1));
  const msFor = (ids: readonly Uint32Array[]): number => {
    const traces = new OpenTraces(10_000, new KeyedHash());
    const began = performance.now();
    for (const id of ids) if (traces.find(id, 0) < 0) traces.open(id, 0, 0);
    expect(traces.size).toBe(ids.length);
    return performance.now() - began;
  };
  msFor(others);
  expect(msFor(chosen)).toBeLessThan(10 * msFor(others) + 20);
});
