import { describe, expect, test } from "vitest";
import { err, failure, ok, unwrap } from "../../src/base/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import type { Mood, PodTick } from "./rig.ts";
import { betterWish, profile, Rig, ruleOf, Scripted, sizes } from "./rig.ts";

// ── Repairs and restarts ────────────────────────────────────────────────────────────────────────────────

describe("a broken learner", () => {
  test("goes back to the last good checkpoint, which is the one that passed the gate", () => {
    const rig = new Rig();
    rig.until("ONLINE");
    rig.learner.wish = sizes(1, 100);
    rig.learner.mood = "diverges";
    expect(rig.agent.train({ updates: 3 })).toMatchObject({ updates: 0, failure: { code: "agent.learner-crashed" } });
    expect(rig.step().why.map(ruleOf)).toEqual(["learner-crashed"]);
    expect(rig.learner.wish).toEqual(betterWish);
    expect(rig.step().who).toBe("learner");
    expect(rig.events.map(({ name }) => name)).toContain("learner-restored");
  });

  test("that fails again right after it is made anew, from the kept episodes, and has to earn its place again", () => {
    const rig = new Rig();
    rig.until("ONLINE");
    const original = rig.learner;
    original.load = () => ok(undefined);
    original.mood = "throws";
    const whys = rig.steps(4).map(({ why }) => why[0]?.rule);
    expect(whys).toEqual(["learner-crashed", "learner-crashed", "checkpoint-corrupt", "rolled-back"]);
    expect(original.isDisposed).toBe(true);
    expect(rig.learners).toHaveLength(2);
    expect(rig.learner.seen.length).toBeGreaterThanOrEqual(20);
    expect(rig.path.at(-1)).toBe("ONLINE→OFFLINE");
  });

  test("that never passed a gate has nothing to go back to", () => {
    const rig = new Rig({ profile: { ...profile, bootstrap: false } });
    rig.step();
    rig.learner.mood = "not finite";
    const whys = rig.steps(3).map(({ why }) => why[0]?.rule);
    expect(whys).toEqual(["output-not-finite", "checkpoint-missing", "rolled-back"]);
  });

  test("is not made anew in every step when that does not help", () => {
    const rig = new Rig();
    rig.step();
    const make = rig.learners.push.bind(rig.learners);
    rig.learners.push = (learner) => {
      learner.mood = "throws";
      return make(learner);
    };
    rig.learner.mood = "throws";
    const ticks = rig.steps(60);
    expect(ticks.every(({ who }) => who === "fallback")).toBe(true);
    expect(rig.learners.length).toBeLessThan(8);
  });
});

describe("steps from before a restart", () => {
  const saved = () => {
    const rig = new Rig();
    rig.until("ONLINE");
    return rig;
  };

  test("are those of the kept episodes, until stored ones take their place", () => {
    const first = saved();
    const { kept } = first.agent;
    const rig = new Rig();
    expect(rig.agent.load(first.agent.save()).ok).toBe(true);
    expect(rig.learner.seen.map(({ reward }) => reward)).toEqual(kept.map(({ reward }) => reward));
    const older = { ...(kept[0] as NonNullable<(typeof kept)[0]>), reward: -7 };
    expect(rig.agent.recall([older, older], { afresh: true })).toEqual([]);
    expect(rig.agent.recall(kept.slice(3))).toEqual([]);
    expect(rig.learner.seen.map(({ reward }) => reward)).toEqual([-7, -7, ...kept.slice(3).map((s) => s.reward)]);
  });

  test("that the learner refuses are answered with why, and the others are taken in", () => {
    const rig = saved();
    const why = failure("rl.not-finite", "the reward is NaN");
    const { seen, learner } = { seen: rig.learner.seen.length, learner: rig.learner };
    const observe = learner.observe.bind(learner);
    learner.observe = (step) => (Number.isFinite(step.reward) ? observe(step) : err(why));
    const steps = rig.agent.kept.map((step, i) => (i % 2 === 0 ? step : { ...step, reward: Number.NaN }));
    expect(rig.agent.recall(steps)).toEqual(new Array(steps.length >> 1).fill(why));
    expect(learner.seen).toHaveLength(seen + Math.ceil(steps.length / 2));
    expect(rig.step().who).toBe("learner");
  });

  test("on which the learner crashes make the fallback act, as any other crash does", () => {
    const rig = saved();
    rig.learner.observe = () => {
      throw new Error("out of memory");
    };
    expect(rig.agent.recall(rig.agent.kept)).toMatchObject([{ code: "agent.learner-crashed" }]);
    expect(rig.step().why.map(ruleOf)).toEqual(["learner-crashed"]);
  });
});

