import { expect, test } from "vitest";
import { milliseconds, parseWorkloadId, perSecond, ratio, unwrap } from "../../base/index.ts";
import type { FunctionReading } from "../../observe/telemetry/index.ts";
import { ensureController, ensureUtil } from "./ensure.ts";

const now = milliseconds(10_000);

/** Alone it takes 1,000 ms at the 99th percentile: the SLO is 15 % above. */
const reading = (parts: Partial<FunctionReading> = {}): FunctionReading => ({
  workload: unwrap(parseWorkloadId("primes")),
  at: now,
  setting: { shares: 512, memory: 256, containers: 5 },
  slo: milliseconds(1_150),
  ready: 5,
  starting: 0,
  use: { cpu: ratio(0.5), memory: ratio(0.6) },
  latency: milliseconds(1_000),
  execution: milliseconds(1_000),
  waiting: milliseconds(0),
  coldStart: milliseconds(0),
  offered: perSecond(9),
  completed: perSecond(9),
  failed: perSecond(0),
  kills: 0,
  ...parts,
});

test("a load of nine busy containers gets nine and twice its root of three", () => {
  const ensure = ensureController();
  expect(ensure.step(ensure.start(), reading(), now)).toMatchObject({ want: { containers: 15 }, reasons: ["load"] });
  // Four: 4 + 2 · 2.
  expect(ensure.step(ensure.start(), reading({ offered: perSecond(4) }), now).want.containers).toBe(8);
});

test("nobody calls: one container stays; what a call took is remembered", () => {
  const ensure = ensureController();
  const { state } = ensure.step(ensure.start(), reading(), now);
  const silent = reading({ offered: perSecond(0), latency: null, execution: null });
  expect(ensure.step(state, silent, now).want.containers).toBe(1);
  // Before anything was seen it leaves things as they are.
  expect(ensure.step(ensure.start(), reading({ execution: null }), now).want.containers).toBe(5);
  expect(ensure.step(state, reading({ execution: null }), now).want.containers).toBe(15);
});

test("15 % over alone raises shares, 20 % does not for ENSURE-Util", () => {
  const slow = reading({ latency: milliseconds(1_200) });
  const [ensure, util] = [ensureController(), ensureController(ensureUtil)];
  expect(ensure.step(ensure.start(), slow, now).want.shares).toBe(640);
  expect(util.step(util.start(), slow, now).want.shares).toBe(512);
  expect(util.step(util.start(), reading({ latency: milliseconds(1_260) }), now).want.shares).toBe(640);
  expect(ensure.step(ensure.start(), reading({ latency: milliseconds(1_149) }), now).want.shares).toBe(512);
});

test("after three calm steps shares are given back, down to the least", () => {
  const ensure = ensureController();
  let state = ensure.start();
  const shares: unknown[] = [];
  for (let i = 0; i < 6; i++) {
    const step = ensure.step(state, reading(), now);
    shares.push(step.want.shares);
    ({ state } = step);
  }
  expect(shares).toEqual([512, 512, 384, 512, 512, 384]);
  const least = reading({ setting: { shares: 128, memory: 256, containers: 5 } });
  expect(ensure.step({ calm: 9, execution: null }, least, now).want.shares).toBe(128);
});

test("memory follows its use between two thresholds, and a kill counts double", () => {
  const ensure = ensureController();
  const memory = (parts: Partial<FunctionReading>) => ensure.step(ensure.start(), reading(parts), now).want.memory;
  expect(memory({ use: { cpu: null, memory: ratio(0.81) } })).toBe(288);
  expect(memory({ use: { cpu: null, memory: ratio(0.6) } })).toBe(256);
  expect(memory({ use: { cpu: null, memory: ratio(0.25) } })).toBe(224);
  expect(memory({ use: { cpu: null, memory: null } })).toBe(256);
  expect(memory({ kills: 1, use: { cpu: null, memory: ratio(0.2) } })).toBe(320);
});
