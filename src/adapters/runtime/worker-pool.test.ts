import { afterEach, describe, expect, test } from "vitest";
import type { JobKinds, WorkerPool } from "../../learn/tensor/index.ts";
import { loadKernels } from "./load-kernels.ts";
import { workerEntry } from "./worker-entry.ts";
import { openWorkerPool, type WorkerPoolOptions } from "./worker-pool.ts";

const fixture = new URL("../../../test/fixtures/threads/", import.meta.url);
const { kinds } = (await import(new URL("kinds.mjs", fixture).href)) as { kinds: JobKinds };
const entry = new URL("worker.mjs", fixture);

const open: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function poolOf(threads: number, options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  const pool = openWorkerPool({ kinds, entry, threads, ...options });
  open.push(pool);
  return pool;
}

const job = (kind: string, config: unknown = {}) => ({ kind, config });

/** Resolves when the task reports progress, that is, when it is running. */
function started(pool: WorkerPool, kind: string, signal: AbortSignal) {
  let running: () => void = () => {};
  const isRunning = new Promise<void>((resolve) => {
    running = resolve;
  });
  const result = pool.run(job(kind), { signal, progress: () => running() });
  return { isRunning, result };
}

describe("a worker pool", () => {
  test("gives every task its own result, more tasks than threads", async () => {
    const pool = poolOf(2);
    const results = await Promise.all([1, 2, 3, 4, 5].map((x) => pool.run(job("square", { x }))));
    expect(results).toEqual([1, 4, 9, 16, 25]);
  });

  test("gives its threads the memory that they have in common", async () => {
    const memory = new SharedArrayBuffer(8);
    const pool = poolOf(2, { memory });
    await Promise.all([1, 2, 3, 4].map((by) => pool.run(job("addToMemory", { by }))));
    expect(new Int32Array(memory)[0]).toBe(10);
    expect(await poolOf(1).run(job("addToMemory", { by: 1 }))).toBe("no memory");
  });

  test("hands the caller's kernel set's kind to its threads", async () => {
    const pool = poolOf(1, { kernels: loadKernels({ prefer: "reference" }) });
    expect(await pool.run(job("whichKernels"))).toBe("reference");
  });

  test("gives a task the memory of the one before only if that left nothing in it", async () => {
    const pool = poolOf(1);
    const takeRoom = (floats: number, isKept: boolean) =>
      pool.run(job("takeRoom", { floats, isKept })) as Promise<{ at: number; used: number }>;
    const first = await takeRoom(100, false);
    // In the same memory the freed block has its size and is not offered to another.
    const second = await takeRoom(200, true);
    expect(second.at).toBeGreaterThan(first.at);
    // What the second kept is not in the memory of the third, which begins where the first did.
    expect(await takeRoom(300, false)).toEqual(first);
  });

  test("shares shared memory instead of copying it", async () => {
    const into = new Float32Array(new SharedArrayBuffer(12));
    await poolOf(1).run(job("fill", { into, value: 2.5 }));
    expect([...into]).toEqual([2.5, 2.5, 2.5]);
  });

  test("a task that throws or ends its thread fails alone, with a code, and the pool goes on", async () => {
    const pool = poolOf(1);
    await expect(pool.run(job("throw"))).rejects.toMatchObject({ code: "threads.job-crashed" });
    await expect(pool.run(job("exit"))).rejects.toMatchObject({ code: "threads.worker-lost" });
    await expect(pool.run(job("unheard-of"))).rejects.toMatchObject({ code: "threads.unknown-job" });
    expect(await pool.run(job("square", { x: 6 }))).toBe(36);
  });

  test("a task whose config cannot travel fails alone, also when it waited for the thread", async () => {
    const pool = poolOf(1);
    const first = pool.run(job("square", { x: 2 }));
    const stuck = pool.run(job("square", { x: () => 3 }));
    const last = pool.run(job("square", { x: 4 }));
    await expect(stuck).rejects.toThrow(/could not be cloned/);
    expect(await Promise.all([first, last])).toEqual([4, 16]);
  });

  test("an aborted task stops by itself if it listens", async () => {
    const pool = poolOf(1);
    const stop = new AbortController();
    const { isRunning, result } = started(pool, "untilCancelled", stop.signal);
    await isRunning;
    stop.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    expect(await pool.run(job("square", { x: 2 }))).toBe(4);
  });

  test("an aborted task that does not listen is ended, and the next one gets a fresh thread", async () => {
    const pool = poolOf(1);
    const stop = new AbortController();
    const { isRunning, result } = started(pool, "deaf", stop.signal);
    const next = pool.run(job("square", { x: 3 }));
    await isRunning;
    stop.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    expect(await next).toBe(9);
  });

  test("a task that is aborted while it waits never starts", async () => {
    const pool = poolOf(1);
    const [busy, stop] = [new AbortController(), new AbortController()];
    const first = started(pool, "untilCancelled", busy.signal);
    const waiting = pool.run(job("exit"), { signal: stop.signal });
    stop.abort(new Error("changed my mind"));
    await expect(waiting).rejects.toThrow("changed my mind");
    busy.abort(new Error("done"));
    await expect(first.result).rejects.toThrow("done");
  });

  test("refuses what its queue has no room for", async () => {
    const pool = poolOf(1, { queue: 1 });
    const stop = new AbortController();
    const { result } = started(pool, "untilCancelled", stop.signal);
    const waiting = pool.run(job("square", { x: 1 }));
    await expect(pool.run(job("square", { x: 1 }))).rejects.toMatchObject({ code: "threads.queue-full" });
    stop.abort(new Error("done"));
    await expect(result).rejects.toThrow("done");
    expect(await waiting).toBe(1);
  });

  test("closing fails what runs and what waits", async () => {
    const pool = poolOf(1);
    const tasks = [pool.run(job("slow")), pool.run(job("slow"))].map((task) => task.catch((error: unknown) => error));
    await pool.close();
    expect(await Promise.all(tasks)).toMatchObject([{ code: "threads.closed" }, { code: "threads.closed" }]);
    await expect(pool.run(job("square"))).rejects.toMatchObject({ code: "threads.closed" });
  });
});

test("a worker's entry is the compiled file, also when asked for from sources", () => {
  const url = workerEntry("./index.ts", import.meta.url);
  expect(url.pathname).toMatch(/\/dist\/src\/adapters\/runtime\/index\.js$/);
  expect(() => workerEntry("./no-such-file.ts", import.meta.url)).toThrow(/npm run build/);
});
