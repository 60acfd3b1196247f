import { defineConfig } from "vitest/config";

// Needs a real Chromium: the setup installs Debian's where it may, and fails with the reason where it may not. Then it
// builds the dashboard, once for all.
export default defineConfig({
  test: {
    include: ["test/browser/**/*.test.ts"],
    globalSetup: [
      "test/fixtures/folders/no-leftovers.ts",
      "test/browser/install-chromium.ts",
      "test/browser/installed-copy.ts",
    ],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    // A browser on a busy machine takes its time; what never happens still fails.
    expect: { poll: { timeout: 30_000, interval: 50 } },
  },
});
