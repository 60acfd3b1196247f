import { describe, expect, test } from "vitest";
import { bytes, millicores, milliseconds, minutes, seconds, unwrap } from "../../../base/index.ts";
import type { HpaConfig, HpaMetric, HpaOptions } from "./config.ts";
import { milliBytes, parseHpaConfig } from "./config.ts";
import type { HpaInput, HpaReading } from "./hpa.ts";
import { freshHpaState, hpaStep } from "./hpa.ts";
import type { HpaPod } from "./pods.ts";

const now = milliseconds(1_700_000_000_000);
const configOf = (options: Partial<HpaOptions> = {}): HpaConfig =>
  unwrap(parseHpaConfig({ maxReplicas: 20, ...options }));

const podsOf = (count: number): HpaPod[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `p${index}`,
    phase: "Running",
    startedAt: milliseconds(now - minutes(60)),
    ready: { status: "True", since: milliseconds(now - minutes(59)) },
    containers: [{ name: "app", requests: { cpu: millicores(1000) } }],
  }));

/** Every pod at this share of its request of 1000 millicores. */
const atPercent = (count: number, percent: number): HpaReading => ({
  kind: "per-pod",
  pods: Object.fromEntries(
    podsOf(count).map(({ name }) => [name, { milli: percent * 10, at: now, window: minutes(1) }]),
  ),
});

const inputOf = (count: number, ...readings: HpaReading[]): HpaInput => ({
  now,
  replicas: count,
  statusReplicas: count,
  pods: podsOf(count),
  readings,
});

const cpu = (percent: number): HpaMetric => ({
  type: "resource",
  resource: "cpu",
  target: { kind: "utilization", percent },
});
const queue: HpaMetric = { type: "external", name: "queue", target: { kind: "value", milli: 10_000 } };

test("without a metric the target is CPU at 80 %", () => {
  // 100/80 · 4 = 5
  expect(hpaStep(configOf(), freshHpaState, inputOf(4, atPercent(4, 100))).desired).toBe(5);
});

test("a count above the maximum is set to it without looking at metrics", () => {
  const step = hpaStep(configOf(), freshHpaState, inputOf(25, { kind: "failed", why: "unreachable" }));
  expect(step).toMatchObject({ desired: 20, reasons: [{ kind: "above-max" }] });
  expect(step.failure).toBeUndefined();
});

test("a count below the minimum is set to it without looking at metrics", () => {
  const step = hpaStep(configOf({ minReplicas: 3 }), freshHpaState, inputOf(1, { kind: "failed", why: "unreachable" }));
  expect(step).toMatchObject({ desired: 3, reasons: [{ kind: "below-min" }] });
});

test("the first sync counts what is there as a recommendation, so that a restart does not shrink", () => {
  // 8 % used of 80 % wants 1 of 10, held at 10 by the recommendation of the same instant.
  const step = hpaStep(configOf(), freshHpaState, inputOf(10, atPercent(10, 8)));
  expect(step.desired).toBe(10);
  expect(step.reasons).toContainEqual({ kind: "limited", by: "scale-down-stabilized" });
});

test("five minutes and a moment later it shrinks", () => {
  const config = configOf();
  const first = hpaStep(config, freshHpaState, inputOf(10, atPercent(10, 8)));
  const later = { ...inputOf(10, atPercent(10, 8)), now: milliseconds(now + minutes(5) + 1) };
  expect(hpaStep(config, first.state, later).desired).toBe(1);
});

describe("several metrics", () => {
  const config = configOf({ metrics: [cpu(50), queue] });
  const outage: HpaReading = { kind: "failed", why: "no such host" };
  const total = (milli: number): HpaReading => ({ kind: "total", milli });

  test("the largest proposal wins", () => {
    // CPU 60/50 · 4 = 4.8 -> 5; queue 18/10 · 4 = 7.2 -> 8
    expect(hpaStep(config, freshHpaState, inputOf(4, atPercent(4, 60), total(18_000))).desired).toBe(8);
  });

  test("a failed metric does not stop the others from growing", () => {
    const step = hpaStep(config, freshHpaState, inputOf(4, outage, total(18_000)));
    expect(step.desired).toBe(8);
    expect(step.reasons[0]).toMatchObject({ kind: "metric-failed", metric: "cpu" });
  });

  test("a failed metric stops the others from shrinking", () => {
    const step = hpaStep(config, freshHpaState, inputOf(4, outage, total(1_000)));
    expect(step).toMatchObject({ desired: 4, failure: { code: "hpa.metric-unavailable", retry: true } });
  });

  test("all failed leaves everything as it is", () => {
    const before = { ...freshHpaState, recommendations: [{ at: now, replicas: 4 }] };
    const step = hpaStep(config, before, inputOf(4, outage, outage));
    expect(step.desired).toBe(4);
    expect(step.state).toBe(before);
  });

  test("a reading that is not finite is a failed one", () => {
    const bad = atPercent(4, Number.NaN);
    expect(hpaStep(config, freshHpaState, inputOf(4, bad, total(Number.POSITIVE_INFINITY)))).toMatchObject({
      desired: 4,
      failure: { code: "hpa.reading" },
    });
  });
});

