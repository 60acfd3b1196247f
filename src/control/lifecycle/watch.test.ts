import { expect, test } from "vitest";
import type { Sight } from "./sight.ts";
import type { Stage } from "./state.ts";
import { Watch } from "./watch.ts";

/** A look at a workload with this load, whose latency is this share of its target. */
function sight(load: number, pressure = 0.5): Pick<Sight, "observation" | "reading"> {
  const margin = (1 - pressure) / (1 + pressure);
  const preservation = Math.min(1, 1 / pressure);
  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation, margin, load };
  return { observation: { measures } as unknown as Sight["observation"], reading: null };
}

const withMemory = (memory: number) =>
  ({ observation: null, reading: { pods: [{ memory }, { memory: null }] } }) as unknown as Pick<
    Sight,
    "observation" | "reading"
  >;

function watched(looks: readonly ReturnType<typeof sight>[], stage: Stage = "OFFLINE"): Watch {
  const watch = new Watch();
  for (const look of looks) watch.see(look, stage);
  return watch;
}

test("the fallback's violations are known by load, and a load never seen is taken for harmless", () => {
  const watch = watched([sight(10, 2), sight(10.05, 2), sight(10), sight(40)]);
  // Loads of 10 are in one bin: two of three steps missed, over one step more than seen.
  expect(watch.usualViolations(10)).toBeCloseTo(2 / 4);
  expect(watch.usualViolations(40)).toBe(0);
  expect(watch.usualViolations(320)).toBe(0);
  // An eighth more is another load: 6·log2(10) is 19.9 and 6·log2(11.3) is 20.99.
  expect(watch.usualViolations(11.3)).toBe(0);
  expect(watch.usualViolations(0)).toBe(0);
});

test("what happens while the learner acts is not the fallback's", () => {
  const watch = watched([sight(10, 2), sight(10, 2)], "ONLINE");
  expect(watch.usualViolations(10)).toBe(0);
  expect(watch.usualNearness).toBe(0.6);
});

test("what is newer weighs more: after many good steps old violations fade", () => {
  const bad = Array.from({ length: 800 }, () => sight(10, 2));
  const good = Array.from({ length: 800 }, () => sight(10));
  // 800 of 800 missed, halved to 400 of 400, then 400 good ones make 800 and halve it to 200 of 400, then 400 more.
  expect(watched([...bad, ...good]).usualViolations(10)).toBeCloseTo(200 / 801);
});

test("the usual nearness moves by a two-hundredth of the way, and a missed target counts as just reached", () => {
  expect(watched([sight(10, 0.5)]).usualNearness).toBeCloseTo(0.5);
  expect(watched([sight(10, 0.5), sight(10, 9)]).usualNearness).toBeCloseTo(0.5 + 0.5 / 200);
});

test("a peak of memory is half forgotten after twelve hours", () => {
  const watch = watched([withMemory(1000)], "SERVING");
  for (let i = 0; i < 2880; i++) watch.see(withMemory(100), "SERVING");
  expect(watch.memoryPeak).toBeCloseTo(500);
  watch.see(withMemory(700), "SERVING");
  expect(watch.memoryPeak).toBe(700);
});

test("it comes back from its state", () => {
  const watch = watched([sight(10, 2), sight(10), withMemory(5)]);
  const copy = new Watch();
  copy.restore(JSON.parse(JSON.stringify(watch.state())));
  expect(copy.state()).toEqual(watch.state());
  copy.see(sight(10, 2), "OFFLINE");
  expect(watch.usualViolations(10)).not.toBe(copy.usualViolations(10));
});
