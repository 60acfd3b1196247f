import { expect, test } from "vitest";
import { agent, decision, event, START, sample, samples, workload } from "../../../test/fixtures/server/fake-plane.ts";
import type { PlaneUpdate, SeriesDocument } from "../../contract/index.ts";
import { createReadModel, type ReadModel } from "./read-model.ts";
import type { SpanQuery } from "./series.ts";

const limits = { things: 2, knobsPerWorkload: 3, pointsPerTier: 16, decisionsPerWorkload: 3, eventsPerSeverity: 2 };

test("a workload's document carries its newest measurement beside what the plane said about it", () => {
  const model = createReadModel();
  model.apply([workload("cart"), samples(START + 5, ["cart"], { load: 7 })]);
  model.apply([workload("cart", 2)]);
  expect(model.workload("cart")).toMatchObject({ revision: 2, now: { load: 7 }, twin: { now: { latency: 60 } } });
  expect(model.timeOf(["pods"])).toBe(START + 5);
});

test("each task has its own time, whichever clock is ahead", () => {
  const model = createReadModel();
  const geo = workload("geo", 1, { task: "mitigation" });
  model.apply([workload("cart"), geo, samples(START + 900_000, ["cart"]), samples(START + 1_000, ["geo"])]);
  expect(model.timeOf(["pods"])).toBe(START + 900_000);
  expect(model.timeOf(["mitigation"])).toBe(START + 1_000);
  expect(model.timeOf(["drain"])).toBeNull();
  model.apply([samples(START + 2_000, ["geo"])]);
  expect(model.refused).toBe(0);
  expect(model.workload("geo")?.now?.at).toBe(START + 2_000);
  expect(model.timeOf(["pods"])).toBe(START + 900_000);
  // Steps of a second and steps of a quarter of a minute are not added up.
  expect(model.metrics()).toMatchObject([
    { task: "pods", at: START + 900_000, workloads: 1, learned: { steps: 10 } },
    { task: "mitigation", at: START + 2_000, workloads: 1, learned: { steps: 10 } },
  ]);
});

test("that what spans tell has changed goes to the stream as it is", () => {
  const changed = { kind: "services", at: START } as const;
  expect(createReadModel().apply([changed])).toEqual([changed]);
});

test("what does not fit is refused and counted: unknown workloads, old samples, more things than allowed", () => {
  const model = createReadModel(limits);
  model.apply([workload("a"), workload("b"), workload("c"), agent("x"), agent("y"), agent("z")]);
  expect(model.workloads().map(({ id }) => id)).toEqual(["a", "b"]);
  expect(model.agents().map(({ id }) => id)).toEqual(["x", "y"]);
  expect(model.refused).toBe(2);
  model.apply([samples(START, ["a", "c"])]);
  model.apply([samples(START, ["a"]), decision("c")]);
  expect(model.refused).toBe(5);
});

test("the stream gets only what was taken in, with ids", () => {
  const model = createReadModel();
  const passed = model.apply([workload("a"), samples(START, ["a", "b"]), decision("a"), decision("b"), event("hello")]);
  expect(passed.map(({ kind }) => kind)).toEqual(["workload", "samples", "decision", "event"]);
  expect(passed[1]).toMatchObject({ samples: [{ workload: "a" }] });
  expect(passed[2]).toMatchObject({ decision: { id: 1 } });
  expect(passed[3]).toMatchObject({ event: { id: 1, text: "hello" } });
});

test("decisions of a busy workload do not push out those of a quiet one, and pages meet without gap or overlap", () => {
  const model = createReadModel(limits);
  model.apply([workload("a"), workload("b"), decision("b", { at: 1 })]);
  for (let index = 0; index < 10; index += 1) model.apply([decision("a")]);
  // Ids: b has 1, a has 2…11 of which the newest three remain.
  const first = model.decisions({ before: null, limit: 2 });
  expect(first.items.map(({ id }) => id)).toEqual([11, 10]);
  expect(first.next).toBe("10");
  const second = model.decisions({ before: 10, limit: 2 });
  expect(second.items.map(({ id }) => id)).toEqual([9, 1]);
  expect(second.next).toBeNull();
  expect(model.decisions({ workload: "b", before: null, limit: 5 }).items.map(({ id }) => id)).toEqual([1]);
  expect(model.decisions({ agent: "b-agent", before: null, limit: 5 }).items.map(({ id }) => id)).toEqual([1]);
  expect(model.decisions({ workload: "nobody", before: null, limit: 5 })).toEqual({ items: [], next: null });
});

