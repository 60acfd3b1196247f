import { describe, expect, test } from "vitest";
import { LearnerEffect } from "./learner-effect.ts";

const none = { felt: false, latent: false };
const felt = { felt: true, latent: false };
const latent = { felt: false, latent: true };

type Who = Parameters<LearnerEffect["after"]>[0];

/** Steps of somebody's, one after the other. */
function walked(effect: LearnerEffect, count: number, who: Who, { less = none, isHarmed = false } = {}): LearnerEffect {
  for (let i = 0; i < count; i++) effect.after(who, { less, isHarmed });
  return effect;
}

describe("members that may be the learner's", () => {
  test("are none before it has acted", () => {
    expect(new LearnerEffect().isTakeover).toBe(false);
    expect(walked(new LearnerEffect(), 20, "fallback").isTakeover).toBe(false);
  });

  test("are those of eight steps of the fallback's after it", () => {
    const effect = walked(new LearnerEffect(), 1, "learner");
    expect(effect.isTakeover).toBe(true);
    expect(walked(effect, 7, "fallback").isTakeover).toBe(true);
    expect(walked(effect, 1, "fallback").isTakeover).toBe(false);
    expect(walked(effect, 1, "learner").isTakeover).toBe(true);
  });

  test("stay as they are while nobody acts", () => {
    const effect = walked(walked(new LearnerEffect(), 1, "learner"), 100, "nobody");
    expect(walked(effect, 7, "fallback").isTakeover).toBe(true);
    expect(walked(effect, 1, "fallback").isTakeover).toBe(false);
  });
});

describe("what the learner is held to account for", () => {
  test("is nothing where it gave no less", () => {
    expect(new LearnerEffect().isFelt).toBe(false);
    expect(walked(new LearnerEffect(), 5, "learner").isFelt).toBe(false);
  });

  test("is what is felt at once, for twelve steps after it, whoever acts then", () => {
    for (const who of ["learner", "fallback", "nobody"] as const) {
      const effect = walked(new LearnerEffect(), 1, "learner", { less: felt });
      expect(effect.isFelt).toBe(true);
      expect(walked(effect, 12, who).isFelt).toBe(true);
      expect(walked(effect, 1, who).isFelt).toBe(false);
    }
  });

  test("is what is latent only from the moment that it does harm, and for twelve steps after that", () => {
    const effect = walked(new LearnerEffect(), 12, "learner", { less: latent });
    expect(effect.isFelt).toBe(false);
    // Twelve steps after the last one with less; the thirteenth would be too late.
    walked(effect, 11, "learner");
    expect(walked(effect, 1, "learner", { isHarmed: true }).isFelt).toBe(true);
    expect(walked(effect, 12, "learner").isFelt).toBe(true);
    expect(walked(effect, 1, "learner").isFelt).toBe(false);
  });

  test("is no harm where it gave as much as the fallback, or had for long", () => {
    expect(walked(new LearnerEffect(), 3, "learner", { isHarmed: true }).isFelt).toBe(false);
    const long = walked(walked(new LearnerEffect(), 1, "learner", { less: latent }), 12, "fallback");
    expect(walked(long, 1, "fallback", { isHarmed: true }).isFelt).toBe(false);
  });

  test("is nothing that it would only have given less of: the fallback or nobody acted", () => {
    for (const who of ["fallback", "nobody"] as const)
      expect(walked(new LearnerEffect(), 1, who, { less: { felt: true, latent: true }, isHarmed: true }).isFelt).toBe(
        false,
      );
  });
});

test("it comes back from its state, which is plain data and does not grow with time", () => {
  const effect = walked(walked(new LearnerEffect(), 1, "learner", { less: felt }), 7, "fallback");
  const copy = new LearnerEffect();
  copy.restore(JSON.parse(JSON.stringify(effect.state())));
  expect([copy.isTakeover, copy.isFelt]).toEqual([true, true]);
  expect([walked(copy, 1, "fallback").isTakeover, walked(copy, 5, "fallback").isFelt]).toEqual([false, false]);
  const acted = () => walked(new LearnerEffect(), 1, "learner", { less: felt });
  const [soon, late] = [100, 1000].map((steps) => walked(acted(), steps, "fallback").state());
  expect(late).toEqual(soon);
});
