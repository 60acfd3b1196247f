/**
 * A real agent in the real loop over the event world: what it keeps across a restart, and training beside the loop.
 * Deterministic: seeds, a clock under the test's hand, training in place of threads (those have tests of their own).
 * Every stage and every reason to fall back: agent-faults.test.ts.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { AgentId, Ms } from "../../src/base/index.ts";
import { unwrap } from "../../src/base/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import { memoryState } from "../fixtures/loop/scripted.ts";
import { EPISODE, shopLife, web } from "../fixtures/loop/shop-life.ts";

const SERVING_BY = 12 * EPISODE;

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
  const now = await life.turnsUntil(({ why }) => why[0]?.rule === reason, within);
  expect(now.who).toBe("fallback");
}

const untilLearnerActs = (life: Life, within = 8) => life.turnsUntil(({ who }) => who === "learner", within);

beforeAll(async () => {
  const life = shopLife();
  await life.turnsUntil(({ stage }) => stage === "SERVING", SERVING_BY);
  later = (life.clock.now() + 30_000) as Ms;
  await life.loop.stop();
  served = (life.state as ReturnType<typeof memoryState>).files.get(web)?.[0] as Uint8Array;
});

describe("an agent that starts again", () => {
  test("keeps its stage across a restart and acts in its first turn", async () => {
    const life = restarted(served);
    const now = await life.turns(3);
    expect(now).toMatchObject({ stage: "SERVING", who: "learner" });
    expect(now?.why[0]?.rule).toBe("serving");
    await life.loop.stop();
    expect(life.events).toContainEqual(expect.objectContaining({ kind: "restarted", from: "saved" }));
  });
});

describe("a policy that cannot be used", () => {
  const damaged = (policy: Uint8Array) => policy.map((byte, i) => (i === policy.length >> 1 ? byte ^ 1 : byte));

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
