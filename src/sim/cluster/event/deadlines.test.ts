import { expect, test } from "vitest";
import { Deadlines } from "./deadlines.ts";

test("who came first gives up first, also when later ones are told to be less patient", () => {
  const deadlines = new Deadlines();
  deadlines.add(100, 1, 7);
  deadlines.add(60, 2, 8);
  deadlines.add(140, 3, 9);
  const seen: number[][] = [];
  while (deadlines.size > 0) {
    seen.push([deadlines.firstAt, deadlines.firstSlot, deadlines.firstGeneration]);
    deadlines.dropFirst();
  }
  expect(seen).toEqual([
    [100, 1, 7],
    [100, 2, 8],
    [140, 3, 9],
  ]);
});

test("it holds as many as wait, around the end of its ring", () => {
  const deadlines = new Deadlines();
  let [added, seen] = [0, 0];
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < 3; i++) deadlines.add(added, added++, 0);
    expect([deadlines.firstAt, deadlines.firstSlot]).toEqual([seen, seen]);
    deadlines.dropFirst();
    seen++;
  }
  expect(deadlines.size).toBe(400);
});
