import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { node, spansOf } from "../../../../test/fixtures/traces/span-tree.ts";
import { openSpanJournal } from "../../../adapters/otlp/index.ts";
import { openTraceStore } from "../../../adapters/store/index.ts";
import { CodedError, failure, type Ms, unwrap } from "../../../base/index.ts";
import { NameTable, spanColumnsOf, type TraceStore } from "../../../observe/telemetry/index.ts";
import { TraceDesk } from "./trace-desk.ts";

const request = node("shop", [0, 100], [node("cart", [10, 90])]);
const batch = (trace: number) => spanColumnsOf(spansOf(request, { trace }), new NameTable());
const idOf = (trace: number): string => spansOf(request, { trace })[0]?.traceId ?? "";

let folder: string;
let store: TraceStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "coxswain-desk-"));
  store = await openTraceStore({ path: ":memory:" });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function deskAt(clock: { now: number }, over: TraceStore = store) {
  const now = (): Ms => clock.now as Ms;
  const seen: number[] = [];
  const troubles: (string | null)[] = [];
  const desk = new TraceDesk({
    store: over,
    journal: unwrap(openSpanJournal({ folder }, now())),
    now,
    onTraces: ({ block }) => seen.push(block.size),
    onTrouble: (why) => troubles.push(why?.code ?? null),
  });
  return { desk, seen, troubles };
}

test("what was acknowledged and not stored when the process was killed is stored by the next, and nothing twice", async () => {
  const clock = { now: 1_000 };
  const first = deskAt(clock);
  expect(first.desk.offer(batch(1))).toMatchObject({ kind: "taken", unused: 0 });
  clock.now += 7_000;
  await first.desk.turn();
  expect(first.seen).toEqual([1]);
  expect(first.desk.offer(batch(2))).toMatchObject({ kind: "taken" });
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  // Killed here: the first trace is in the store and in the journal, the second in the journal alone.
  const second = deskAt(clock);
  expect(await second.desk.recover()).toBe(2);
  clock.now += 7_000;
  await second.desk.turn();
  expect(second.seen).toEqual([1]);
  expect(await store.counts()).toEqual({ traces: 2, spans: 4 });
  expect((await store.trace(idOf(2)))?.spans).toHaveLength(2);
  // Once all of it is stored for good, nothing is left to recover.
  clock.now += 60_000;
  await second.desk.turn();
  expect(await deskAt(clock).desk.recover()).toBe(0);
});

test("a sender that comes twice is told what is not used of it, and why", async () => {
  const { desk } = deskAt({ now: 1_000 });
  desk.offer(batch(1));
  const clock = { now: 20_000 };
  const later = deskAt(clock);
  later.desk.offer(batch(2));
  clock.now += 7_000;
  await later.desk.turn();
  expect(later.desk.offer(batch(2))).toEqual({ kind: "taken", unused: 2, why: "late" });
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
  const { desk, seen, troubles } = deskAt(clock, failing);
  desk.offer(batch(1));
  clock.now += 7_000;
  await desk.turn();
  expect(troubles).toEqual(["store.io"]);
  expect(desk.offer(batch(2))).toEqual({ kind: "busy", retryAfter: 5_000 });
  clock.now += 60_000;
  await desk.turn();
  expect(troubles).toEqual(["store.io"]);
  isFull = false;
  await desk.turn();
  expect(troubles).toEqual(["store.io", null]);
  expect(seen).toEqual([1]);
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  expect(desk.offer(batch(2))).toMatchObject({ kind: "taken" });
});

test("an orderly end stores everything, complete or not, and leaves nothing in the journal", async () => {
  const clock = { now: 1_000 };
  const { desk } = deskAt(clock);
  desk.offer(batch(1));
  await desk.close();
  expect(await store.counts()).toEqual({ traces: 1, spans: 2 });
  expect(await deskAt(clock).desk.recover()).toBe(0);
});
