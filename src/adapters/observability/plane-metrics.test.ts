import { describe, expect, test } from "vitest";
import { readPage } from "../../../test/fixtures/observability/page.ts";
import {
  agent,
  canary,
  decisionOf,
  eventOf,
  everything,
  guard,
  lifecycle,
  loop,
  samplesOf,
  service,
  shield,
  step,
  sums,
  workload,
} from "../../../test/fixtures/observability/updates.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { catalog, PlaneMetrics } from "./index.ts";

async function pageOf(updates: readonly PlaneUpdate[], options: { mostListed?: number } = {}) {
  const metrics = new PlaneMetrics({ withProcess: false, ...options });
  metrics.take(updates);
  return readPage(await metrics.text());
}

const valuesOf = (page: Awaited<ReturnType<typeof pageOf>>, name: string) =>
  Object.fromEntries([...page.values].filter(([id]) => id === name || id.startsWith(`${name}{`)));

describe("the page", () => {
  test("has help, type and a value for every metric of the catalog, and no other metric", async () => {
    const metrics = new PlaneMetrics({ withProcess: false });
    metrics.take(everything);
    metrics.answered({ method: "GET", route: "/v1/overview", status: 200, ms: 1 });
    const page = readPage(await metrics.text());
    const specs = Object.values(catalog);
    expect([...page.names].sort()).toEqual(specs.map(({ name }) => name).sort());
    expect(Object.fromEntries(page.types)).toEqual(Object.fromEntries(specs.map(({ name, type }) => [name, type])));
    expect(Object.fromEntries(page.helps)).toEqual(Object.fromEntries(specs.map(({ name, help }) => [name, help])));
  });

  test("names what only grows _total, and nothing else", () => {
    for (const { name, type } of Object.values(catalog))
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
  });

  test("can be read before anything has happened", async () => {
    const page = await pageOf([]);
    expect(page.values.get("coxswain_tick_duration_seconds_count")).toBe(0);
    expect(page.names.has(catalog.preservation.name)).toBe(false);
  });

  test("shows this process beside the plane when asked to", async () => {
    const text = await new PlaneMetrics().text();
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });

  test("is the same when two ask at once", async () => {
    const metrics = new PlaneMetrics({ withProcess: false });
    metrics.take(everything);
    const [one, other] = await Promise.all([metrics.text(), metrics.text()]);
    expect(other).toBe(one);
    expect(readPage(one).values.get('coxswain_workload_slo_violations_total{workload="shop",run="own"}')).toBe(3);
  });
});

describe("a workload", () => {
  test("is shown in base units, its twin beside it", async () => {
    const page = await pageOf([workload, samplesOf("shop")]);
    const own = '{workload="shop",run="own"}';
    const twin = '{workload="shop",run="twin"}';
    expect(valuesOf(page, "coxswain_workload_latency_seconds")).toEqual({
      [`coxswain_workload_latency_seconds${own}`]: 0.25,
      [`coxswain_workload_latency_seconds${twin}`]: 0.25,
    });
    expect(page.values.get(`coxswain_workload_cpu_limit_cores${own}`)).toBe(1.5);
    expect(page.values.get(`coxswain_workload_cpu_limit_cores${twin}`)).toBe(2);
    expect(page.values.get(`coxswain_workload_memory_limit_bytes${twin}`)).toBe(2 ** 29);
    expect(page.values.get(`coxswain_workload_cost_dollars_total${own}`)).toBe(1.25);
    expect(page.values.get(`coxswain_workload_cost_dollars_total${twin}`)).toBe(2.5);
    expect(page.values.get(`coxswain_workload_slo_violations_total${twin}`)).toBe(7);
    expect(page.values.get(`coxswain_workload_cpu_granted_core_seconds_total${own}`)).toBe(20);
  });

  test("with knobs of another task shows them by name, in their own units", async () => {
    const page = await pageOf(service);
    expect(valuesOf(page, "coxswain_workload_knob")).toEqual({
      'coxswain_workload_knob{workload="geo",run="own",knob="replicas"}': 2,
      'coxswain_workload_knob{workload="geo",run="own",knob="memory"}': 750,
    });
    expect([...page.values.keys()].filter((id) => id.startsWith("coxswain_workload_memory_limit"))).toEqual([]);
  });

  test("has no latency on the page while none is measured, rather than the last one", async () => {
    const metrics = new PlaneMetrics({ withProcess: false });
    metrics.take([samplesOf("shop")]);
    await metrics.text();
    metrics.take([samplesOf("shop", { sample: { ...step, latency: null } })]);
    const page = readPage(await metrics.text());
    expect([...page.values.keys()]).not.toContain('coxswain_workload_latency_seconds{workload="shop",run="own"}');
    expect([...page.values.keys()]).toContain('coxswain_workload_load_requests_per_second{workload="shop",run="own"}');
  });

  test("without a twin has no twin's series", async () => {
    const page = await pageOf([samplesOf("shop", { twin: null, twinAccount: null })]);
    expect([...page.values.keys()].filter((id) => id.includes("twin"))).toEqual([]);
  });

  test("shows its SLO's latency and that it is in trouble, until it is not", async () => {
    const target = 'coxswain_workload_slo_latency_target_seconds{workload="shop"}';
    const trouble = 'coxswain_workload_in_trouble{workload="shop"}';
    const page = await pageOf([workload]);
    expect([page.values.get(target), page.values.get(trouble)]).toEqual([0.3, 1]);
    const later = { ...workload.workload, slo: { kind: "none" as const }, trouble: null };
    const calm = await pageOf([workload, { kind: "workload", workload: later }]);
    expect([calm.values.get(target), calm.values.get(trouble)]).toEqual([undefined, 0]);
  });

  test("shows what is left of its error budget and how fast it goes, where it has one", async () => {
    const page = await pageOf([samplesOf("shop"), samplesOf("geo", { budget: null })]);
    expect(valuesOf(page, "coxswain_workload_budget_left_ratio")).toEqual({
      'coxswain_workload_budget_left_ratio{workload="shop"}': 0.75,
    });
    expect(valuesOf(page, "coxswain_workload_budget_burn")).toEqual({
      'coxswain_workload_budget_burn{workload="shop",window="short"}': 2.5,
      'coxswain_workload_budget_burn{workload="shop",window="long"}': 1.25,
    });
  });

  test("beyond the room of the page is counted and not shown", async () => {
    const many = ["a", "b", "c", "d"].map((id) => samplesOf(id, { account: { ...sums, steps: 1 } }));
    const page = await pageOf([...many, ...many], { mostListed: 2 });
    expect(Object.keys(valuesOf(page, "coxswain_workload_steps_total"))).toHaveLength(4);
    expect(page.values.get('coxswain_metrics_unlisted{of="workload"}')).toBe(2);
  });

  test("with quotes, backslashes and line ends in its name cannot break the page", async () => {
    const id = 'a"b\\c\nd';
    const page = await pageOf([{ kind: "workload", workload: { ...workload.workload, id } }, samplesOf(id)]);
    expect(page.values.get('coxswain_workload_replicas{workload="a\\"b\\\\c\\nd",run="own"}')).toBe(4);
  });
});

