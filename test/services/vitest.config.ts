import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Suites that need a server. They fetch and start it themselves, and fail with one sentence where they cannot. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/services/**/*.test.ts"],
    globalSetup: "test/fixtures/folders/no-leftovers.ts",
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
