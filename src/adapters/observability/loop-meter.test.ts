import { expect, test } from "vitest";
import { stage } from "../../../test/fixtures/loop/scripted.ts";
import type { AgentId, WorkloadId } from "../../base/index.ts";
import { err, failure } from "../../base/index.ts";
import { LoopMeter } from "./loop-meter.ts";
import { watchedByAll } from "./watchers.ts";

test("a tick lasts from its phase to the next one, a turn from its beginning to its end", () => {
  let time = 0;
  const meter = new LoopMeter({ now: () => time });
  const watcher = watchedByAll([meter, { begin: () => ({ enter: () => {}, end: () => {} }) }])!;
  const turn = watcher.begin("a" as AgentId, "w" as WorkloadId);
  const phase = (name: "read" | "tick" | "record", lasts: number) => {
    turn.enter(name);
    time += lasts;
  };
  phase("read", 3);
  phase("tick", 0.02);
  phase("record", 1);
  turn.end(undefined, null);
  const { ticks, wholeTurns } = meter.figures(nothing);
  // 20 µs is within the bound of 25 µs, the second one; 4.02 ms within that of 5 ms, the ninth.
  expect(ticks.counts.indexOf(1)).toBe(1);
  expect(ticks.sum).toBeCloseTo(0.000_02, 9);
  expect(wholeTurns.counts.indexOf(1)).toBe(8);
  expect(wholeTurns.sum).toBeCloseTo(0.004_02, 9);
  expect(ticks.counts).toHaveLength(ticks.bounds.length + 1);
  meter.close();
});

const nothing = {
  agents: [],
  recorder: { durable: 0, lost: 0, refused: 0, waiting: 0, reopened: 0 },
  events: { delivered: 0, dropped: 0, lost: 0, waiting: 0 },
  training: null,
};

test("beside a real loop it counts its turns, its failing ports and what became of its records", async () => {
  const meter = new LoopMeter();
  const { clock, loop, slot, events } = stage({
    watcher: meter,
    telemetry: { read: async () => err(failure("x.down", "down")) },
  });
  slot("web");
  slot("api");
  await clock.pass(29_900);
  const running = meter.figures(loop.status);
  expect(running.turns).toBe(4);
  expect(running.ports.failing).toEqual({ telemetry: 2 });
  const status = await loop.stop();
  meter.note(events);
  const figures = meter.figures(status);
  expect(figures.ticks.counts.reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(figures.wholeTurns.counts.reduce((sum, count) => sum + count, 0)).toBe(4);
  // Said once per agent, not once per turn.
  expect(figures.ports.failures).toEqual({ telemetry: 2 });
  expect(figures.recorder).toMatchObject({ durable: 6, lost: 0, waiting: 0 });
  meter.close();
});