describe("an agent", () => {
  test("is in one stage of four, and one of three acts", async () => {
    const page = await pageOf([agent]);
    const of = 'agent="shop-agent",workload="shop"';
    expect(valuesOf(page, "coxswain_agent_stage")).toEqual({
      [`coxswain_agent_stage{${of},stage="INITIALIZED"}`]: 0,
      [`coxswain_agent_stage{${of},stage="OFFLINE"}`]: 0,
      [`coxswain_agent_stage{${of},stage="ONLINE"}`]: 1,
      [`coxswain_agent_stage{${of},stage="SERVING"}`]: 0,
    });
    expect(page.values.get(`coxswain_agent_acting{${of},who="learner"}`)).toBe(1);
    expect(page.values.get(`coxswain_agent_acting{${of},who="fallback"}`)).toBe(0);
    expect(page.values.get(`coxswain_agent_training_updates_total{${of}}`)).toBe(640);
    // Of 50 decisions since it began, 45 were done as proposed.
    expect(page.values.get(`coxswain_agent_decisions_total{${of},as_proposed="true"}`)).toBe(45);
    expect(page.values.get(`coxswain_agent_decisions_total{${of},as_proposed="false"}`)).toBe(5);
  });
});

describe("decisions", () => {
  test("are counted by who and by the first reason", async () => {
    const page = await pageOf([
      decisionOf(),
      decisionOf(),
      decisionOf({ who: "fallback", why: [lifecycle("bootstrapping")] }),
    ]);
    expect(valuesOf(page, "coxswain_decisions_total")).toEqual({
      'coxswain_decisions_total{who="learner",why="training"}': 2,
      'coxswain_decisions_total{who="fallback",why="bootstrapping"}': 1,
    });
  });

  test("tell apart what the guard changed, what it refused and what the shield changed", async () => {
    const page = await pageOf([
      decisionOf({
        why: [lifecycle("training"), canary, shield("slo-near"), guard("step", "replicas"), guard("bounds", "cpu")],
      }),
      decisionOf({ why: [lifecycle("training"), shield("slo-near"), guard("step", "replicas"), guard("not-finite")] }),
    ]);
    expect(valuesOf(page, "coxswain_guard_changes_total")).toEqual({
      'coxswain_guard_changes_total{rule="step",knob="replicas"}': 2,
      'coxswain_guard_changes_total{rule="bounds",knob="cpu"}': 1,
    });
    expect(valuesOf(page, "coxswain_guard_refusals_total")).toEqual({
      'coxswain_guard_refusals_total{reason="not-finite"}': 1,
    });
    expect(valuesOf(page, "coxswain_shield_changes_total")).toEqual({
      'coxswain_shield_changes_total{rule="slo-near"}': 2,
    });
  });

  test("count a takeover when it begins and when its reason changes, not while it lasts", async () => {
    const away = (why: string) => decisionOf({ who: "fallback", why: [lifecycle(why)] });
    const page = await pageOf([
      ...[away("telemetry-stale"), away("telemetry-stale"), away("learner-crashed")],
      ...[decisionOf(), away("telemetry-stale")],
      // OFFLINE the fallback sits there by right.
      decisionOf({ agent: "other", stage: "OFFLINE", who: "fallback", why: [lifecycle("bootstrapping")] }),
    ]);
    expect(valuesOf(page, "coxswain_takeovers_total")).toEqual({
      'coxswain_takeovers_total{reason="telemetry-stale"}': 2,
      'coxswain_takeovers_total{reason="learner-crashed"}': 1,
    });
  });

  test("never make more than a bounded number of series, whatever their reasons say", async () => {
    const page = await pageOf([
      decisionOf({ why: [lifecycle("Because the moon was full.")] }),
      ...Array.from({ length: 500 }, (_, i) => decisionOf({ why: [lifecycle(`reason-${i}`)] })),
    ]);
    const series = Object.entries(valuesOf(page, "coxswain_decisions_total"));
    expect(series.length).toBeLessThanOrEqual(129);
    expect(series.reduce((sum, [, value]) => sum + value, 0)).toBe(501);
    expect(page.values.get('coxswain_decisions_total{who="learner",why="other"}')).toBe(1);
  });

  test("that the actuator failed are counted for their workload", async () => {
    const page = await pageOf([decisionOf({ failure: "no answer" }), decisionOf()]);
    expect(page.values.get('coxswain_actions_failed_total{workload="shop"}')).toBe(1);
  });
});

