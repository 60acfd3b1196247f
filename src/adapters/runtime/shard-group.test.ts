import { afterEach, describe, expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import type { JobKinds, JobName, WorkerPool } from "../../learn/tensor/index.ts";
import { loadKernels } from "./load-kernels.ts";
import { openWorkerPool } from "./worker-pool.ts";

const fixture = new URL("../../../test/fixtures/threads/", import.meta.url);
const { kinds } = (await import(new URL("kinds.mjs", fixture).href)) as { kinds: JobKinds };
const entry = new URL("worker.mjs", fixture);

const open: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function poolOf(threads: number): WorkerPool {
  const pool = openWorkerPool({ kinds, entry, threads, kernels: loadKernels({ prefer: "wasm" }) });
  open.push(pool);
  return pool;
}

const SHAPE = { rows: 5, inputs: 7, outputs: 9, batch: 30 };
const SHARDS = 6;
const dense: JobName = { kind: "dense", config: SHAPE };

/** Twenty steps of gradient descent from the same start on the same data. */
async function train(threads: number): Promise<{ params: Float32Array; losses: number[] }> {
  const group = await poolOf(threads).openShards(dense, { shards: SHARDS });
  const rng = seededRng(5);
  const fill = (block: Float32Array) => {
    for (let i = 0; i < block.length; i++) block[i] = rng.next() * 2 - 1;
  };
  fill(group.params);
  for (let shard = 0; shard < SHARDS; shard++) fill(group.data(shard));
  const losses: number[] = [];
  for (let t = 0; t < 20; t++) {
    losses.push(await group.step());
    for (let i = 0; i < group.params.length; i++) {
      group.params[i] = (group.params[i] as number) - 0.5 * (group.gradient[i] as number);
    }
  }
  return { params: group.params.slice(), losses };
}

describe("a shard group", () => {
  test("gives the same bytes on one, two, three and more threads than shards", async () => {
    const one = await train(1);
    expect(one.losses[19]).toBeLessThan((one.losses[0] as number) / 2);
    for (const threads of [2, 3, 8]) {
      const many = await train(threads);
      expect(many.losses).toEqual(one.losses);
      expect(Buffer.from(many.params.buffer)).toEqual(Buffer.from(one.params.buffer));
    }
  });

  test("adds the shards' gradients and losses", async () => {
    const group = await poolOf(2).openShards({ kind: "throwing", config: SHAPE }, { shards: 3 });
    expect(await group.step()).toBe(3);
    expect([...group.gradient].every((g) => g === 3)).toBe(true);
  });

  test.each([
    ["throws", "throwing", "threads.job-crashed"],
    ["ends", "exiting", "threads.worker-lost"],
  ])("fails with a code when a thread %s, and stays failed", async (_, kind, code) => {
    const group = await poolOf(2).openShards({ kind, config: SHAPE }, { shards: 2 });
    group.data(1)[0] = 1;
    await group.step();
    await expect(group.step()).rejects.toMatchObject({ code });
    await expect(group.step()).rejects.toMatchObject({ code });
  });

  test("waits for the other threads when the caller's own share throws, and can step again", async () => {
    const group = await poolOf(2).openShards({ kind: "marked", config: SHAPE }, { shards: 2 });
    group.data(0)[0] = -1;
    await expect(group.step()).rejects.toThrow("this share fails on purpose");
    // The other thread, which is slow, has finished: its loss is that of the failed step.
    group.data(0)[0] = 0;
    group.data(1)[0] = 7;
    expect(await group.step()).toBe(7);
  });

  test("cannot be opened when a model does not build or is not known", async () => {
    await expect(poolOf(2).openShards({ kind: "unbuildable", config: 0 }, { shards: 2 })).rejects.toThrow(
      /cannot be built/,
    );
    await expect(poolOf(2).openShards({ kind: "nothing", config: 0 }, { shards: 2 })).rejects.toMatchObject({
      code: "threads.unknown-job",
    });
  });

  test("refuses a step once it is closed or the caller has given up", async () => {
    const group = await poolOf(2).openShards(dense, { shards: 2 });
    await expect(group.step({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    await group.step();
    await group.close();
    await expect(group.step()).rejects.toMatchObject({ code: "threads.closed" });
  });
});
