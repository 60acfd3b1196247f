import { expect, test } from "vitest";
import type { EpisodeTruth } from "./drive.ts";
import { countEpisodes, type Life, lifeOf, meanReward, stageShare, total, utilisation } from "./life.ts";

const episode = (reward: number, rest: Partial<EpisodeTruth> = {}): EpisodeTruth => ({
  reward,
  violations: 0,
  steps: 100,
  cpuUsed: 10,
  cpuLimit: 20,
  memoryUsed: 1,
  memoryLimit: 4,
  cost: 0.25,
  oomKills: 0,
  stage: "ONLINE",
  ...rest,
});

const life: Life = lifeOf(
  [
    episode(100, { stage: "OFFLINE", violations: 7 }),
    episode(120, { cpuUsed: 30, cpuLimit: 30 }),
    episode(140, { violations: 2 }),
    episode(150, { stage: "SERVING", memoryUsed: 3 }),
  ],
  345,
);

test("a life is columns, one letter per stage, and its gradient updates", () => {
  expect(life.reward).toEqual([100, 120, 140, 150]);
  expect(life.stages).toBe("ONNS");
  expect(life.updates).toBe(345);
  expect(lifeOf([episode(1, { stage: "rules" })], 0).stages).toBe("-");
});

test("five digits are kept", () => {
  expect(lifeOf([episode(123.456789)], 0).reward).toEqual([123.46]);
});

test("sums are over the span, counted from the end where it is negative", () => {
  expect(total(life, "violations")).toBe(9);
  expect(total(life, "violations", { from: 1 })).toBe(2);
  expect(total(life, "reward", { from: 1, to: 3 })).toBe(260);
  expect(total(life, "reward", { from: -2 })).toBe(290);
  expect(meanReward(life, { from: -2 })).toBe(145);
});

test("utilisation is the use of the span over its limits, not a mean of shares", () => {
  // 10 + 30 used of 20 + 30; the mean of 0.5 and 1 would be 0.75.
  expect(utilisation(life, "cpu", { from: 0, to: 2 })).toBeCloseTo(0.8, 12);
  expect(utilisation(life, "memory")).toBeCloseTo(6 / 16, 12);
  expect(utilisation(lifeOf([], 0), "cpu")).toBe(0);
});

test("the share of a stage is over the span's episodes", () => {
  expect(stageShare(life, "N")).toBe(0.5);
  expect(stageShare(life, "S", { from: 2 })).toBe(0.5);
});

test("every episode is counted, and a stopped run is heard at the next one", () => {
  const stop = new AbortController();
  const heard: number[] = [];
  const count = countEpisodes({ progress: (fraction) => heard.push(fraction), signal: stop.signal }, 4);
  count.next();
  count.next();
  expect(heard).toEqual([0.25, 0.5]);
  stop.abort(new Error("stopped"));
  expect(() => count.next()).toThrow("stopped");
});