describe("the rest", () => {
  test("events are counted by kind and severity", async () => {
    const page = await pageOf([eventOf(), eventOf(), eventOf({ kind: "crashed", severity: "error" })]);
    expect(valuesOf(page, "coxswain_events_total")).toEqual({
      'coxswain_events_total{kind="transition",severity="notice"}': 2,
      'coxswain_events_total{kind="crashed",severity="error"}': 1,
    });
  });

  test("the loop's timings become cumulative buckets that end with all of them", async () => {
    const page = await pageOf([loop]);
    expect(Object.fromEntries([...page.values].filter(([id]) => id.startsWith("coxswain_tick_duration")))).toEqual({
      'coxswain_tick_duration_seconds_bucket{le="0.001"}': 90,
      'coxswain_tick_duration_seconds_bucket{le="0.01"}': 98,
      'coxswain_tick_duration_seconds_bucket{le="+Inf"}': 100,
      coxswain_tick_duration_seconds_sum: 0.5,
      coxswain_tick_duration_seconds_count: 100,
    });
  });

  test("the loop's queues show what waits and what was lost", async () => {
    const page = await pageOf([loop]);
    expect(page.values.get("coxswain_recorder_waiting")).toBe(7);
    expect(page.values.get('coxswain_recorder_records_total{outcome="refused"}')).toBe(6);
    expect(page.values.get('coxswain_outbox_events_total{outcome="dropped"}')).toBe(8);
    expect(page.values.get('coxswain_training_rounds_total{outcome="turned-away"}')).toBe(13);
    expect(page.values.get('coxswain_port_failures_total{port="telemetry"}')).toBe(4);
    expect(page.values.get("coxswain_loop_lag_seconds")).toBe(0.02);
  });
});

test("connections that made room for others are counted", async () => {
  const metrics = new PlaneMetrics({ withProcess: false });
  expect(await metrics.text()).toContain("coxswain_http_connections_closed_total 0\n");
  metrics.crowded();
  expect(await metrics.text()).toContain("coxswain_http_connections_closed_total 1\n");
});

test("answers of the API are counted and timed by method, route and status, with room for so many and no more", async () => {
  const metrics = new PlaneMetrics({ withProcess: false });
  const answer = { method: "GET", route: "/v1/agents/:id", status: 200 };
  metrics.answered({ ...answer, ms: 0.5 });
  metrics.answered({ ...answer, ms: 3 });
  metrics.answered({ ...answer, method: "BREW", status: 404, ms: 1 });
  const text = await metrics.text();
  const labels = 'method="GET",route="/v1/agents/:id",status="200"';
  expect(text).toContain(`coxswain_http_requests_total{${labels}} 2\n`);
  expect(text).toContain(`coxswain_http_request_duration_seconds_bucket{${labels},le="0.0005"} 1\n`);
  expect(text).toContain(`coxswain_http_request_duration_seconds_bucket{${labels},le="+Inf"} 2\n`);
  expect(text).toContain(`coxswain_http_request_duration_seconds_sum{${labels}} 0.0035\n`);
  expect(text).toContain('coxswain_http_requests_total{method="other",route="/v1/agents/:id",status="404"} 1\n');
  for (let route = 0; route < 1_000; route++) metrics.answered({ ...answer, route: `/${route}`, ms: 1 });
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("coxswain_http_requests_total{"));
  expect(lines.length).toBeLessThanOrEqual(257);
  expect(lines).toContain('coxswain_http_requests_total{method="other",route="other",status="other"} 746');
});
