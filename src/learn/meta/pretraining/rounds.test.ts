import { expect, test } from "vitest";
import { RoundPlan } from "./rounds.ts";

const plan = new RoundPlan({ environments: 5, environmentsPerRound: 2, visits: 3, seed: 1 });
const all = Array.from({ length: plan.total }, (_, round) => plan.at(round));

test("phases follow one another, and everybody takes part once in each turn of a phase", () => {
  // Three rounds to a turn: 2 + 2 + 1.
  const names = all.map(({ phase }) => phase);
  const turn = (phase: string) => [phase, phase, phase];
  expect(names).toEqual([
    ...turn("warm-up"),
    ...turn("joint"),
    ...turn("joint"),
    ...turn("joint"),
    ...turn("refresh"),
    "settle",
    ...turn("evaluation"),
  ]);
  const rounds = all.filter(({ phase }) => phase !== "settle");
  for (let at = 0; at < rounds.length; at += 3) {
    const who = rounds.slice(at, at + 3).flatMap(({ environments }) => environments);
    expect([...who].sort()).toEqual([0, 1, 2, 3, 4]);
  }
});

test("joint turns are shuffled by the seed, each in its own way", () => {
  const turn = (of: RoundPlan, number: number) => [0, 1, 2].flatMap((i) => of.at(3 * number + i).environments).join("");
  expect(new Set([1, 2, 3].map((number) => turn(plan, number))).size).toBe(3);
  const other = new RoundPlan({ environments: 5, environmentsPerRound: 2, visits: 3, seed: 2 });
  expect(turn(other, 1)).not.toBe(turn(plan, 1));
});

test("noise follows how far the joint phase has come, and costs add up to the whole", () => {
  const joint = all.filter(({ phase }) => phase === "joint");
  expect(joint.map(({ progress }) => progress)).toEqual(Array.from({ length: 9 }, (_, i) => i / 8));
  // 3 · 0.1 + 9 · 1 + 3 · 0.3 + 1 + 3 · 0.1
  expect(plan.costBefore(plan.total)).toBeCloseTo(11.5, 12);
  expect(plan.costBefore(4)).toBeCloseTo(0.3 + 1, 12);
});
