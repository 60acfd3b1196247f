import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Result } from "../../src/base/index.ts";
import { err, failure, mebibytes, millicores, milliseconds, ok, seconds } from "../../src/base/index.ts";
import type { PodFallback } from "../../src/control/fallbacks/index.ts";
import type { TakeoverReason } from "../../src/control/lifecycle/health.ts";
import { takeoverReasons } from "../../src/control/lifecycle/health.ts";
import type { WorkloadReading } from "../../src/observe/telemetry/index.ts";
import type { Mood, PodInput } from "./rig.ts";
import { betterWish, bounds, fallbackWants, gates, profile, Rig, sizes } from "./rig.ts";

/** Serves whatever it earns. */
const contented = { ...profile, serving: { kind: "absolute", value: 1 } } as const;

// ── Every reason to step back, in the very step ─────────────────────────────────────────────────────────

interface Trouble {
  readonly reason: TakeoverReason;
  /** Steps until the learner acts again. */
  readonly lasts: number;
  make(rig: Rig): (input: PodInput) => PodInput;
}

const withReading = (reading: Result<WorkloadReading>) => (input: PodInput) => ({ ...input, reading });
const readingFailure = (code: string) => err(failure(code, "no reading"));
const same = (input: PodInput) => input;
const moodOf = (mood: Mood) => (rig: Rig) => {
  rig.learner.mood = mood;
  return same;
};

const troubles: readonly Trouble[] = [
  { reason: "workload-vanished", lasts: 1, make: () => withReading(readingFailure("telemetry.unknown-workload")) },
  {
    reason: "allocation-unknown",
    lasts: 1,
    make: () => (input) => ({ ...input, have: err(failure("loop.timeout", "no answer")) }),
  },
  {
    reason: "clock-jumped",
    lasts: 1,
    make: (rig) => (input) => {
      rig.world.now = seconds(rig.world.now / 1000 + 3600);
      const now = milliseconds(rig.world.now);
      return { ...input, now, reading: ok(rig.world.reading()) };
    },
  },
  {
    reason: "telemetry-stale",
    lasts: 1,
    make: (rig) => withReading(ok({ ...rig.world.reading(), at: milliseconds(rig.world.now - 90_001) })),
  },
  { reason: "telemetry-unusable", lasts: 1, make: () => withReading(readingFailure("telemetry.not-a-measure")) },
  {
    reason: "model-learning",
    lasts: 1,
    make: (rig) => {
      rig.knowsTooLittle = true;
      return same;
    },
  },
  { reason: "learner-crashed", lasts: 1, make: moodOf("throws") },
  { reason: "output-not-finite", lasts: 1, make: moodOf("not finite") },
  { reason: "output-not-finite", lasts: 1, make: moodOf("refuses") },
  {
    reason: "learner-slow",
    // Three steps' pause is set below.
    lasts: 4,
    make: (rig) => {
      const act = rig.learner.act.bind(rig.learner);
      rig.learner.act = (obs, options) => {
        rig.learner.act = act;
        rig.stopwatch += 101;
        return act(obs, options);
      };
      return same;
    },
  },
];

