import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/fixtures/folders/temporary-folder.ts";
import { node, spansOf } from "../../../../test/fixtures/traces/span-tree.ts";
import { openSpanJournal } from "../../../adapters/otlp/index.ts";
import { openTraceStore } from "../../../adapters/store/index.ts";
import { CodedError, failure, type Ms, unwrap } from "../../../base/index.ts";
import { NameTable, spanColumnsOf, type TraceStore } from "../../../observe/telemetry/index.ts";
import { TracePipeline } from "./trace-pipeline.ts";

const request = node("shop", [0, 100], [node("cart", [10, 90])]);
const batch = (trace: number) => spanColumnsOf(spansOf(request, { trace }), new NameTable());
const idOf = (trace: number): string => spansOf(request, { trace })[0]?.traceId ?? "";

let folder: string;
let store: TraceStore;
beforeEach(async () => {
  folder = temporaryFolder("pipeline");
  store = await openTraceStore({ path: ":memory:" });
});
afterEach(async () => {
  await store.close();
});

/** Both clocks are one unless the wall's is set: `isSet` milliseconds ahead of what has passed. */
function pipelineAt(clock: { now: number; isSet?: number }, over: TraceStore = store) {
  const now = (): Ms => (clock.now + (clock.isSet ?? 0)) as Ms;
  const seen: number[] = [];
  const troubles: (string | null)[] = [];
  const pipeline = new TracePipeline({
    store: over,
    journal: unwrap(openSpanJournal({ folder }, now())),
    now,
    monotonic: () => clock.now as Ms,
    onSpans: () => undefined,
    onTraces: ({ block }) => seen.push(block.size),
    onTrouble: (why) => troubles.push(why?.code ?? null),
  });
  return { pipeline, seen, troubles };
}

test("what was acknowledged and not stored when the process was killed is stored by the next, and nothing twice", async () => {
  const clock = { now: 1_000 };
  const first = pipelineAt(clock);
  expect(first.pipeline.offer(batch(1))).toMatchObject({ kind: "taken", unused: 0 });
  clock.now += 7_000;
  await first.pipeline.turn();
  expect(first.seen).toEqual([1]);
  expect(first.pipeline.offer(batch(2))).toMatchObject({ kind: "taken" });
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  // Killed here: the first trace is in the store and in the journal, the second in the journal alone.
  const second = pipelineAt(clock);
  expect(await second.pipeline.recover()).toBe(2);
  clock.now += 7_000;
  await second.pipeline.turn();
  expect(second.seen).toEqual([1]);
  expect(await store.counts()).toEqual({ traces: 2, spans: 4 });
  expect((await store.trace(idOf(2)))?.spans).toHaveLength(2);
  // Once all of it is stored for good, nothing is left to recover.
  clock.now += 60_000;
  await second.pipeline.turn();
  expect(await pipelineAt(clock).pipeline.recover()).toBe(0);
});

test("a sender that comes twice is told what is not used of it, and why", async () => {
  const { pipeline } = pipelineAt({ now: 1_000 });
  pipeline.offer(batch(1));
  const clock = { now: 20_000 };
  const later = pipelineAt(clock);
  later.pipeline.offer(batch(2));
  clock.now += 7_000;
  await later.pipeline.turn();
  expect(later.pipeline.offer(batch(2))).toEqual({ kind: "taken", unused: 2, why: "late" });
});

test("while nothing can be stored senders are asked to come back, and what waits is stored when it can be", async () => {
  let isFull = true;
  const failing: TraceStore = new Proxy(store, {
    get: (target, name) => {
      if (name === "append" && isFull)
        return () => Promise.reject(new CodedError(failure("store.io", "the disk is full", { retry: true })));
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const clock = { now: 1_000 };
  const { pipeline, seen, troubles } = pipelineAt(clock, failing);
  pipeline.offer(batch(1));
  clock.now += 7_000;
  await pipeline.turn();
  expect(troubles).toEqual(["store.io"]);
  expect(pipeline.offer(batch(2))).toEqual({ kind: "busy", retryAfter: 5_000 });
  clock.now += 60_000;
  await pipeline.turn();
  expect(troubles).toEqual(["store.io"]);
  isFull = false;
  await pipeline.turn();
  expect(troubles).toEqual(["store.io", null]);
  expect(seen).toEqual([1]);
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  expect(pipeline.offer(batch(2))).toMatchObject({ kind: "taken" });
});

test("an orderly end stores everything, complete or not, and leaves nothing in the journal", async () => {
  const clock = { now: 1_000 };
  const { pipeline } = pipelineAt(clock);
  pipeline.offer(batch(1));
  await pipeline.close();
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  expect(await pipelineAt(clock).pipeline.recover()).toBe(0);
});

const DAY_AND_HOUR = 25 * 3_600_000;
const later = node("shop", [1e14, 1e14 + 100], [node("cart", [1e14 + 10, 1e14 + 90])]);
const laterBatch = (trace: number) => spanColumnsOf(spansOf(later, { trace }), new NameTable());

test("spans that came just before the clock was set back are stored in time, and are in the journal until then", async () => {
  const clock = { now: 1e11, isSet: 0 };
  const { pipeline, seen } = pipelineAt(clock);
  expect(pipeline.offer(laterBatch(1))).toMatchObject({ kind: "taken", unused: 0 });
  clock.isSet = -DAY_AND_HOUR;
  expect(pipeline.offer(batch(2))).toMatchObject({ kind: "taken", unused: 0 });
  for (let second = 0; second < 60; second++) {
    clock.now += 1_000;
    await pipeline.turn();
  }
  expect(seen.reduce((sum, size) => sum + size, 0)).toBe(2);
  expect(await store.counts()).toEqual({ traces: 2, spans: 4 });
});

test("spans that came just before the clock was set back return after a kill", async () => {
  const clock = { now: 1e11, isSet: 0 };
  const { pipeline } = pipelineAt(clock);
  expect(pipeline.offer(laterBatch(1))).toMatchObject({ kind: "taken", unused: 0 });
  clock.isSet = -DAY_AND_HOUR;
  // Killed here. By the clock of the next process they are of tomorrow, and they were acknowledged.
  const next = pipelineAt(clock);
  expect(await next.pipeline.recover()).toBe(2);
  clock.now += 7_000;
  await next.pipeline.turn();
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
});
