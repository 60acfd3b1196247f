import { describe, expect, test } from "vitest";
import type { Allocation } from "../../act/index.ts";
import { freshGuardState } from "../../act/index.ts";
import { milliseconds } from "../../base/index.ts";
import type { Observation } from "../tasks/index.ts";
import { encodeAction } from "../tasks/index.ts";
import { limits, Rig, sizes, task, workload } from "./agent-conformance.ts";
import type { Moment } from "./decision.ts";
import { planFallback, planLearner, planTakeover } from "./decision.ts";
import { WHOLE_BAND } from "./lifecycle.ts";
import { defaultShield, noShield } from "./shield.ts";

const { world } = new Rig();

/** Five small pods of the learner's, and a fallback that wants as many of its own size, which is five times theirs. */
const moment = (change: Partial<Moment> = {}): Moment => ({
  workload,
  task,
  reading: world.reading(),
  have: sizes(5, 200),
  fallback: { want: sizes(5, 1000) },
  usualCores: null,
  guard: { limits, state: freshGuardState },
  nodes: "unlimited",
  now: milliseconds(world.now),
  ...change,
});

const wanted = ({ verdict }: { readonly verdict: { readonly allocation: Allocation } }) => verdict.allocation;

describe("the fallback's wish after the learner", () => {
  test("is no more than twice the CPU that it was seen to hold at such a load", () => {
    // Pods of 1,000 millicores: 2 × 1,200 are three of them, whole ones.
    expect(wanted(planTakeover(moment({ usualCores: 1200 })))).toEqual(sizes(3, 1000));
    expect(wanted(planTakeover(moment({ usualCores: 2400 })))).toEqual(sizes(5, 1000));
    // However little it held, one pod is left.
    expect(wanted(planTakeover(moment({ usualCores: 1 })))).toEqual(sizes(1, 1000));
  });

  test("is not bounded where it was never seen, nor where it has been alone for a while", () => {
    expect(wanted(planTakeover(moment()))).toEqual(sizes(5, 1000));
    expect(wanted(planFallback(moment({ usualCores: 1200 })))).toEqual(sizes(5, 1000));
  });

  test("counts pods of the size that is there where it asks for no other", () => {
    // 2 × 300 millicores are three pods of 200.
    const silent = { want: { replicas: 9 } };
    expect(wanted(planTakeover(moment({ fallback: silent, usualCores: 300 })))).toEqual(sizes(3, 200));
  });
});

describe("a learner's plan", () => {
  interface Options extends Partial<Moment> {
    readonly band?: number;
    readonly shield?: typeof noShield;
  }

  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation: 1, margin: 0.5, load: 20 };
  const observation = { measures, held: [] } as unknown as Observation;
  const experience = { usualNearness: 0.6, memoryPeak: 0, excess: 0, sinceShrink: 100 };
  const plan = (wish: Allocation, { band = WHOLE_BAND, shield = noShield, ...change }: Options = {}) =>
    planLearner(moment({ have: sizes(4, 500), fallback: { want: sizes(4, 500) }, ...change }), {
      action: encodeAction(task, wish),
      observation,
      band,
      shield,
      experience,
    });

  test.each([
    ["the same", sizes(4, 500), false],
    ["the same CPU in other pods", sizes(8, 250), false],
    ["more of everything", sizes(5, 600, 512), false],
    ["fewer pods", sizes(3, 500), true],
    ["less CPU in all, in more pods", sizes(8, 200), true],
    ["less memory in a pod", sizes(8, 500, 128), true],
  ])("that gives %s than the fallback is less or not", (_, wish, isLess) => {
    expect(plan(wish)).toMatchObject({ isLess, verdict: { allocation: wish } });
  });

  test("is measured against the bounded wish of the fallback, as band and shield are", () => {
    // Twice 600 millicores are three pods of 500, so three are not less than what it would have.
    const change = { fallback: { want: sizes(12, 500) }, usualCores: 600 };
    expect(plan(sizes(3, 500), change).isLess).toBe(false);
    expect(plan(sizes(3, 500), { ...change, usualCores: null }).isLess).toBe(true);
    // A narrow band around three pods, not around twelve.
    expect(wanted(plan(sizes(12, 500), { ...change, band: 0.01 })).replicas).toBe(3);
  });

  test("says which rules of the shield changed it", () => {
    expect(plan(sizes(1, 500), { shield: defaultShield }).notes).toContain("descends-slowly");
    expect(plan(sizes(16, 1600), { shield: defaultShield, usualCores: 2000 }).notes).toContain("more-than-enough");
  });
});