describe("within one step the fallback acts, and later the learner again", () => {
  test.each(troubles)("$reason", ({ reason, lasts, make }) => {
    for (const stage of ["ONLINE", "SERVING"]) {
      const rig = new Rig({ settings: { retryAfter: 3 } });
      rig.until(stage);
      expect(rig.step().who).toBe("learner");
      const had = rig.world.have;
      expect(had).not.toEqual(fallbackWants);
      const tick = rig.step(make(rig));
      expect(tick).toMatchObject({ who: "fallback", why: [{ rule: reason }], stage });
      // With nothing to look at nothing is done; otherwise what the fallback asks for.
      const isBlind = tick.verdict === null;
      expect(tick.action.kind === "hold").toBe(isBlind);
      expect(rig.world.have).toEqual(isBlind ? had : fallbackWants);
      const told = rig.events.filter(({ name }) => name === "handover").at(-1);
      expect(told).toMatchObject({ evidence: { to: { who: "fallback", rule: reason } } });
      expect(JSON.stringify(told?.evidence)).not.toContain('"detail":""');
      rig.steps(lasts - 1);
      expect(rig.step()).toMatchObject({ who: "learner" });
    }
  });

  test("a step across a jump of the clock is not learned from: nobody knows how long it took", () => {
    const rig = new Rig();
    rig.until("ONLINE");
    const jump = troubles.find(({ reason }) => reason === "clock-jumped") as Trouble;
    const before = rig.learner.seen.length;
    expect(rig.step(jump.make(rig)).completed).toBeUndefined();
    expect(rig.learner.seen.length).toBe(before);
    expect(rig.step().completed).toBeDefined();
  });

  test("a clock that goes back, or says nothing at all, is a jump too", () => {
    for (const now of [seconds(900), milliseconds(Number.NaN)]) {
      const rig = new Rig();
      rig.until("SERVING");
      const tick = rig.step((input) => ({ ...input, now }));
      expect(tick).toMatchObject({ who: "fallback", action: { kind: "hold" } });
      expect(tick.why[0]?.rule).toBe("clock-jumped");
      // What is saved then can be loaded.
      expect(new Rig().agent.load(rig.agent.save()).ok).toBe(true);
    }
  });

  test("a workload that only the actuator misses has vanished as well, and its last reading is not acted on", () => {
    const rig = new Rig();
    rig.until("SERVING");
    const tick = rig.step((input) => ({ ...input, have: err(failure("actuator.unknown-workload", "gone")) }));
    expect(tick).toMatchObject({
      who: "fallback",
      why: [{ rule: "workload-vanished" }],
      verdict: null,
      action: { kind: "hold" },
    });
    expect(tick.step).toBeUndefined();
  });

  const crowded = (input: PodInput): PodInput => ({
    ...input,
    nodes: [{ cpu: millicores(4_100), memory: mebibytes(9_000) }],
  });

  test("guard-trips: a policy whose wishes the nodes cannot hold steps back until they are sensible again", () => {
    const rig = new Rig({ profile: { ...profile, gates: { ...gates, rollback: null } } });
    rig.until("SERVING");
    rig.learner.wish = sizes(16, 1600);
    const whys = Array.from({ length: 40 }, () => rig.step(crowded).why[0]?.rule);
    // The window of 40 proposals was full of good ones, so the 21st bad one makes more than a half.
    expect(whys.indexOf("guard-trips")).toBe(21);
    expect(whys.slice(21)).toEqual(new Array(19).fill("guard-trips"));
    rig.learner.wish = betterWish;
    const after = Array.from({ length: 40 }, () => rig.step(crowded).who);
    expect(after.indexOf("learner")).toBe(20);
  });

  test("guard-trips over most of an episode end the learner's turn", () => {
    const rig = new Rig({ profile: contented });
    rig.until("SERVING");
    rig.learner.wish = sizes(16, 1600);
    for (let i = 0; i < 40; i++) rig.step(crowded);
    expect(rig.path.at(-1)).toBe("SERVING→OFFLINE");
  });

  test("the table of troubles and the restarts below are all the reasons there are", () => {
    const restarts = ["checkpoint-missing", "checkpoint-corrupt", "checkpoint-other-version"];
    const tried = new Set<string>([...troubles.map(({ reason }) => reason), ...restarts, "guard-trips"]);
    expect([...takeoverReasons].filter((reason) => !tried.has(reason))).toEqual([]);
  });

  test("while the fallback stands in, its steps are learned from but are not the learner's", () => {
    const rig = new Rig();
    rig.until("ONLINE");
    rig.step(withReading(readingFailure("loop.timeout")));
    const before = rig.learner.seen.length;
    // The step before the blind one and the blind one itself have no known effect.
    rig.step();
    expect(rig.learner.seen.length).toBe(before);
    rig.step();
    expect(rig.learner.seen.length).toBe(before + 1);
  });

  test("an episode of which too little was seen is not judged", () => {
    const rig = new Rig();
    for (let i = 0; i < 11; i++) rig.step(i % 3 === 1 ? withReading(readingFailure("loop.timeout")) : undefined);
    expect(rig.events.map(({ name }) => name)).toContain("episode-discarded");
    expect(rig.agent.state.episodes).toBe(0);
  });

  test("whatever goes wrong in whatever order, every action is within bounds and nobody acts on nonsense", () => {
    const trouble = fc.constantFrom(undefined, undefined, ...troubles);
    fc.assert(
      fc.property(
        fc.array(trouble, { minLength: 5, maxLength: 40 }),
        fc.constantFrom("ONLINE", "SERVING"),
        (story, stage) => {
          const rig = new Rig();
          rig.until(stage);
          for (const one of story) {
            rig.learner.wish = sizes(16, 1600, 1024);
            const tick = rig.step(one?.make(rig));
            if (one !== undefined) expect(tick.who).toBe("fallback");
            for (const dimension of ["replicas", "cpu", "memory"] as const) {
              expect(rig.world.have[dimension]).toBeGreaterThanOrEqual(bounds[dimension].min);
              expect(rig.world.have[dimension]).toBeLessThanOrEqual(bounds[dimension].max);
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

test("a fallback that would let running pods be gives all of them its size when it follows the learner", () => {
  // The VPA's updater never touches a lone pod: what the learner made too small would stay so.
  const patient: PodFallback<{ readonly steps: number }> = {
    name: "patient",
    start: () => ({ steps: 0 }),
    step: ({ steps }) => ({ want: fallbackWants, followers: [], reasons: [], state: { steps: steps + 1 } }),
  };
  const rig = new Rig({ fallback: patient, profile: contented });
  rig.learner.wish = sizes(5, 700);
  rig.until("SERVING");
  expect(rig.step().who).toBe("learner");
  rig.learner.mood = "throws";
  const { who, action } = rig.step();
  expect(who).toBe("fallback");
  expect(action).toMatchObject({ kind: "set", set: { replicas: fallbackWants.replicas, cpu: fallbackWants.cpu } });
  expect(action).not.toHaveProperty("pods");
});
