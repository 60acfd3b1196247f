import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * Whoever reaches the ports or the files of `coxswain up`, and means harm: each file attacks a process of its own.
 * COXSWAIN_HOSTILE_SECONDS says for how long each part goes on, COXSWAIN_HOSTILE_SEED which attacks it draws.
 */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/hostile/**/*.test.ts"],
    globalSetup: "test/fixtures/folders/no-leftovers.ts",
    // One after another: a part that fights with another for processors would measure that one.
    fileParallelism: false,
    hookTimeout: 120_000,
  },
});
