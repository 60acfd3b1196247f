import { expect, test } from "vitest";
import { milliseconds, type PerSecond, type Ratio, ratio, seconds, unwrap } from "../../../../base/index.ts";
import type { InstanceReading, RequestReading } from "../../../../observe/telemetry/index.ts";
import type { ServicesView } from "../port.ts";
import { aimdController, aimdLimits, parseAimdConfig } from "./aimd.ts";

const config = unwrap(parseAimdConfig({ increase: 0.1, decrease: 0.9, saturation: 0.5 }));
const all = (value: number) => ({ cpu: value, memory: value, llc: value, io: value, network: value });
const used = (value: number) => all(value) as Record<"cpu" | "memory" | "llc" | "io" | "network", Ratio>;

const reading: InstanceReading = {
  instance: "geo-0",
  service: "geo",
  node: "x86-0",
  at: seconds(9),
  isReady: true,
  threads: 8,
  limits: all(2),
  lower: all(0.5),
  upper: all(16),
  use: used(0.8),
  counters: null,
};

const request: RequestReading = {
  request: "search",
  at: seconds(9),
  slo: milliseconds(50),
  p50: milliseconds(10),
  p99: milliseconds(40),
  offered: 10 as PerSecond,
  completed: 10 as PerSecond,
  failed: 0 as PerSecond,
};

const view = (requests: readonly RequestReading[], instances = [reading], now = seconds(10)): ServicesView => ({
  now,
  readInstances: () => instances,
  readRequests: () => requests,
  readNodes: () => [],
  readService: () => {
    throw new Error("not asked for here");
  },
  takeSpans: () => [],
});

test("under a violation a limit in use rises by a tenth of the most it may be, one that is not in use stays", () => {
  const mixed = { ...reading, use: { ...used(0.8), io: ratio(0.49), network: ratio(0.5) } };
  // 2 + 0.1 · 16
  expect(aimdLimits(mixed, true, config)).toEqual({ cpu: 3.6, memory: 3.6, llc: 3.6, network: 3.6 });
});

test("otherwise every limit falls by the same factor, in use or not, and neither leaves its bounds", () => {
  expect(aimdLimits({ ...reading, use: used(0.1) }, false, config)).toEqual(all(1.8));
  expect(aimdLimits({ ...reading, limits: all(0.52) }, false, config)).toEqual(all(0.5));
  expect(aimdLimits({ ...reading, limits: all(15.5) }, true, config)).toEqual(all(16));
  expect(aimdLimits({ ...reading, limits: all(16) }, true, config)).toEqual({});
});

test("a container whose use is not known rises with the others", () => {
  expect(aimdLimits({ ...reading, use: null }, true, config)).toEqual(all(3.6));
});

test("a 99th percentile beyond the SLO is a violation, and so are more than one in a hundred refused", () => {
  const first = (requests: readonly RequestReading[]) => aimdController(config).control(view(requests))[0]?.action;
  const up = { kind: "set-limits", instance: "geo-0", limits: all(3.6) };
  const down = { kind: "set-limits", instance: "geo-0", limits: all(1.8) };
  expect(first([request])).toEqual(down);
  expect(first([request, { ...request, p99: milliseconds(51) }])).toEqual(up);
  expect(first([{ ...request, completed: 98.9 as PerSecond, failed: 1.1 as PerSecond }])).toEqual(up);
  expect(first([{ ...request, completed: 99.1 as PerSecond, failed: 0.9 as PerSecond }])).toEqual(down);
});

test("without a word from the ingress nothing moves, and containers that are not ready are left alone", () => {
  expect(aimdController(config).control(view([]))).toEqual([]);
  expect(aimdController(config).control(view([request], [{ ...reading, isReady: false }]))).toEqual([]);
});

test("it acts once per interval and says why", () => {
  const controller = aimdController(unwrap(parseAimdConfig({ interval: seconds(2) })));
  expect(controller.control(view([request], [reading], seconds(10)))[0]).toMatchObject({
    measuredAt: 9_000,
    why: expect.stringContaining("every SLO is kept"),
  });
  expect(controller.control(view([request], [reading], seconds(11)))).toEqual([]);
  expect(controller.control(view([request], [reading], seconds(12)))).toHaveLength(1);
});

test("constants that make no sense are refused with what to give", () => {
  for (const wrong of [
    { increase: 0 },
    { increase: 1.1 },
    { decrease: 1 },
    { saturation: -1 },
    { interval: seconds(0) },
  ])
    expect(parseAimdConfig(wrong)).toMatchObject({ ok: false, failure: { code: "aimd.config" } });
});
