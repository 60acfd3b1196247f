import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { spanIdOf, traceIdOf } from "../../../test/fixtures/traces/span-tree.ts";
import { NameTable, type Span, TraceBlock, type TraceStore } from "../../observe/telemetry/index.ts";
import { openDuckdbStore } from "./duckdb.ts";
import { openTraceStore } from "./trace-store.ts";

let folder: string;
let store: TraceStore;
const path = () => join(folder, "traces.duckdb");

beforeEach(async () => {
  folder = temporaryFolder("traces");
  store = await openTraceStore({ path: path() });
});
afterEach(async () => {
  await store.close();
});

interface Row extends Partial<Span> {
  readonly service: string;
  readonly parent: number;
  readonly at: readonly [number, number];
  /** On the critical path for so long; off it where not given. */
  readonly critical?: number;
}

/** Traces as an assembler would have left them: the root first, parents before children. */
function analysed(
  traces: readonly { readonly trace: number; readonly rows: readonly Row[] }[],
  names = new NameTable(),
) {
  const block = new TraceBlock(names, 4);
  const critical: number[] = [];
  for (const { trace, rows } of traces) {
    block.reserve(rows.length);
    rows.forEach(({ parent, at, critical: us, ...more }, place) => {
      const row = block.spans.length;
      block.spans.addSpan({
        traceId: traceIdOf(trace),
        spanId: spanIdOf(place + 1),
        ...(parent < 0 ? {} : { parentId: spanIdOf(parent + 1) }),
        instance: `${more.service}-0`,
        operation: "op",
        kind: "server",
        status: "unset",
        startUs: at[0],
        endUs: at[1],
        ...more,
      });
      block.parent[row] = parent;
      block.flags[row] = 0;
      block.skewUs[row] = 0;
      critical.push(us ?? -1);
    });
    block.endTrace("settled");
  }
  return { block, criticalUs: Float64Array.from(critical) };
}

const shop = (trace: number, start: number, more: Partial<Row> = {}): { trace: number; rows: Row[] } => ({
  trace,
  rows: [
    {
      service: "frontend",
      parent: -1,
      at: [start, start + 100],
      critical: 40,
      operation: "GET /",
      attributes: { route: "/" },
    },
    { service: "frontend", parent: 0, at: [start + 10, start + 70], kind: "client", critical: 0 },
    {
      service: "cart",
      parent: 1,
      at: [start + 10, start + 70],
      critical: 60,
      attributes: { user: 7, vip: true },
      ...more,
    },
    {
      service: "redis",
      parent: 0,
      at: [start + 20, start + 30],
      links: [{ traceId: traceIdOf(77), spanId: spanIdOf(5) }],
    },
  ],
});

describe("a stored trace", () => {
  test("comes back with its times, names, attributes, links, and its critical path", async () => {
    await store.append(analysed([shop(1, 1_000), shop(2, 5_000)]));
    const trace = await store.trace(traceIdOf(2));
    expect(trace).toMatchObject({
      traceId: traceIdOf(2),
      service: "frontend",
      operation: "GET /",
      startUs: 5_000,
      durationUs: 100,
      spanCount: 4,
      errors: 0,
      sealedBy: "settled",
    });
    expect(trace?.spans.map(({ parent, criticalUs, service }) => [service, parent, criticalUs])).toEqual([
      ["frontend", -1, 40],
      ["frontend", 0, 0],
      ["cart", 1, 60],
      ["redis", 0, null],
    ]);
    expect(trace?.spans[2]).toEqual({
      traceId: traceIdOf(2),
      spanId: spanIdOf(3),
      parentId: spanIdOf(2),
      service: "cart",
      instance: "cart-0",
      operation: "op",
      kind: "server",
      status: "unset",
      startUs: 5_010,
      endUs: 5_070,
      attributes: { user: 7, vip: true },
      parent: 1,
      criticalUs: 60,
      skewUs: 0,
      isOrphan: false,
    });
    expect(trace?.spans[0]?.attributes).toEqual({ route: "/" });
    expect(trace?.spans[3]?.links).toEqual([{ traceId: traceIdOf(77), spanId: spanIdOf(5) }]);
    expect(await store.trace(traceIdOf(99))).toBeNull();
  });

  test("keeps ids with their first bit set", async () => {
    const rows: Row[] = [{ service: "a", parent: -1, at: [0, 1], spanId: "ffeeddccbbaa9988" }];
    await store.append(analysed([{ trace: 3, rows }]));
    expect((await store.trace(traceIdOf(3)))?.spans[0]?.spanId).toBe("ffeeddccbbaa9988");
  });

  test("is there after the file was closed and opened, and names keep their meaning with another table", async () => {
    await store.append(analysed([shop(1, 0)]));
    await store.close();
    store = await openTraceStore({ path: path() });
    const other = new NameTable();
    for (const name of ["zebra", "redis", "op"]) other.intern(name);
    await store.append(analysed([shop(2, 100)], other));
    for (const id of [1, 2]) {
      const spans = (await store.trace(traceIdOf(id)))?.spans ?? [];
      expect(spans.map(({ service, instance }) => `${service} ${instance}`)).toEqual([
        "frontend frontend-0",
        "frontend frontend-0",
        "cart cart-0",
        "redis redis-0",
      ]);
    }
    expect(await store.counts()).toEqual({ traces: 2, spans: 8 });
  });

  test("of which a part came late is given as the larger part", async () => {
    await store.append(analysed([shop(1, 0)]));
    await store.append(analysed([{ trace: 1, rows: [{ service: "late", parent: -1, at: [1, 2] }] }]));
    expect((await store.trace(traceIdOf(1)))?.spanCount).toBe(4);
  });
});