describe("parameters from elsewhere", () => {
  const trained = (mood: Mood) => {
    const learner = new Scripted();
    learner.wish = sizes(6, 500);
    learner.mood = mood;
    return learner.save();
  };

  test("are taken over when they work", () => {
    const rig = new Rig();
    rig.step();
    expect(rig.agent.adopt(trained("well")).ok).toBe(true);
    expect(rig.learner.wish).toEqual(sizes(6, 500));
  });

  test.each<Mood>(["not finite", "throws", "refuses"])("are refused when the policy they make is %s", (mood) => {
    const rig = new Rig();
    rig.step();
    expect(rig.agent.adopt(trained(mood)).ok).toBe(false);
    expect(rig.learner).toMatchObject({ mood: "well", wish: betterWish });
    expect(rig.step().events.map(({ name }) => name)).toContain("adoption-refused");
  });
});

describe("after a restart", () => {
  const revived = (bytes: Uint8Array, from: Rig) => {
    const rig = new Rig();
    expect(unwrap(rig.agent.load(bytes))).toBeUndefined();
    Object.assign(rig.world, { now: from.world.now, have: from.world.have, demand: from.world.demand });
    return rig;
  };

  test.each(["OFFLINE", "ONLINE", "SERVING"])("an agent in %s goes on as if nothing had happened", (stage) => {
    const rig = new Rig({ settings: { noise: { kind: "gaussian", sigma: 0.02 } } });
    rig.until(stage);
    rig.steps(3);
    const bytes = rig.agent.save();
    const copy = new Rig({ settings: { noise: { kind: "gaussian", sigma: 0.02 } } });
    unwrap(copy.agent.load(bytes));
    Object.assign(copy.world, { now: rig.world.now, have: rig.world.have });
    const told = ({ stage: s, who, why, action, step }: PodTick) => ({ s, who, why, action, step });
    // The step that was under way when it was saved is not completed: who knows how long the restart took.
    expect(copy.step().completed).toBeUndefined();
    rig.step();
    expect(copy.steps(25).map(told)).toEqual(rig.steps(25).map(told));
  });

  /** The newest policy and the last good one, altered. */
  const tampered = (bytes: Uint8Array, alter: (name: string, block: Uint8Array) => Uint8Array | undefined) => {
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(bytes));
    const altered = Object.entries(blocks).flatMap(([name, block]) => {
      const next = block instanceof Uint8Array ? alter(name, block) : block;
      return next === undefined ? [] : [[name, next] as const];
    });
    return encodeCheckpoint({ kind, meta, blocks: Object.fromEntries(altered) });
  };
  const flipped = (block: Uint8Array) => block.map((byte, i) => (i === block.length >> 1 ? byte ^ 1 : byte));
  /** Version 2, with a checksum that says so is right, cannot be made from outside: the learner says it. */
  const isPolicy = (name: string) => name === "learner" || name === "good";

  test("a damaged policy is replaced by the last good one", () => {
    const rig = new Rig();
    rig.until("SERVING");
    rig.learner.wish = sizes(7, 500);
    const bytes = tampered(rig.agent.save(), (name, block) => (name === "learner" ? flipped(block) : block));
    const copy = revived(bytes, rig);
    expect(copy.learner.wish).toEqual(betterWish);
    const tick = copy.step();
    expect(tick.who).toBe("learner");
    expect(tick.events[0]).toMatchObject({ name: "adoption-refused", evidence: { code: "checkpoint.corrupt" } });
  });

  test("with both damaged the fallback acts at once, and the life begins again OFFLINE", () => {
    const rig = new Rig();
    rig.until("SERVING");
    const bytes = tampered(rig.agent.save(), (name, block) => (isPolicy(name) ? flipped(block) : block));
    const copy = revived(bytes, rig);
    expect(copy.step()).toMatchObject({ who: "fallback", why: [{ rule: "checkpoint-corrupt" }] });
    expect(copy.step()).toMatchObject({ stage: "OFFLINE", who: "fallback", why: [{ rule: "rolled-back" }] });
  });

  test("a policy of another version is named as that", () => {
    const rig = new Rig();
    rig.until("SERVING");
    const bytes = rig.agent.save();
    const copy = new Rig();
    copy.learner.load = () => err(failure("checkpoint.schema", "version 9"));
    unwrap(copy.agent.load(bytes));
    Object.assign(copy.world, { now: rig.world.now });
    expect(copy.step()).toMatchObject({ who: "fallback", why: [{ rule: "checkpoint-other-version" }] });
  });

  test("an episode whose last step was lost with the process is none for estimates", () => {
    const rig = new Rig();
    // The tenth step of ten has begun, and ends with the process.
    rig.steps(10);
    const lengths: number[][] = [];
    const copy = new Rig({
      estimator: (_learner, episodes) => {
        lengths.push(episodes.map(({ length }) => length));
        return err(failure("test.enough", "that was all"));
      },
    });
    unwrap(copy.agent.load(rig.agent.save()));
    Object.assign(copy.world, { now: rig.world.now, have: rig.world.have });
    for (let i = 0; i < 31; i++) {
      copy.step();
      copy.agent.train({ updates: 0 });
    }
    expect(lengths.at(-1)).toEqual([10, 10]);
  });

  test("with another learner than the saved one it begins its life anew, and says so; what the rest knew is kept", () => {
    const rig = new Rig();
    rig.until("SERVING");
    rig.learner.save = () => encodeCheckpoint({ kind: "another", meta: {}, blocks: {} });
    const bytes = rig.agent.save();
    const copy = new Rig();
    copy.learner.load = () => err(failure("checkpoint.mismatch", "written by scripted and read by another"));
    unwrap(copy.agent.load(bytes));
    Object.assign(copy.world, { now: rig.world.now, have: rig.world.have });
    expect(copy.step()).toMatchObject({ stage: "OFFLINE", who: "fallback", why: [{ rule: "bootstrapping" }] });
    const told = copy.events.map(({ name }) => name);
    expect(told).toEqual(["learner-replaced", "transition"]);
    expect(copy.learners).toHaveLength(1);
    // The fallback's steps that the agent had kept are what the new one begins with.
    expect(copy.learner.seen.length).toBeGreaterThan(10);
    expect(copy.agent.state.history.map(({ to }) => to)).toEqual([
      ...rig.agent.state.history.map(({ to }) => to),
      "OFFLINE",
    ]);
    const again = new Rig();
    unwrap(again.agent.load(copy.agent.save()));
    expect(again.agent.state).toEqual(copy.agent.state);
  });

  test.each<[string, (rig: Rig) => Uint8Array]>([
    ["checkpoint.truncated", (rig) => rig.agent.save().subarray(0, -1)],
    ["checkpoint.corrupt", (rig) => flipped(rig.agent.save())],
    ["agent.foreign", () => new Scripted().save()],
    ["agent.foreign", (rig) => tampered(rig.agent.save(), (name, block) => (name === "learner" ? undefined : block))],
  ])("a state that is not its own is refused as %s, and the agent is as it was", (code, make) => {
    const rig = new Rig();
    rig.until("ONLINE");
    const before = rig.agent.save();
    const loaded = rig.agent.load(make(rig));
    expect(loaded).toMatchObject({ ok: false, failure: { code } });
    expect(rig.agent.save()).toEqual(before);
  });

  test("the state of another workload or another version is refused", () => {
    const rig = new Rig();
    rig.step();
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(rig.agent.save()));
    const codeOf = (change: object) => {
      const loaded = rig.agent.load(encodeCheckpoint({ kind, meta: { ...meta, ...change }, blocks }));
      return loaded.ok ? "accepted" : loaded.failure.code;
    };
    expect(codeOf({})).toBe("accepted");
    expect(codeOf({ workload: "cart" })).toBe("agent.foreign");
    expect(codeOf({ fallback: { name: "kpa", state: {} } })).toBe("agent.foreign");
    expect(codeOf({ schema: 1 })).toBe("agent.schema");
    expect(codeOf({ lifecycle: '{"schema":7,"state":{}}' })).toBe("lifecycle.schema");
  });
});
