import { expect, test } from "vitest";
import { loadKernels } from "../../src/adapters/runtime/index.ts";
import { seededRng } from "../../src/base/index.ts";
import { layoutWidth } from "../../src/learn/meta/index.ts";
import { actionSize } from "../../src/learn/rl/index.ts";
import { poolShape } from "../../src/pretraining/index.ts";
import type { Task } from "../engine/line-server.ts";
import { compareVectors } from "../statistics.ts";
import { layout, metaFixture } from "./fixtures.ts";
import { metaTask } from "./our-meta.ts";
import { extrapolated } from "./pretraining.ts";

const fixture = metaFixture(seededRng(1));

async function answerOf(task: string, steps: number): Promise<Float32Array> {
  const kernels = loadKernels({ prefer: "wasm" });
  const made: Task = await metaTask(kernels, { task, argument: "", fixture: () => fixture });
  await made.run(steps);
  const answer = (await made.answer?.()) as Float32Array;
  await made.close?.();
  return answer;
}

test("rows are as wide as the autoscaling task's observation, action and reward", () => {
  expect(layoutWidth(layout)).toBe(poolShape.obs + actionSize(poolShape.action) + 1);
});

test("a bundle is read to an embedding, which a training pass moves a little", async () => {
  const read = await answerOf("meta-bundle", 1);
  expect(read).toHaveLength(64);
  const { difference, magnitude } = compareVectors(read, await answerOf("meta-pass", 1));
  // Adam moves each parameter by its rate of 3e-4, whatever the gradient's length.
  expect(difference).toBeGreaterThan(1e-5);
  expect(difference / magnitude).toBeLessThan(0.5);
});

test("a pre-training is its visits over two threads and the rest of its rounds on one", () => {
  // 38 turns of 200 applications, two at a time; 25 rounds a turn, and 4,000 steps more are 15.625 rounds of 256.
  const config = { visits: 35, environmentsPerRound: 8, learnSteps: 256, settleSteps: 4_000 };
  expect(extrapolated({ visit: 2, rest: 0 }, config)).toBe(38 * 200);
  expect(extrapolated({ visit: 0, rest: 1 }, config)).toBe(38 * 25 + 15.625);
});
