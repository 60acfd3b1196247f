import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const ROOTS = ["src", "test", "bench", "tools", "dashboard/src"];
// Suites that need a service or a browser have their own configurations (see package.json, test:*), so that a missing
// server can never look like a pass; the hostile one takes too long.
const ELSEWHERE = /^test\/(?:services|browser|hostile)\//;
/** Files that change what all modules of a process share (modules, globals, the environment, registries), or list it. */
const APART = [
  /\bvi\.(?:mock|doMock|stubGlobal|stubEnv|resetModules)\(/,
  /\bdelete process\.env\b/,
  /\b(?:registerEnv|registerLearner|loadModules|envIds|shareCells)\(/,
  // Of the command line: it registers what the module has.
  /"--module"/,
];

const files = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile() && item.name.endsWith(".test.ts"))
    .map((item) => join(item.parentPath, item.name))
    .filter((path) => !path.includes("node_modules") && !ELSEWHERE.test(path)),
);
const apart = files.filter((path) => {
  const text = readFileSync(path, "utf8");
  return APART.some((pattern) => pattern.test(text));
});

// `npm test` needs only Node. Its files share a process, for half of the time went into loading the same modules for each
// of them; only those that change what is shared have one of their own.
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One less than there are processors is the default: on two that would be one.
    maxWorkers: availableParallelism(),
    unstubEnvs: true,
    unstubGlobals: true,
    globalSetup: "test/fixtures/folders/no-leftovers.ts",
    coverage: { provider: "v8", include: ["src/**/*.ts"], reporter: ["text-summary", "html"] },
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ROOTS.map((root) => `${root}/**/*.test.ts`),
          exclude: ["**/node_modules/**", "test/services/**", "test/browser/**", "test/hostile/**", ...apart],
          isolate: false,
        },
      },
      { extends: true, test: { name: "apart", include: apart } },
    ],
  },
});
