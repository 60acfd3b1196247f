import { expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { OpenTraces, ROOTED, ROOTLESS, type TraceList } from "./open-traces.ts";
import { SealedIds } from "./sealed-ids.ts";

const idOf = (number: number): Uint32Array => Uint32Array.of(0, 0, Math.imul(number, 0x9e3779b1), number);

test("traces are found by their ids, however many were opened and closed in whatever order", () => {
  const rng = seededRng(3);
  const traces = new OpenTraces(1_000);
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
  const traces = new OpenTraces(64);
  const model: Record<TraceList, number[]> = { [ROOTLESS]: [], [ROOTED]: [] };
  const remove = (slot: number) => {
    for (const list of [ROOTLESS, ROOTED] as const) model[list] = model[list].filter((other) => other !== slot);
  };
  for (let step = 1; step < 3_000; step++) {
    const all = [...model[ROOTLESS], ...model[ROOTED]];
    const slot = all[rng.int(Math.max(1, all.length))];
    const choice = rng.int(3);
    if (choice === 0 && all.length < 64) model[ROOTLESS].push(traces.open(idOf(step), 0, step));
    else if (slot !== undefined && choice === 1) {
      const list = rng.int(2) as TraceList;
      traces.move(slot, list, step);
      remove(slot);
      model[list].push(slot);
      expect(traces.listOf(slot)).toBe(list);
      expect(traces.seenAt[slot]).toBe(step);
    } else if (slot !== undefined) {
      traces.close(slot);
      remove(slot);
    }
    for (const list of [ROOTLESS, ROOTED] as const) expect(traces.oldest(list)).toBe(model[list][0] ?? -1);
  }
});

test("the last sealed ids are known, twice as many at most, and their memory does not grow", () => {
  const ids = new SealedIds(1_000);
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
  const ids = new SealedIds(10);
  for (let word = 0; word < 4; word++) {
    const id = new Uint32Array(4);
    id[word] = 1;
    expect(ids.has(id, 0)).toBe(false);
    ids.add(id, 0);
    expect(ids.has(id, 0)).toBe(true);
    ids.add(Uint32Array.of(9, 9, 9, word), 0);
  }
});
