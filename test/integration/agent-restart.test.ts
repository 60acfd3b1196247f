/**
 * A real agent over the event world is killed and starts again from its saved state and a real DuckDB file: what it had
 * learned from is back, and what is damaged in the file costs only itself.
 */
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDuckdbStore } from "../../src/adapters/store/index.ts";
import type { EpisodeId, Ms } from "../../src/base/index.ts";
import { unwrap } from "../../src/base/index.ts";
import type { LoopEvent } from "../../src/control/loop/index.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../src/learn/rl/index.ts";
import type { TrajectoryStore } from "../../src/learn/trajectory/index.ts";
import { transitionOf } from "../../src/learn/trajectory/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { memoryState, START } from "../fixtures/loop/scripted.ts";
import { EPISODE, STEP, shopLife, web } from "../fixtures/loop/shop-life.ts";

type Life = ReturnType<typeof shopLife>;
type Recalled = Extract<LoopEvent, { readonly kind: "recalled" }>;

/** Never good enough to serve, so it goes on learning. */
const profile = { serving: { kind: "absolute", value: 2 * EPISODE } } as const;
/** Its saved state keeps only the few of these episodes in which the fallback acted. */
const TURNS = 20 * EPISODE;
/** When it starts again. */
const start = (START + (TURNS + 2) * STEP) as Ms;

let folder: string;
let path: string;
let open: TrajectoryStore[] = [];
const openStore = async () => {
  const store = await openDuckdbStore({ path });
  open.push(store);
  return store;
};
beforeEach(() => {
  folder = temporaryFolder("restart");
  path = join(folder, "trajectories.duckdb");
});
afterEach(async () => {
  await Promise.all(open.map((store) => store.close()));
  open = [];
});

/** Lets the database's own threads and the loop's timers come to rest, without another turn. */
async function settle(life: Life, isThere: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isThere(); i++) {
    await after(2);
    await life.clock.pass(10, 10);
  }
  expect(isThere()).toBe(true);
}

/** A life that ends without a word: nothing is stopped, nothing is saved but what was. */
async function livedAndKilled(state: ReturnType<typeof memoryState>): Promise<void> {
  const store = await openStore();
  const life = shopLife({ profile, state, store });
  await life.turns(TURNS);
  await settle(life, () => life.loop.status.recorder.waiting === 0);
  await store.close();
}

const recalledBy = (life: Life) => life.events.find((event): event is Recalled => event.kind === "recalled");

/** Rewards of all that can be learned from in the store, in the order of decisions. */
async function rewardsIn(store: TrajectoryStore): Promise<number[]> {
  const episodes = (await store.recentEpisodes(web, 1_000)).reverse();
  const rewards: number[] = [];
  for (const id of episodes) {
    const records = await store.episode(id);
    for (const [i, record] of records.entries())
      if (transitionOf(record, records[i + 1])) rewards.push(record.reward as number);
  }
  return rewards;
}

/** Rewards in the replay that the next round of training is given. */
async function rewardsInTraining(life: Life): Promise<number[]> {
  const before = life.trained.length;
  await life.turns(4);
  expect(life.trained.length).toBeGreaterThan(before);
  const [newest] = life.trained.slice(-1);
  const { saved } = (newest as (typeof life.trained)[0]).job.config as { readonly saved: Uint8Array };
  const { blocks } = unwrap(decodeCheckpoint(saved));
  const learner = unwrap(decodeCheckpoint(blocks.learner as Uint8Array));
  return Array.from(learner.blocks["replay/rewards"] as Float32Array);
}

