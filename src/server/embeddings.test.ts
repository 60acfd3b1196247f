import { expect, test } from "vitest";
import { agent, serverStage } from "../../test/fixtures/server/fake-plane.ts";
import { err, failure, ok } from "../base/index.ts";
import type { EmbeddingsDocument } from "../contract/index.ts";
import type { PoolMap, PoolShelf } from "./routes/embeddings.ts";

const pool: PoolMap = {
  model: {
    name: "pool-2",
    applications: 2,
    rounds: 8,
    seed: 1,
    known: 5,
    neutral: 4,
    curve: [{ round: 1, return: 3 }],
  },
  shares: [0.75, 0.25],
  members: [
    {
      name: "known-1-0",
      application: "a",
      sensitivity: "memory",
      shape: "steady",
      place: [1, 2],
      nearest: [{ name: "known-1-1", similarity: 0.5 }],
    },
  ],
  placeOf: (embedding) => (embedding.length === 2 ? [10 * (embedding[0] ?? 0), 10 * (embedding[1] ?? 0)] : null),
};

const read = async (shelf?: PoolShelf, change = {}): Promise<EmbeddingsDocument> => {
  const stage = serverStage(shelf ? { pool: shelf } : {});
  stage.plane.send(agent("cart-agent", change));
  return (await (await stage.ask("/v1/embeddings")).json()) as EmbeddingsDocument;
};

const familiar = {
  state: "known" as const,
  why: "it is like what was learned on",
  model: "pool-2",
  embedding: [0.5, -0.25],
  kin: [{ name: "known-1-0", similarity: 0.9 }],
};

test("without a shared model the map is empty, and no workload is on it", async () => {
  expect(await read()).toEqual({ model: null, shares: [0, 0], members: [], workloads: [] });
});

test("a workload whose embedding is known lies where the pool's axes put it, with its kin", async () => {
  const shelf = { read: async () => ok(pool) };
  const { members, workloads, model, shares } = await read(shelf, { familiarity: familiar });
  expect({ members, model, shares }).toEqual({ members: pool.members, model: pool.model, shares: pool.shares });
  expect(workloads).toEqual([
    {
      workload: "cart",
      title: "The cart",
      agent: "cart-agent",
      state: "known",
      why: familiar.why,
      place: [5, -2.5],
      nearest: familiar.kin,
    },
  ]);
});

test("a neutral embedding has no place, nor has one of another model's length", async () => {
  const shelf = { read: async () => ok(pool) };
  const neutral = { ...familiar, state: "neutral" as const, embedding: [], kin: [] };
  expect((await read(shelf, { familiarity: neutral })).workloads[0]?.place).toBeNull();
  expect((await read(shelf, { familiarity: { ...familiar, embedding: [1] } })).workloads[0]?.place).toBeNull();
});

test("a report that cannot be read is a problem with its reason", async () => {
  const why = failure("plane.pool-unreadable", "the report cannot be read");
  const stage = serverStage({ pool: { read: async () => err(why) } });
  const answer = await stage.ask("/v1/embeddings");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ code: "plane.pool-unreadable", detail: why.message });
});