test("a flood of small events keeps the serious ones in memory", () => {
  const model = createReadModel(limits);
  model.apply([event("fire", { severity: "error", workload: "a" })]);
  for (let index = 0; index < 50; index += 1) model.apply([event(`note ${index}`)]);
  const texts = (query: Parameters<typeof model.events>[0]) => model.events(query).items.map(({ text }) => text);
  expect(texts({ before: null, limit: 10 })).toEqual(["note 49", "note 48", "fire"]);
  expect(texts({ severity: "warning", before: null, limit: 10 })).toEqual(["fire"]);
  expect(texts({ workload: "a", before: null, limit: 10 })).toEqual(["fire"]);
});

test("the figures are ratios of sums over all workloads", () => {
  const model = createReadModel();
  model.apply([workload("a"), workload("b"), agent("a-agent"), agent("b-agent", { stage: "SERVING", isPaused: true })]);
  expect(model.metrics()[0]?.learned).toEqual({
    steps: 0,
    attainment: null,
    utilisation: {},
    cost: 0,
  });
  model.apply([samples(START, ["a", "b"])]);
  expect(model.metrics()[0]).toMatchObject({
    workloads: 2,
    agentsByStage: { INITIALIZED: 0, OFFLINE: 1, ONLINE: 0, SERVING: 1 },
    agentsPaused: 1,
    learned: { steps: 20, attainment: 0.9, utilisation: { cpu: 0.6, memory: 0.3 }, cost: 4 },
    twin: { steps: 20, attainment: 0.6, cost: 6 },
  });
});

/** As a reader of the API has it. */
function seriesOf(model: ReadModel, query: SpanQuery): SeriesDocument {
  return JSON.parse(model.tellSeries("a", query) ?? "null") as SeriesDocument;
}

test("a series that fits is given point by point, with null where nothing was measured", () => {
  const model = createReadModel();
  model.apply([workload("a"), samples(START, ["a"], { latency: null }), samples(START + 10, ["a"], { latency: 5 })]);
  const series = seriesOf(model, { from: null, to: null, points: 10 });
  expect(series.at).toEqual([START, START + 10]);
  expect(series.workload).toBe("a");
  expect(series.columns.latency).toEqual([null, 5]);
  expect(series.twin?.latency).toEqual([60, 60]);
  expect(model.tellSeries("b", { from: null, to: null, points: 10 })).toBeUndefined();
});

type Knobs = (PlaneUpdate & { kind: "workload" })["workload"]["knobs"];
const knobs = (...names: string[]): Knobs => names.map((name) => ({ name, title: name, unit: "" }));

function workloadWith(id: string, own: Knobs): PlaneUpdate {
  const usual = workload(id);
  if (usual.kind !== "workload") throw new Error("a workload is a workload");
  return { kind: "workload", workload: { ...usual.workload, knobs: own } };
}

test("a series has a column for every knob of its workload, and for the use of those that are measured", () => {
  const model = createReadModel();
  model.apply([workloadWith("a", knobs("rate", "llc"))]);
  const query = { from: null, to: null, points: 10 };
  const fixed = ["load", "latency", "expected", "preservation", "reward", "cost"];
  expect(Object.keys(seriesOf(model, query).columns)).toEqual([...fixed, "rate", "llc"]);
  const measured = { have: { rate: 1.5, llc: 8 }, use: { llc: 4, unknown: 1 } };
  model.apply([samples(START, ["a"], measured), samples(START + 1, ["a"], { ...measured, use: { llc: null } })]);
  const { columns } = seriesOf(model, query);
  expect(Object.keys(columns)).toEqual([...fixed, "rate", "llc", "llcUse"]);
  expect([columns.rate, columns.llc, columns.llcUse]).toEqual([
    [1.5, 1.5],
    [8, 8],
    [4, null],
  ]);
});

test("workloads with more knobs than there is room for are refused and counted, and those whose columns share a name", () => {
  const model = createReadModel(limits);
  model.apply([workloadWith("a", knobs("b", "c", "d", "e")), workloadWith("a", knobs("cost"))]);
  model.apply([workloadWith("a", knobs("b", "bUse"))]);
  expect([model.workloads(), model.refused]).toEqual([[], 3]);
});

