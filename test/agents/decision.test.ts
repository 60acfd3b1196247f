import { describe, expect, test } from "vitest";
import type { Allocation } from "../../src/act/index.ts";
import { freshGuardState } from "../../src/act/index.ts";
import { milliseconds } from "../../src/base/index.ts";
import type { Moment } from "../../src/control/lifecycle/decision.ts";
import { planFallback, planLearner, planTakeover } from "../../src/control/lifecycle/decision.ts";
import { WHOLE_BAND } from "../../src/control/lifecycle/lifecycle.ts";
import type { Observation } from "../../src/control/tasks/pods/index.ts";
import { defaultShield, encodeAction, noShield, podsTask } from "../../src/control/tasks/pods/index.ts";
import type { WorkloadReading } from "../../src/observe/telemetry/index.ts";
import { limits, noNeed, Rig, sizes, task, workload } from "./rig.ts";

const { world } = new Rig();

type PodMoment = Moment<WorkloadReading, Allocation, Observation>;
const bare = podsTask(task, { shield: noShield });

/** Five small pods of the learner's, where a fallback that had been alone would have three large ones. */
const moment = (change: Partial<PodMoment> = {}): PodMoment => ({
  workload,
  task: bare,
  reading: world.reading(),
  have: sizes(5, 200),
  fallback: { want: { replicas: 3 } },
  alone: sizes(3, 1000),
  guard: { limits, state: freshGuardState },
  nodes: "unlimited",
  now: milliseconds(world.now),
  ...change,
});

const wanted = ({ verdict }: { readonly verdict: { readonly setting: Allocation } }) => verdict.setting;

describe("the fallback's wish", () => {
  test("after the learner is all that there would be if it had been alone, also what it leaves out", () => {
    expect(wanted(planTakeover(moment()))).toEqual(sizes(3, 1000));
  });

  test("is taken by its word where the pods are its own: what it leaves out stays as it is", () => {
    expect(wanted(planFallback(moment()))).toEqual(sizes(3, 200));
  });

  test("gives less than itself of nothing", () => {
    const nothing = { felt: false, latent: false };
    expect([planTakeover(moment()).less, planFallback(moment()).less]).toEqual([nothing, nothing]);
  });
});

describe("a learner's plan", () => {
  interface Options extends Partial<PodMoment> {
    readonly band?: number;
    readonly shield?: typeof noShield;
  }

  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation: 1, margin: 0.5, load: 20 };
  const observation = { measures, held: [], demand: noNeed } as unknown as Observation;
  const experience = { usualNearness: 0.6, excess: 0, sinceShrink: 100, missedLately: 0 };
  const plan = (wish: Allocation, { band = WHOLE_BAND, shield = noShield, ...change }: Options = {}) =>
    planLearner(moment({ task: podsTask(task, { shield }), have: sizes(4, 500), alone: sizes(4, 500), ...change }), {
      action: encodeAction(task, wish, noNeed),
      observation,
      band: { below: band, above: band },
      experience,
    });

  test.each([
    ["the same", sizes(4, 500), [false, false]],
    ["more of everything", sizes(5, 600, 512), [false, false]],
    ["fewer pods that are larger", sizes(2, 1000), [false, false]],
    ["fewer pods", sizes(3, 500), [true, false]],
    ["the same CPU in smaller pods, which are slower", sizes(8, 250), [true, false]],
    ["less CPU in all, in more pods", sizes(8, 200), [true, false]],
    ["less memory in a pod", sizes(8, 500, 128), [false, true]],
    ["less of everything", sizes(3, 400, 128), [true, true]],
  ])("that gives %s says what it gives less of", (_, wish, [felt, latent]) => {
    expect(plan(wish)).toMatchObject({ less: { felt, latent }, verdict: { setting: wish } });
  });

  test("is measured against what the fallback would have alone, as band and shield are", () => {
    // What it says of the learner's pods (three) is another thing than the twelve that it would have by itself.
    expect(plan(sizes(5, 500)).less.felt).toBe(false);
    expect(plan(sizes(5, 500), { alone: sizes(12, 500) }).less.felt).toBe(true);
    // A narrow band around twelve pods, and a floor of twelve.
    expect(wanted(plan(sizes(3, 500), { alone: sizes(12, 500), band: 0.01 })).replicas).toBe(12);
    expect(wanted(plan(sizes(3, 500), { alone: sizes(12, 500), shield: defaultShield }))).toEqual(sizes(12, 500));
  });

  test("says which rules of the shield changed it", () => {
    expect(plan(sizes(1, 500), { shield: defaultShield }).notes).toContainEqual({
      by: "shield",
      rule: "descends-slowly",
    });
    expect(plan(sizes(16, 1600), { shield: defaultShield }).notes).toEqual([
      { by: "shield", rule: "more-than-enough" },
    ]);
    expect(plan(sizes(4, 500), { shield: defaultShield }).notes).toEqual([]);
  });
});
