import { expect, test } from "vitest";
import { meanRate } from "./load.ts";
import { recordedLoads } from "./load-recorded.ts";

test("recorded loads are divided by level, and rare ones left out", () => {
  const { high, low } = recordedLoads([
    { id: "high", counts: [70, 70] },
    { id: "low", counts: [69, 69] },
    { id: "just often enough", counts: [20, 0] },
    { id: "rare", counts: [19, 0] },
  ]);
  expect(high.map(({ id }) => id)).toEqual(["high"]);
  expect(low.map(({ id }) => id)).toEqual(["low", "just often enough"]);
});

test("for studies, every load is scaled into its level's range and keeps its shape", () => {
  const records = Array.from({ length: 40 }, (_, i) => ({ id: `f${i}`, counts: [30 + i, 60 + 2 * i] }));
  const { high, low } = recordedLoads(records, { studySeed: 1_000 });
  expect(high.length + low.length).toBe(40);
  expect(high.length).toBeGreaterThan(0);
  expect(high.every((load) => meanRate(load) >= 16 && meanRate(load) <= 40)).toBe(true);
  expect(low.every((load) => meanRate(load) >= 5 && meanRate(load) <= 12)).toBe(true);
  for (const { perMinute } of [...high, ...low]) expect((perMinute[1] ?? 0) / (perMinute[0] ?? 0)).toBeCloseTo(2, 10);
  expect(recordedLoads(records, { studySeed: 1_000 })).toEqual({ high, low });
  expect(recordedLoads(records, { studySeed: 1_001 }).high).not.toEqual(high);
});