describe("zero replicas", () => {
  const config = configOf({ minReplicas: 0, metrics: [queue] });
  const total = (milli: number): HpaReading => ({ kind: "total", milli });

  test("set by a person switch the HPA off", () => {
    expect(hpaStep(config, freshHpaState, inputOf(0, total(50_000)))).toMatchObject({
      desired: 0,
      reasons: [{ kind: "disabled-at-zero" }],
    });
  });

  test("set by the HPA itself end when load comes back", () => {
    const idle = unwrap(
      parseHpaConfig({
        minReplicas: 0,
        maxReplicas: 20,
        metrics: [queue],
        behavior: { scaleDown: { stabilization: seconds(0) } },
      }),
    );
    const down = hpaStep(idle, freshHpaState, inputOf(2, total(0)));
    expect(down).toMatchObject({ desired: 0, state: { scaledToZero: true } });
    const up = hpaStep(idle, down.state, { ...inputOf(0, total(25_000)), now: milliseconds(now + 15_000) });
    // 2.5 -> 3 and the Pods policy lets 4 through
    expect(up).toMatchObject({ desired: 3, state: { scaledToZero: false } });
  });

  test("below a minimum that was raised meanwhile come back to it", () => {
    const raised = configOf({ minReplicas: 2, metrics: [queue] });
    const step = hpaStep(raised, { ...freshHpaState, scaledToZero: true }, inputOf(0, total(0)));
    expect(step.desired).toBe(2);
  });
});

test("a rescale by the bounds also counts against the rate", () => {
  const config = configOf({
    minReplicas: 5,
    behavior: { scaleUp: { policies: [{ type: "Pods", value: 2, period: seconds(60) }] } },
  });
  const first = hpaStep(config, freshHpaState, inputOf(3, atPercent(3, 100)));
  expect(first.desired).toBe(5);
  // 100/80 · 5 = 6.25 -> 7, but two were just added of two allowed: start 3, 3 + 2 = 5
  const second = hpaStep(config, first.state, { ...inputOf(5, atPercent(5, 100)), now: milliseconds(now + 15_000) });
  expect(second.desired).toBe(5);
});

test("an own tolerance replaces the controller's in its direction only", () => {
  const config = configOf({
    metrics: [cpu(100)],
    behavior: { scaleUp: { tolerance: 0.01 }, scaleDown: { stabilization: seconds(0) } },
  });
  expect(hpaStep(config, freshHpaState, inputOf(10, atPercent(10, 105))).desired).toBe(11);
  expect(hpaStep(config, freshHpaState, inputOf(10, atPercent(10, 95))).desired).toBe(10);
});

test("readings may come as a map: one of three pods is missing, and is taken for full as in a record", () => {
  const record = { p0: { milli: 200, at: now, window: minutes(1) }, p1: { milli: 300, at: now, window: minutes(1) } };
  const stepWith = (pods: (HpaReading & { kind: "per-pod" })["pods"]) =>
    hpaStep(configOf({ metrics: [cpu(100)] }), freshHpaState, inputOf(3, { kind: "per-pod", pods }));
  const step = stepWith(new Map(Object.entries(record)));
  expect(step).toEqual(stepWith(record));
  // (200 + 300)/2 is 25 % of the target; with the missing one at 100 % it is 50 %: 0.5 · 3, rounded up.
  expect(step.reasons).toContainEqual({ kind: "metric", metric: "cpu", replicas: 2, observed: 25 });
});

test("memory as an average value is compared in milli-bytes", () => {
  const metric: HpaMetric = { type: "resource", resource: "memory", target: { kind: "average", milli: 100_000 } };
  const pods = Object.fromEntries(
    podsOf(2).map(({ name }) => [name, { milli: milliBytes(bytes(150)), at: now, window: minutes(1) }]),
  );
  expect(hpaStep(configOf({ metrics: [metric] }), freshHpaState, inputOf(2, { kind: "per-pod", pods })).desired).toBe(
    3,
  );
});

describe("a configuration that the API server would refuse", () => {
  test.each([
    { what: "no replica at all", options: { maxReplicas: 0 }, says: "maxReplicas is 0" },
    { what: "minimum above maximum", options: { minReplicas: 9, maxReplicas: 3 }, says: "above maxReplicas" },
    { what: "half a replica", options: { maxReplicas: 2.5 }, says: "whole number" },
    { what: "zero with only CPU to look at", options: { minReplicas: 0 }, says: "object or external metric" },
    { what: "a target of nothing", options: { metrics: [cpu(0)] }, says: "target" },
    { what: "no metric", options: { metrics: [] }, says: "metrics is empty" },
    { what: "a negative tolerance", options: { tolerance: -1 }, says: "tolerance" },
    {
      what: "a period beyond half an hour",
      options: { behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, period: minutes(31) }] } } },
      says: "period",
    },
    {
      what: "a window beyond an hour",
      options: { behavior: { scaleDown: { stabilization: minutes(61) } } },
      says: "stabilization",
    },
    { what: "no policy", options: { behavior: { scaleDown: { policies: [] } } }, says: "policies is empty" },
  ] as const)("$what", ({ options, says }) => {
    const result = parseHpaConfig({ maxReplicas: 20, ...(options as Partial<HpaOptions>) });
    expect(result).toMatchObject({
      ok: false,
      failure: { code: "hpa.config", message: expect.stringContaining(says) as string },
    });
  });
});
