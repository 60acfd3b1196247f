/**
 * One real agent in the real loop over the event world, through every stage and every reason to fall back.
 * Deterministic: seeds, a clock under the test's hand, training in place of threads (those have tests of their own).
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { AgentId, Ms } from "../../src/base/index.ts";
import { failure, unwrap } from "../../src/base/index.ts";
import { takeoverReasons } from "../../src/control/lifecycle/index.ts";
import { CHECKPOINT_SCHEMA, crc32c, decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import { phaseOf, plainApplication, shop, steadyLoad } from "../../src/sim/cluster/event/simple-world.ts";
import { memoryState } from "../fixtures/loop/scripted.ts";
import type { Faults } from "../fixtures/loop/shop-life.ts";
import { EPISODE, shopLife, web } from "../fixtures/loop/shop-life.ts";

const SERVING_BY = 12 * EPISODE;

/** Reasons that have been seen to make the fallback act, over all tests of this file. */
const seen = new Set<string>();
/** The state of an agent that reached SERVING, as the loop saved it. */
let served: Uint8Array;
/** Two steps after that: the agent was away for a moment, not for so long that its clock seems to have jumped. */
let later: Ms;

type Life = ReturnType<typeof shopLife>;

function restarted(state: Uint8Array, options: Parameters<typeof shopLife>[0] = {}): Life {
  const files = memoryState();
  files.files.set(web, [state]);
  return shopLife({ state: files, start: later, ...options });
}

async function expectFallback(life: Life, reason: string, within = 1): Promise<void> {
  const now = await life.turnsUntil(({ why }) => why[0] === reason, within);
  expect(now.who).toBe("fallback");
  seen.add(reason);
}

const untilLearnerActs = (life: Life, within = 8) => life.turnsUntil(({ who }) => who === "learner", within);

beforeAll(async () => {
  const life = shopLife();
  await life.turnsUntil(({ stage }) => stage === "SERVING", SERVING_BY);
  later = (life.clock.now() + 30_000) as Ms;
  await life.loop.stop();
  served = (life.state as ReturnType<typeof memoryState>).files.get(web)?.[0] as Uint8Array;
});

describe("an agent's life over the event world", () => {
  test("goes from the fallback's seat to serving, and trains again when its workload has changed", async () => {
    const life = shopLife({ profile: { serving: { kind: "converged", below: 1 } } });
    await life.turnsUntil(({ stage }) => stage === "SERVING", SERVING_BY);
    // A new version takes a hundred times the work: no allocation within bounds keeps the SLO, and the reward says so.
    life.world.update(shop, { application: plainApplication({ phases: [phaseOf(1_000)], threads: 8, queue: 100 }) });
    await life.turnsUntil(({ stage }) => stage === "ONLINE", 12 * EPISODE);
    const { recorder, training } = await life.loop.stop();
    expect(life.transitions()).toEqual([
      "INITIALIZED → OFFLINE (bootstrap)",
      "OFFLINE → ONLINE (earned)",
      "ONLINE → SERVING (converged)",
      "SERVING → ONLINE (retraining)",
    ]);
    expect(recorder).toMatchObject({ lost: 0, refused: 0, waiting: 0 });
    expect(training).toMatchObject({ failed: 0 });
    expect((await life.store.counts()).records).toBeGreaterThan(5 * EPISODE);
  });

  test("keeps its stage across a restart and acts in its first turn", async () => {
    const life = restarted(served);
    const now = await life.turns(3);
    expect(now).toMatchObject({ stage: "SERVING", who: "learner" });
    expect(now?.why[0]).toBe("serving");
    await life.loop.stop();
    expect(life.events).toContainEqual(expect.objectContaining({ kind: "restarted", from: "saved" }));
  });
});

describe("the fallback acts within one step, and the learner is back when it is over", () => {
  const faults: readonly [string, Faults][] = [
    ["workload-vanished", { telemetry: "vanished" }],
    ["allocation-unknown", { actuator: failure("actuator.unavailable", "no answer", { retry: true }) }],
    ["telemetry-stale", { telemetry: "silent" }],
    ["telemetry-unusable", { telemetry: "nan" }],
    ["learner-crashed", { learner: "throws" }],
    ["output-not-finite", { learner: "nan" }],
    ["learner-slow", { proposalTakes: 1_000 as Ms }],
  ];

  test.each(faults)("%s", async (reason, fault) => {
    const life = restarted(served);
    await life.turns(3);
    Object.assign(life.faults, fault);
    await expectFallback(life, reason);
    for (const key of Object.keys(fault)) delete life.faults[key as keyof Faults];
    await untilLearnerActs(life);
    expect(life.last()?.stage).toBe("SERVING");
    await life.loop.stop();
  });

  test.each([
    ["ahead", 3_600_000],
    ["back", -3_600_000],
  ])("clock-jumped (%s)", async (_, by) => {
    const life = restarted(served);
    await life.turns(3);
    life.clock.offset = by;
    await expectFallback(life, "clock-jumped");
    // Set right again, which is a jump as well; the step after it is an ordinary one.
    life.clock.offset = 0;
    await expectFallback(life, "clock-jumped");
    await untilLearnerActs(life, 1);
    await life.loop.stop();
  });

  test("guard-trips, once most proposals had to be corrected", async () => {
    const life = restarted(served);
    await life.turns(3);
    life.faults.noRoom = true;
    // More load, so that more is wanted than there is room for.
    life.world.update(shop, { load: steadyLoad(150) });
    await expectFallback(life, "guard-trips", 40);
    await life.loop.stop();
  });
});

