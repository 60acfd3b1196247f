import { expect, test } from "vitest";
import { loopHeap } from "./loop-heap.ts";

test("few agents get V8's usual young generation, a thousand one that their turns fit in, and nobody more", () => {
  const sizes = [0, 4, 250, 500, 1_000, 50_000].map((agents) => loopHeap(agents).maxYoungGenerationSizeMb);
  expect(sizes).toEqual([48, 48, 48, 96, 192, 192]);
});
