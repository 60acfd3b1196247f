import { afterEach, expect, test } from "vitest";
import { type Exchange, replay } from "../../../test/fixtures/http/replay-server.ts";
import { AUTH, exchangesOf } from "../../../test/fixtures/openwhisk/exchanges.ts";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import { type OpenWhiskOptions, openWhisk } from "./index.ts";
import { actionPath, workloadOf } from "./names.ts";

const { signal } = new AbortController();
const START = 1_700_000_000_000;
const from = { since: milliseconds(START), seen: [] };
const id = (digit: number) => String(digit).repeat(32);
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function against(exchanges: readonly Exchange[], options: Partial<OpenWhiskOptions> = {}) {
  const server = await replay(exchanges);
  closing.push(server.close);
  const usual = { url: server.url, auth: AUTH, invokerMemory: 4_096, hasScheduler: true };
  return { server, ...unwrap(openWhisk({ ...usual, ...options })) };
}

test("records are read page by page, once each, in the order of their ends", async () => {
  // While pages are read one more comes in, so that the last of the first page is the first of the second.
  const { server, records } = await against(exchangesOf("activation-pages"), { pageSize: 2 });
  const batch = unwrap(await records.activations(from, signal));
  const common = { memory: 256, concurrency: 1 };
  expect(batch.records).toEqual([
    // Began at 1,000 after 5 ms of waiting, and ran out of memory 900 ms later.
    {
      ...common,
      id: id(2),
      workload: "hello",
      arrivedAt: START + 995,
      outcome: "killed",
      waiting: 5,
      coldStart: 0,
      execution: 900,
    },
    // Of its 1,200 ms the first 700 were its initialisation. Its own error is an answer.
    {
      ...common,
      id: id(3),
      workload: "images.resize",
      memory: 512,
      arrivedAt: START + 2_550,
      outcome: "completed",
      waiting: 450,
      coldStart: 700,
      execution: 500,
    },
    {
      ...common,
      id: id(4),
      workload: "hello",
      arrivedAt: START + 4_980,
      outcome: "completed",
      waiting: 20,
      coldStart: 0,
      execution: 300,
    },
  ]);
  // The sequence ran in no container, but need not be looked at again.
  expect(batch).toMatchObject({ isComplete: true, malformed: 0 });
  expect(batch.cursor).toEqual({ since: START, seen: [id(4), id(3), id(2), id(1)] });
  expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
});

test("a record that comes late is handed out, and those that were there before are not", async () => {
  const { server, records } = await against(exchangesOf("activations-later"), { lookBack: seconds(60) });
  const seen = [id(4), id(3), id(2), id(1)];
  const batch = unwrap(await records.activations({ since: milliseconds(START), seen }, signal));
  // The first began at 5,200, when others had been read already, and ended at 69,000; the other hit its time limit.
  expect(batch.records.map((record) => [record.id, record.outcome])).toEqual([
    [id(5), "completed"],
    [id(6), "dropped"],
  ]);
  // The newest began at 70,000: a minute back is 10,000, and only one of them began later.
  expect(batch.cursor).toEqual({ since: START + 10_000, seen: [id(6)] });
  expect(server.surprises).toEqual([]);
});

test("records that cannot be read are counted, and those of other namespaces left out", async () => {
  const { records } = await against(exchangesOf("activations-odd"));
  const batch = unwrap(await records.activations(from, signal));
  // One without a time, one without limits, one that is no object; and an action of a package bound from elsewhere.
  expect([batch.records.map((record) => record.id), batch.malformed]).toEqual([[id(4)], 3]);
});

test("beyond the most records it stops and says so", async () => {
  const [first] = exchangesOf("activation-pages");
  const { server, records } = await against([first as Exchange], { pageSize: 2, mostRecords: 2 });
  const batch = unwrap(await records.activations(from, signal));
  expect([batch.records.length, batch.isComplete, server.surprises]).toEqual([2, false, []]);
});

test("pages that are too large are asked for again with half as many records", async () => {
  const [first] = exchangesOf("activation-pages") as [Exchange];
  const [newest, older] = JSON.parse(first.response.body ?? "") as [unknown, unknown];
  const page = (limit: number, skip: number, body: string): Exchange => ({
    request: { ...first.request, query: { ...first.request.query, limit: String(limit), skip: String(skip) } },
    response: { status: 200, body },
  });
  const big = JSON.stringify("x".repeat(3_000));
  const { server, records } = await against(
    [page(2, 0, big), page(1, 0, JSON.stringify([newest])), page(1, 1, JSON.stringify([older])), page(1, 2, "[]")],
    { pageSize: 2, mostBodyBytes: 2_000 },
  );
  const batch = unwrap(await records.activations(from, signal));
  expect(batch.records.map((record) => record.id)).toEqual([id(3), id(4)]);
  expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
});

test("one record that is too large by itself ends the reading with a code", async () => {
  const [, , third] = exchangesOf("activation-pages") as [Exchange, Exchange, Exchange];
  const query = { ...third.request.query, limit: "1", skip: "0" };
  const big = {
    request: { ...third.request, query },
    response: { status: 200, body: JSON.stringify("x".repeat(3_000)) },
  };
  const { records } = await against([big], { pageSize: 1, mostBodyBytes: 2_000 });
  const batch = await records.activations(from, signal);
  expect(batch).toMatchObject({ ok: false, failure: { code: "functions.platform.too-large" } });
});

test("a list that is none is malformed", async () => {
  const [later] = exchangesOf("activations-later") as [Exchange];
  const { records } = await against([{ ...later, response: { status: 200, body: '{"activations":[]}' } }]);
  const batch = await records.activations(from, signal);
  expect(batch).toMatchObject({ ok: false, failure: { code: "functions.platform.malformed" } });
});

test("functions are listed, without sequences and names that ids cannot carry", async () => {
  const { server, records } = await against(exchangesOf("actions"), { pageSize: 3 });
  expect(unwrap(await records.functions(signal))).toEqual({
    functions: [
      { workload: "hello", runtime: "nodejs:20", memory: 256 },
      { workload: "images.resize", runtime: "python:3", memory: 512 },
    ],
    leftOut: ["album", "report v1.2"],
  });
  expect({ surprises: server.surprises, left: server.left() }).toEqual({ surprises: [], left: 0 });
});

test("names and ids lead to each other, and what is ambiguous has no id", () => {
  const path = (text: string) => actionPath(unwrap(parseWorkloadId(text)));
  expect([path("hello"), path("images.resize"), path("a.b.c")]).toEqual(["hello", "images/resize", undefined]);
  expect(workloadOf(["hello"])).toBe("hello");
  expect(workloadOf(["images", "resize"])).toBe("images.resize");
  for (const parts of [["v1.2"], ["images", "v1.2"], ["a", "b", "c"], ["with blank"], ["at@home"], [""], []])
    expect(workloadOf(parts)).toBeUndefined();
});
