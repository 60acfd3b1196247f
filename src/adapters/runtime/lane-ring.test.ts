import { expect, test } from "vitest";
import type { RingCall } from "./lane-ring.ts";
import { LaneRing, RING_BYTES } from "./lane-ring.ts";

/** Both counters as they are after so many calls. */
function ringAfter(calls: number): LaneRing {
  const block = new SharedArrayBuffer(RING_BYTES);
  new Int32Array(block).fill(calls | 0, 0, 2);
  return new LaneRing(block);
}

test.each([0, 2 ** 31 - 2, 2 ** 32 - 2])("calls come out in their order after %i earlier ones", (calls) => {
  const ring = ringAfter(calls);
  const served: RingCall[] = [];
  for (let round = 0; round < 3; round++) {
    const asked = [0, 1, 2].map((kernel) => ({ kernel, memoryBytes: 64, args: [round, kernel] }));
    for (const call of asked) expect(ring.push(call)).toBe(true);
    for (let i = 0; i < asked.length; i++) ring.serve((call) => served.push(call));
    expect(served.splice(0)).toEqual(asked);
    expect(ring.join()).toBe(true);
  }
});

test("whoever waits for a side that has given up is told so, also when the counters have wrapped", () => {
  const ring = ringAfter(2 ** 31 - 1);
  expect(ring.push({ kernel: 0, memoryBytes: 64, args: [] })).toBe(true);
  ring.fail();
  expect(ring.join()).toBe(false);
});

test("giving up changes the word that the other side sleeps on, so that it can not fall asleep over it", () => {
  const block = new SharedArrayBuffer(RING_BYTES);
  const ring = new LaneRing(block);
  const words = new Int32Array(block);
  ring.push({ kernel: 0, memoryBytes: 64, args: [] });
  const before = words.slice();
  ring.fail();
  expect(words[1]).not.toBe(before[1]);
  expect(ring.join()).toBe(false);
  expect(ring.push({ kernel: 0, memoryBytes: 64, args: [] }) && ring.join()).toBe(false);
});
