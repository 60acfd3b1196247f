import { expect, test } from "vitest";
import type { Allocation } from "../../act/index.ts";
import { mebibytes, millicores } from "../../base/index.ts";
import type { Sight } from "./sight.ts";
import { Watch } from "./watch.ts";

type Look = Pick<Sight, "observation" | "have">;

const sizes = (replicas: number, cpu: number, memory = 256): Allocation => ({
  replicas,
  cpu: millicores(cpu),
  memory: mebibytes(memory),
});

/** A look at a workload with this load, whose latency is this share of its target. */
function sight(load: number, pressure = 0.5): Look {
  const margin = (1 - pressure) / (1 + pressure);
  const preservation = Math.min(1, 1 / pressure);
  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation, margin, load };
  return { observation: { measures } as unknown as Sight["observation"], have: sizes(2, 500) };
}

const having = (...sizes: readonly (Allocation | null)[]): Look[] => sizes.map((have) => ({ observation: null, have }));

function watched(looks: readonly Look[], { isFallbacks } = { isFallbacks: true }): Watch {
  const watch = new Watch();
  for (const look of looks) watch.see(look, { isFallbacks });
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
  const watch = watched([sight(10, 2), sight(10, 2)], { isFallbacks: false });
  expect(watch.usualViolations(10)).toBe(0);
  expect(watch.usualNearness).toBe(0.6);
});

test("what is newer weighs more: after many good steps old violations fade", () => {
  const bad = Array.from({ length: 800 }, () => sight(10, 2));
  const good = Array.from({ length: 800 }, () => sight(10));
  // 800 of 800 missed, halved to 400 of 400, then 400 good ones make 800 and halve it to 200 of 400, then 400 more.
  expect(watched([...bad, ...good]).usualViolations(10)).toBeCloseTo(200 / 801);
});

test("less CPU in all, or less memory in a pod, begins a new count of steps; another split of the same CPU does not", () => {
  const since = (...story: readonly (Allocation | null)[]) =>
    watched(having(...story), { isFallbacks: false }).sinceShrink;
  const [all, split, larger] = [sizes(4, 500), sizes(8, 250), sizes(4, 600)];
  // The first look has nothing to compare with.
  expect(since(all, all, split, larger)).toBe(4);
  expect(since(all, all, sizes(4, 499))).toBe(0);
  expect(since(all, all, sizes(3, 600), all)).toBe(1);
  expect(since(all, sizes(4, 500, 255), all)).toBe(1);
  // A step in which nobody knows what is there counts for nothing, and the next one is compared with the one before it.
  expect(since(all, null, all)).toBe(2);
  expect(since(all, null, sizes(3, 500))).toBe(0);
});

test("the usual nearness moves by a two-hundredth of the way, and a missed target counts as just reached", () => {
  expect(watched([sight(10, 0.5)]).usualNearness).toBeCloseTo(0.5);
  expect(watched([sight(10, 0.5), sight(10, 9)]).usualNearness).toBeCloseTo(0.5 + 0.5 / 200);
});

test("it comes back from its state", () => {
  const watch = watched([sight(10, 2), sight(10), ...having(sizes(1, 100), sizes(2, 100))]);
  expect(watch.sinceShrink).toBe(1);
  const copy = new Watch();
  copy.restore(JSON.parse(JSON.stringify(watch.state())));
  expect(copy.state()).toEqual(watch.state());
  copy.see(sight(10, 2), { isFallbacks: true });
  expect(watch.usualViolations(10)).not.toBe(copy.usualViolations(10));
});

test("what was missed lately counts whoever acted, and fades", () => {
  const missed = watched([sight(10, 2), sight(10, 2)], { isFallbacks: false });
  // A four hundredth each: 1 − (399/400)².
  expect(missed.missedLately).toBeCloseTo(1 - (399 / 400) ** 2, 12);
  const restored = new Watch();
  restored.restore(missed.state());
  restored.see(sight(10), { isFallbacks: false });
  expect(restored.missedLately).toBeCloseTo((399 / 400) * (1 - (399 / 400) ** 2), 12);
});
