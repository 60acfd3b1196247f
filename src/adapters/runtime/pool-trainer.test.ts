import { afterEach, describe, expect, test } from "vitest";
import { agentId, SettableClock, START, stage } from "../../../test/fixtures/loop/scripted.ts";
import type { JobKinds, WorkerPool } from "../../learn/tensor/index.ts";
import { poolTrainer } from "./pool-trainer.ts";
import { systemClock } from "./system-clock.ts";
import { openWorkerPool } from "./worker-pool.ts";

const fixture = new URL("../../../test/fixtures/threads/", import.meta.url);
const { kinds } = (await import(new URL("kinds.mjs", fixture).href)) as { kinds: JobKinds };
const open: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function trainerOf(threads = 1) {
  const pool = openWorkerPool({ kinds, entry: new URL("worker.mjs", fixture), threads });
  open.push(pool);
  return poolTrainer(pool);
}

const agent = agentId("web");
const signal = new AbortController().signal;

describe("a trainer on threads", () => {
  test("brings back what the job made", async () => {
    expect(await trainerOf().train({ agent, kind: "square", config: { x: 7 } }, signal)).toEqual({
      ok: true,
      value: 49,
    });
  });

  test("tells a job that throws, one that ends its thread and one that nobody knows by their codes", async () => {
    const trainer = trainerOf();
    const codes = [];
    for (const kind of ["throw", "exit", "nobody"]) {
      const outcome = await trainer.train({ agent, kind, config: {} }, signal);
      codes.push(outcome.ok ? "ok" : outcome.failure.code);
    }
    expect(codes).toEqual(["threads.job-crashed", "threads.worker-lost", "threads.unknown-job"]);
    // The thread that was lost has been replaced.
    expect(await trainer.train({ agent, kind: "square", config: { x: 3 } }, signal)).toEqual({ ok: true, value: 9 });
  });

  test("ends a job that does not listen when its time is up", async () => {
    const given = new AbortController();
    const outcome = trainerOf().train({ agent, kind: "deaf", config: {} }, given.signal);
    await systemClock.sleep(200 as never);
    given.abort();
    expect(await outcome).toMatchObject({ ok: false, failure: { code: "train.given-up", retry: true } });
  });

  test("never holds up a turn, though its thread works without pause", async () => {
    const clock = new SettableClock(START);
    const { loop, slot } = stage({ clock, trainer: trainerOf() });
    const { agent: trained } = slot("web", { training: () => ({ kind: "deaf", config: {} }) });
    const { agent: other } = slot("api");
    await clock.pass(59_900);
    expect([trained.seen.length, other.seen.length]).toEqual([4, 4]);
    await loop.stop();
  });
});
