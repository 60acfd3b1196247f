import { EventEmitter } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import type { PlaneThread } from "./open-plane.ts";
import { openPlane, ThreadedPlane } from "./open-plane.ts";

// Runs the compiled worker in dist/; `npm test` builds first.
const settings = {
  seed: 3,
  world: "",
  workloads: null,
  targets: [],
  folder: null,
  speed: 400,
  start: Date.UTC(2026, 0, 5, 6),
  kernels: "auto",
  trainingThreads: 1,
  sharedModel: null,
  store: { kind: "embedded" },
  modules: [],
} as const;

test("a plane in its thread measures four workloads, answers commands and queries, tells late listeners, and stops", async () => {
  const plane = unwrap(await openPlane(settings));
  expect(plane.world).toMatchObject({ kind: "simulated", tasks: ["pods"], startedAt: settings.start });
  await new Promise<void>((resolve) => {
    const leave = plane.subscribe((updates) => {
      const rows = updates.flatMap((update) => (update.kind === "samples" ? update.samples : []));
      if (!rows.some(({ account }) => account.steps >= 6)) return;
      leave();
      resolve();
    });
  });
  expect(plane.readiness()).toEqual({ reasons: [], notes: [] });
  const late: PlaneUpdate[] = [];
  plane.subscribe((updates) => late.push(...updates));
  expect(late.slice(0, 8).map(({ kind }) => kind)).toEqual([...Array(4).fill("workload"), ...Array(4).fill("agent")]);
  const answers = await Promise.all([
    plane.command({ kind: "pause", agent: "web-shop-agent" }, { revision: 1 }),
    plane.command({ kind: "resume", agent: "web-shop-agent" }, { revision: 1 }),
  ]);
  expect(answers).toMatchObject([
    { ok: true, value: { revision: 2 } },
    { ok: false, failure: { code: "plane.revision" } },
  ]);
  const query = { agent: "queue-worker-agent", limit: 2, before: null };
  const page = unwrap(await plane.trajectories(query));
  expect(page.items.map(({ step }) => step)).toEqual([expect.any(Number), (page.items[0]?.step ?? 0) - 1]);
  const next = unwrap(await plane.trajectories({ ...query, before: page.next }));
  expect(next.items[0]?.step).toBe((page.items[1]?.step ?? 0) - 1);
  expect(await plane.close()).toEqual({ ok: true, value: undefined });
  expect(plane.readiness()).toEqual({ reasons: ["the control plane has stopped"], notes: [] });
});

test("what the thread cannot begin with is told, and nothing is left of it", async () => {
  const folder = temporaryFolder("open-plane");
  writeFileSync(join(folder, "plane.json"), "{");
  const opened = await openPlane({ ...settings, folder });
  expect(opened).toMatchObject({ ok: false, failure: { code: "plane.saved-state" } });
});

class FakeThread extends EventEmitter {
  readonly heard: unknown[] = [];
  ended = 0;

  postMessage(message: unknown): void {
    this.heard.push(message);
  }

  async terminate(): Promise<number> {
    this.ended += 1;
    return 1;
  }
}

test("a thread that does not stop is left alone, for its database would take the process with it", async () => {
  const thread = new FakeThread();
  const plane = new ThreadedPlane(thread as unknown as PlaneThread, { stopMs: 20 });
  const closed = await plane.close();
  expect(closed).toMatchObject({ ok: false, failure: { code: "plane.stuck" } });
  expect(thread).toMatchObject({ heard: [{ kind: "stop" }], ended: 0 });
});

test("a thread that says it has stopped is ended", async () => {
  const thread = new FakeThread();
  const plane = new ThreadedPlane(thread as unknown as PlaneThread, { stopMs: 5_000 });
  const closing = plane.close();
  thread.emit("message", { kind: "stopped", saved: { ok: true, value: undefined } });
  expect(await closing).toEqual({ ok: true, value: undefined });
  expect(thread.ended).toBe(1);
});