test("numbers are told with few decimals, and a promise that was just missed stays missed", () => {
  const model = createReadModel();
  const precise = { latency: 12.3456789, preservation: 0.99999, cost: 0.000123456789 };
  model.apply([workload("a"), samples(START, ["a"], precise)]);
  const { latency, preservation, cost } = seriesOf(model, { from: null, to: null, points: 10 }).columns;
  expect({ latency, preservation, cost }).toEqual({ latency: [12.346], preservation: [0.9999], cost: [0.00012346] });
});

const worn = (count: number, pointsPerTier = limits.pointsPerTier) => {
  const model = createReadModel({ ...limits, pointsPerTier });
  model.apply([workload("a")]);
  for (let step = 0; step < count; step += 1) grow(model, step);
  return model;
};

function grow(model: ReadModel, step: number): void {
  const measured = sample(step, {
    load: step,
    latency: step === 3 ? 999 : 1,
    preservation: step === 5 ? 0.1 : 1,
    expected: step === 2 ? 7 : null,
  });
  const { account } = model.workloads()[0]!;
  const entry = { workload: "a", sample: measured, twin: null, account, twinAccount: null, budget: null };
  model.apply([{ kind: "samples", at: step, samples: [entry] }]);
}

test("thinning keeps the worst latency and preservation and the mean of the load, at the time of the last step", () => {
  const series = seriesOf(worn(16), { from: null, to: null, points: 2 });
  // Steps 0…7 and 8…15.
  expect(series.at).toEqual([7, 15]);
  expect(series.columns.load).toEqual([3.5, 11.5]);
  expect(series.columns.latency).toEqual([999, 1]);
  expect(series.columns.preservation).toEqual([0.1, 1]);
  expect(series.columns.expected).toEqual([7, null]);
  expect(series.twin).toBeNull();
});

test("what is long ago is kept coarser, and the end is never missing", () => {
  const model = worn(100);
  // The raw ring holds 84…99; 12 points of eight steps reach to 95, and the four that remain make the last point.
  const whole = seriesOf(model, { from: null, to: null, points: 100 });
  expect(whole.at).toEqual([7, 15, 23, 31, 39, 47, 55, 63, 71, 79, 87, 95, 99]);
  expect(whole.columns.load.at(-1)).toBe((96 + 97 + 98 + 99) / 4);
  expect(whole.columns.latency[0]).toBe(999);
  const recent = seriesOf(model, { from: 90, to: 97, points: 100 });
  expect(recent.at).toEqual([90, 91, 92, 93, 94, 95, 96, 97]);
});

test("points that were read once stay where they were when the series grows", () => {
  const before = seriesOf(worn(64), { from: 48, to: null, points: 5 });
  const after = seriesOf(worn(66), { from: 50, to: null, points: 5 });
  const shared = before.at.slice(1);
  expect(shared.length).toBeGreaterThan(1);
  expect(after.at).toEqual(expect.arrayContaining(shared));
});

test("a series that is read while it grows tells what one that is read for the first time does", () => {
  // So many that texts are kept of the finest tier and of thinned ones.
  const pointsPerTier = 200;
  const growing = worn(0, pointsPerTier);
  const queries: SpanQuery[] = [
    { from: null, to: null, points: 600 },
    { from: null, to: null, points: 45 },
    { from: 200, to: 900, points: 70 },
  ];
  for (let count = 1; count <= 1_000; count += 1) {
    grow(growing, count - 1);
    for (const query of queries) growing.tellSeries("a", query);
    if (count % 37 !== 0) continue;
    const fresh = worn(count, pointsPerTier);
    for (const query of queries) expect(growing.tellSeries("a", query)).toBe(fresh.tellSeries("a", query));
  }
});

test("however long it runs, a series never gives more points than asked for and its axis rises", () => {
  for (const count of [1, 15, 16, 17, 129, 1_000, 20_000]) {
    const model = worn(count);
    for (const points of [2, 3, 7, 50]) {
      const at = seriesOf(model, { from: null, to: null, points }).at;
      expect(at.length).toBeLessThanOrEqual(points);
      expect(at.at(-1)).toBe(count - 1);
      expect(at).toEqual([...at].sort((a, b) => a - b));
    }
  }
});