describe("traces are found", () => {
  beforeEach(async () => {
    await store.append(
      analysed([
        shop(1, 0),
        shop(2, 1_000),
        { trace: 3, rows: [{ service: "jobs", parent: -1, at: [500, 900], operation: "nightly", status: "error" }] },
      ]),
    );
  });

  const ids = async (query: Parameters<TraceStore["find"]>[0]) =>
    (await store.find(query)).map(({ traceId }) => Number.parseInt(traceId, 16));

  test("by service, operation, time and duration, newest or slowest first", async () => {
    expect(await ids({})).toEqual([2, 3, 1]);
    expect(await ids({ order: "slowest" })).toEqual([3, 2, 1]);
    expect(await ids({ service: "redis" })).toEqual([2, 1]);
    expect(await ids({ service: "nobody" })).toEqual([]);
    expect(await ids({ operation: "nightly" })).toEqual([3]);
    expect(await ids({ fromUs: 500, toUs: 1_000 })).toEqual([3]);
    expect(await ids({ minDurationUs: 101 })).toEqual([3]);
    expect(await ids({ limit: 1 })).toEqual([2]);
    expect(await ids({ service: "'; DROP TABLE spans; --" })).toEqual([]);
  });

  test("of many ids, those that are stored", async () => {
    const stored = await store.stored([traceIdOf(1), traceIdOf(99)]);
    expect([...stored]).toEqual([traceIdOf(1)]);
    expect(await store.stored([])).toEqual(new Set());
  });

  test("with their errors counted", async () => {
    expect((await store.find({ operation: "nightly" }))[0]).toMatchObject({ errors: 1, spanCount: 1 });
  });
});

describe("the service dependency graph", () => {
  test("has an edge for every pair that calls, with how often, how long, and how often it was critical", async () => {
    await store.append(
      analysed([shop(1, 0), shop(2, 1_000, { status: "error" }), shop(3, 2_000, { instance: "cart-1" })]),
    );
    expect(await store.serviceGraph()).toEqual([
      { caller: "frontend", callee: "cart", calls: 3, errors: 1, meanUs: 60, p99Us: 60, criticalCalls: 3 },
      { caller: "frontend", callee: "redis", calls: 3, errors: 0, meanUs: 10, p99Us: 10, criticalCalls: 0 },
    ]);
    const instances = await store.serviceGraph({ vertices: "instances" });
    expect(instances.map(({ caller, callee, calls }) => `${caller} ${callee} ${calls}`)).toEqual([
      "frontend-0 redis-0 3",
      "frontend-0 cart-0 2",
      "frontend-0 cart-1 1",
    ]);
    expect(await store.serviceGraph({ fromUs: 1_000, toUs: 2_000 })).toHaveLength(2);
    expect(await store.serviceGraph({ fromUs: 10_000 })).toEqual([]);
  });
});

test("the execution history of a trace can be asked for in SQL", async () => {
  await store.append(analysed([shop(1, 1_000)]));
  await store.close();
  const instance = await DuckDBInstance.create(path());
  const connection = await instance.connect();
  const found = await connection.runAndReadAll(
    "SELECT kind, place, callee, from_us FROM execution_history WHERE trace = 0 AND kind <> 'compute' ORDER BY from_us, place, kind",
  );
  connection.closeSync();
  instance.closeSync();
  store = await openTraceStore({ path: path() });
  expect(found.getRowsJS().map((row) => row.join(" "))).toEqual([
    "recv_req 0  1000",
    "send_req 0 1 1010",
    "recv_req 1  1010",
    "send_req 1 2 1010",
    "recv_req 2  1010",
    "send_req 0 3 1020",
    "recv_req 3  1020",
  ]);
});

describe("what is kept", () => {
  test("is what began since the time that is asked to forget", async () => {
    await store.append(analysed([shop(1, 0), shop(2, 1_000), shop(3, 2_000)]));
    expect(await store.forget(1_500)).toBe(2);
    expect(await store.counts()).toEqual({ traces: 1, spans: 4 });
    expect(await store.trace(traceIdOf(1))).toBeNull();
  });

  test("is at most the bound: the oldest traces go first", async () => {
    await store.close();
    store = await openTraceStore({ path: path(), maxSpans: 20 });
    for (let trace = 1; trace <= 6; trace++) await store.append(analysed([shop(trace, trace * 1_000)]));
    // The sixth made 24: down to at most 19, so two go.
    expect(await store.counts()).toEqual({ traces: 4, spans: 16 });
    expect((await store.find({})).map(({ startUs }) => startUs)).toEqual([6_000, 5_000, 4_000, 3_000]);
  });
});

test("a file of trajectories is not taken for one of traces, nor the other way round", async () => {
  const other = join(folder, "trajectories.duckdb");
  const trajectories = await openDuckdbStore({ path: other });
  await trajectories.close();
  await expect(openTraceStore({ path: other })).rejects.toMatchObject({ code: "store.schema" });
  await store.close();
  await expect(openDuckdbStore({ path: path() })).rejects.toMatchObject({ code: "store.schema" });
  store = await openTraceStore({ path: path() });
  await expect(openTraceStore({ path: path() })).rejects.toMatchObject({ code: "store.locked" });
});

test("a closed store says so", async () => {
  await store.close();
  await expect(store.counts()).rejects.toMatchObject({ code: "store.closed" });
  await expect(store.append(analysed([]))).rejects.toMatchObject({ code: "store.closed" });
});
