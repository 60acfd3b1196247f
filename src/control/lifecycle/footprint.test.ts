import { describe, expect, test } from "vitest";
import { Footprint } from "./footprint.ts";

const none = { cpu: false, memory: false };
const lessCpu = { cpu: true, memory: false };
const lessMemory = { cpu: false, memory: true };

type Who = Parameters<Footprint["after"]>[0];

/** Steps of somebody's, one after the other. */
function walked(footprint: Footprint, count: number, who: Who, { less = none, kills = 0 } = {}): Footprint {
  for (let i = 0; i < count; i++) footprint.after(who, { less, kills });
  return footprint;
}

describe("pods that may be the learner's", () => {
  test("are none before it has acted", () => {
    expect(new Footprint().isTakeover).toBe(false);
    expect(walked(new Footprint(), 20, "fallback").isTakeover).toBe(false);
  });

  test("are those of eight steps of the fallback's after it", () => {
    const footprint = walked(new Footprint(), 1, "learner");
    expect(footprint.isTakeover).toBe(true);
    expect(walked(footprint, 7, "fallback").isTakeover).toBe(true);
    expect(walked(footprint, 1, "fallback").isTakeover).toBe(false);
    expect(walked(footprint, 1, "learner").isTakeover).toBe(true);
  });

  test("stay as they are while nobody acts", () => {
    const footprint = walked(walked(new Footprint(), 1, "learner"), 100, "nobody");
    expect(walked(footprint, 7, "fallback").isTakeover).toBe(true);
    expect(walked(footprint, 1, "fallback").isTakeover).toBe(false);
  });
});

describe("what the learner is held to account for", () => {
  test("is nothing where it gave no less", () => {
    expect(new Footprint().isFelt).toBe(false);
    expect(walked(new Footprint(), 5, "learner").isFelt).toBe(false);
  });

  test("is less CPU, for twelve steps after it, whoever acts then", () => {
    for (const who of ["learner", "fallback", "nobody"] as const) {
      const footprint = walked(new Footprint(), 1, "learner", { less: lessCpu });
      expect(footprint.isFelt).toBe(true);
      expect(walked(footprint, 12, who).isFelt).toBe(true);
      expect(walked(footprint, 1, who).isFelt).toBe(false);
    }
  });

  test("is less memory only from the moment that a pod is killed for it, and for twelve steps after that", () => {
    const footprint = walked(new Footprint(), 12, "learner", { less: lessMemory });
    expect(footprint.isFelt).toBe(false);
    // Twelve steps after the last one with less; the thirteenth would be too late.
    walked(footprint, 11, "learner");
    expect(walked(footprint, 1, "learner", { kills: 2 }).isFelt).toBe(true);
    expect(walked(footprint, 12, "learner").isFelt).toBe(true);
    expect(walked(footprint, 1, "learner").isFelt).toBe(false);
  });

  test("is no kill where memory was the fallback's, or had been for long", () => {
    expect(walked(new Footprint(), 3, "learner", { kills: 1 }).isFelt).toBe(false);
    const long = walked(walked(new Footprint(), 1, "learner", { less: lessMemory }), 12, "fallback");
    expect(walked(long, 1, "fallback", { kills: 1 }).isFelt).toBe(false);
  });

  test("is nothing that it would only have given less of: the fallback or nobody acted", () => {
    for (const who of ["fallback", "nobody"] as const)
      expect(walked(new Footprint(), 1, who, { less: { cpu: true, memory: true }, kills: 1 }).isFelt).toBe(false);
  });
});

test("it comes back from its state, which is plain data and does not grow with time", () => {
  const footprint = walked(walked(new Footprint(), 1, "learner", { less: lessCpu }), 7, "fallback");
  const copy = new Footprint();
  copy.restore(JSON.parse(JSON.stringify(footprint.state())));
  expect([copy.isTakeover, copy.isFelt]).toEqual([true, true]);
  expect([walked(copy, 1, "fallback").isTakeover, walked(copy, 5, "fallback").isFelt]).toEqual([false, false]);
  const acted = () => walked(new Footprint(), 1, "learner", { less: lessCpu });
  const [soon, late] = [100, 1000].map((steps) => walked(acted(), steps, "fallback").state());
  expect(late).toEqual(soon);
});
