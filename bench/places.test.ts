import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder, packageRoot } from "./places.ts";

test("the cache follows XDG_CACHE_HOME and falls back to the home folder", () => {
  expect(cacheFolder({ XDG_CACHE_HOME: "/somewhere" })).toBe(join("/somewhere", "coxswain", "bench"));
  expect(cacheFolder({})).toMatch(/\.cache.coxswain.bench$/);
});

test("the package's root is where its C references lie", () => {
  expect(existsSync(join(packageRoot(), "bench", "native", "ddpg.c"))).toBe(true);
});