/** By another hand, while nobody owns the file. */
async function alter(...statements: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

describe("an agent that was killed", () => {
  test("has everything to learn from again that it had, in the same order, and goes on", async () => {
    const state = memoryState();
    await livedAndKilled(state);
    const store = await openStore();
    const stored = await rewardsIn(store);
    expect(stored.length).toBeGreaterThan(13 * EPISODE);

    const life = shopLife({ profile, state, store, start });
    const first = await life.turns(1);
    // The first turn did not wait for the store. The newest save is some turns old, which looks like a jump of the clock.
    expect(first).toMatchObject({ stage: "ONLINE", who: "fallback" });
    expect(first?.why[0]?.rule).toBe("clock-jumped");
    expect(recalledBy(life)).toBeUndefined();
    await settle(life, () => recalledBy(life) !== undefined);
    expect(life.events).toContainEqual(expect.objectContaining({ kind: "restarted", from: "saved" }));
    expect(recalledBy(life)).toMatchObject({ from: "store", steps: stored.length, skipped: [] });
    const replay = await rewardsInTraining(life);
    expect(replay.slice(0, stored.length)).toEqual(stored.map(Math.fround));
    expect(replay.length).toBeGreaterThan(stored.length);
    expect(life.loop.status.agents[0]).toMatchObject({ crashes: 0, failing: [] });
    await life.loop.stop();
  });

  test("begins with the fallback's episodes, which it keeps itself, where the store has lost everything", async () => {
    const state = memoryState();
    await livedAndKilled(state);
    await alter("DELETE FROM records", "DELETE FROM episodes");
    const life = shopLife({ profile, state, store: await openStore(), start });
    await life.turns(1);
    // The fallback acted until the learner had earned its place, in the fifth episode or so.
    const replay = await rewardsInTraining(life);
    expect(replay.length).toBeGreaterThan(3 * EPISODE);
    expect(replay.length).toBeLessThan(8 * EPISODE);
    await life.loop.stop();
  });
});

describe("an agent whose policy is lost", () => {
  test("trains the new one on all that the lost one had learned from", async () => {
    const state = memoryState();
    await livedAndKilled(state);
    const [newest] = state.files.get(web) ?? [];
    const { kind, meta, blocks } = unwrap(decodeCheckpoint(newest as Uint8Array));
    const { good: _, ...rest } = blocks;
    state.files.set(web, [encodeCheckpoint({ kind, meta, blocks: { ...rest, learner: Uint8Array.of(1, 2, 3) } })]);
    const store = await openStore();
    const stored = await rewardsIn(store);

    const life = shopLife({ profile, state, store, start });
    await life.turns(2);
    expect(life.transitions()).toEqual(["ONLINE → OFFLINE (learner-lost)"]);
    await settle(life, () => recalledBy(life) !== undefined);
    expect(recalledBy(life)).toMatchObject({ from: "store", skipped: [] });
    const replay = await rewardsInTraining(life);
    expect(replay.slice(0, stored.length)).toEqual(stored.map(Math.fround));
    await life.loop.stop();
  });
});

describe("a corrupt trajectory", () => {
  test("is skipped and named; the agent goes on and learns from the rest", async () => {
    const state = memoryState();
    await livedAndKilled(state);
    const before = await openStore();
    const episodes = await before.recentEpisodes(web, 1_000);
    const [good] = await before.episode(episodes[9] as EpisodeId);
    // Of another shape than this agent's: a version of the task with one more feature wrote it.
    const wide = { ...(good as NonNullable<typeof good>), episode: `${web}.other.0` as EpisodeId };
    await before.append(
      [0, 1].map((step) => ({ ...wide, step, obs: new Float32Array(wide.obs.length + 1), reward: 1 })),
    );
    const all = (await rewardsIn(before)).length;
    const lost = (await before.episode(episodes[3] as EpisodeId)).length;
    await before.close();
    const rowOf = (n: number, step: number) =>
      `episode = (SELECT key FROM episodes WHERE id = '${episodes[n]}') AND step = ${step}`;
    await alter(
      `UPDATE records SET payload = 'no record'::BLOB WHERE ${rowOf(3, 2)}`,
      `UPDATE records SET reward = 'NaN'::DOUBLE WHERE ${rowOf(5, 3)}`,
    );

    const life = shopLife({ profile, state, store: await openStore(), start });
    await life.turns(1);
    await settle(life, () => recalledBy(life) !== undefined);
    // Gone: the episode that cannot be decoded, the step without a number and the one before it, the wide one.
    expect(recalledBy(life)).toMatchObject({
      from: "store",
      steps: all - lost - 2 - 1,
      skipped: [
        { failure: { code: "store.corrupt" }, count: 1 },
        { failure: { code: "trajectory.invalid" }, count: 1 },
        { failure: { code: "rl.shape" }, count: 1 },
      ],
    });
    const last = await life.turnsUntil(({ who }) => who === "learner", 2);
    expect(last.stage).toBe("ONLINE");
    expect((await rewardsInTraining(life)).every(Number.isFinite)).toBe(true);
    expect(life.loop.status.agents[0]).toMatchObject({ crashes: 0 });
    await life.loop.stop();
  });
});
