import { defineConfig } from "vitest/config";

// `npm test` needs only Node. Suites that need a service or a browser have their own
// configurations (see package.json, test:*), so that a missing server can never look like a pass.
export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "test/**/*.test.ts",
      "bench/**/*.test.ts",
      "tools/**/*.test.ts",
      "dashboard/src/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "test/services/**", "test/browser/**"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
  },
});
