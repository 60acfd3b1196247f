import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The long form of the crash tests: a hundred kills, or as many as asked for. `npm test` runs them with a few. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/crash/**/*.test.ts"],
    env: { COXSWAIN_CRASH_KILLS: process.env.COXSWAIN_CRASH_KILLS ?? "100" },
    globalSetup: "test/fixtures/folders/no-leftovers.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