describe("a policy that can not be used", () => {
  /** The saved agent with another policy in it, and none to go back to. */
  const withPolicy = (change: (policy: Uint8Array) => Uint8Array): Uint8Array => {
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(served));
    const { good: _, learner, ...rest } = blocks;
    return encodeCheckpoint({ kind, meta, blocks: { ...rest, learner: change(learner as Uint8Array) } });
  };
  const damaged = (policy: Uint8Array) => policy.map((byte, i) => (i === policy.length >> 1 ? byte ^ 1 : byte));
  const ofAnotherVersion = (policy: Uint8Array) => {
    const copy = policy.slice();
    const view = new DataView(copy.buffer);
    view.setUint32(8, CHECKPOINT_SCHEMA + 1, true);
    view.setUint32(copy.length - 4, crc32c(copy.subarray(0, -4)), true);
    return copy;
  };

  test.each([
    ["checkpoint-corrupt", damaged],
    ["checkpoint-other-version", ofAnotherVersion],
  ])("%s: the fallback acts from the first step on, and a new policy has to earn its place", async (reason, change) => {
    const life = restarted(withPolicy(change));
    await expectFallback(life, reason);
    await life.turnsUntil(({ stage }) => stage === "OFFLINE", 4);
    await life.loop.stop();
    expect(life.transitions()).toEqual(["SERVING → OFFLINE (learner-lost)"]);
  });

  test("a damaged newest policy is replaced by the last good one at once", async () => {
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(served));
    const learner = damaged(blocks.learner as Uint8Array);
    const life = restarted(encodeCheckpoint({ kind, meta, blocks: { ...blocks, learner } }));
    expect(await life.turns(3)).toMatchObject({ stage: "SERVING", who: "learner" });
    await life.loop.stop();
    expect(life.events).toContainEqual(
      expect.objectContaining({ kind: "agent", event: expect.objectContaining({ name: "adoption-refused" }) }),
    );
  });

  test("checkpoint-missing: a policy that crashes before any was good has none to go back to", async () => {
    const life = shopLife({ profile: { bootstrap: false } });
    await life.turnsUntil(({ who }) => who === "learner", 20);
    life.faults.learner = "throws";
    await expectFallback(life, "learner-crashed");
    await expectFallback(life, "checkpoint-missing", 3);
    await life.loop.stop();
  });

  test("a state of another version of the agent is refused by name, set aside, and the agent begins again", async () => {
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(served));
    const state = memoryState();
    state.files.set(web, [encodeCheckpoint({ kind, meta: { ...meta, schema: 99 }, blocks })]);
    const life = shopLife({ state, start: later });
    expect(await life.turns(1)).toMatchObject({ stage: "OFFLINE", who: "fallback" });
    expect(state.aside).toEqual([web as AgentId]);
    await life.loop.stop();
    const restart = life.events.find(({ kind: what }) => what === "restarted");
    expect(restart).toMatchObject({ from: "nothing", damaged: [{ code: "agent.schema" }] });
  });
});

describe("training beside the loop", () => {
  const online = async () => {
    const life = shopLife({ profile: { bootstrap: false, serving: { kind: "absolute", value: 2 * EPISODE } } });
    await life.turnsUntil(({ who, stage }) => who === "learner" && stage === "ONLINE", 20);
    return life;
  };

  test("that crashes makes the fallback act while it lasts: exploring without learning is for nothing", async () => {
    const life = await online();
    life.faults.training = "throws";
    await expectFallback(life, "learner-crashed", 6);
    delete life.faults.training;
    await untilLearnerActs(life, 12);
    await life.loop.stop();
  });

  test("that hangs is given up and makes the fallback act; turns go on", async () => {
    const life = await online();
    const before = life.loop.status.agents[0]?.turns ?? 0;
    life.faults.training = "hangs";
    await expectFallback(life, "learner-slow", 8);
    expect(life.loop.status.agents[0]?.skipped).toBe(0);
    expect((life.loop.status.agents[0]?.turns ?? 0) - before).toBeLessThanOrEqual(8);
    await life.loop.stop();
  });

  test("that brings back nonsense is refused, and the policy before it goes on", async () => {
    const life = await online();
    life.faults.training = "garbage";
    await life.turns(6);
    expect(life.loop.status.training?.failed).toBeGreaterThan(0);
    await life.loop.stop();
    expect(life.events).toContainEqual(expect.objectContaining({ kind: "port-failing", port: "trainer" }));
  });
});

test("every reason to fall back has been met above", () => {
  expect([...takeoverReasons].filter((reason) => !seen.has(reason))).toEqual([]);
});
