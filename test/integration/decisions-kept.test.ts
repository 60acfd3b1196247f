/**
 * The decisions of the product's agent under `objective: cost`, over a simulated workload, as a hash.
 * For work on the tick's speed: whatever is made faster must decide and remember the same, to the last bit. A change that means to
 * decide otherwise writes the hashes that it gets.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type CostSlot, costLife } from "../../bench/autoscale/cost-ticks.ts";
import { loadKernels } from "../../src/adapters/runtime/index.ts";

const TICKS = 1_500;

/** Of the ticks, and of all that the agent would save after them. */
const known: Record<CostSlot, string> = {
  0: "0d1e19b22a68cfc7",
  1: "fc25c849de0034ff",
  2: "ccedb78a806ee958",
  3: "15270169e549f941",
};

const plain = (_key: string, value: unknown): unknown =>
  ArrayBuffer.isView(value) ? [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] : value;

test.each([0, 1, 2, 3] as const)("workload %i is decided on as it was before the tick was made faster", (slot) => {
  const { agent, step } = costLife(slot, loadKernels());
  const hash = createHash("sha256");
  for (let i = 0; i < TICKS; i++) hash.update(JSON.stringify(step().tick, plain));
  hash.update(JSON.stringify(agent.save({ resumable: true }), plain));
  expect(hash.digest("hex").slice(0, 16)).toBe(known[slot]);
});
