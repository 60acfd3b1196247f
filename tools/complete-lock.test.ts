import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { completed, type Lock, missingOptionals, platformOf } from "./complete-lock.ts";

const lagging: Lock = {
  packages: {
    "": {},
    "node_modules/tool": {
      version: "1.2.3",
      dev: true,
      optionalDependencies: {
        "@tool/linux-x64": "1.2.3",
        "@tool/linux-arm64-musl": "1.2.3",
        "@tool/win32-x64": "1.2.3",
      },
    },
    "node_modules/@tool/linux-x64": { version: "1.2.3", dev: true, optional: true, os: ["linux"], cpu: ["x64"] },
  },
};

test("the lock file of this checkout names every optional package, or `npm ci` would refuse it", () => {
  const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
  const missing = missingOptionals(JSON.parse(readFileSync(path, "utf8")) as Lock);
  expect(missing, "run `npm run lock:complete`").toEqual([]);
});

test("packages of other platforms are added with their version and platform, in npm's order", () => {
  expect(missingOptionals(lagging).map(({ name }) => name)).toEqual(["@tool/linux-arm64-musl", "@tool/win32-x64"]);
  const { packages } = completed(lagging);
  expect(Object.keys(packages)).toEqual([
    "",
    "node_modules/@tool/linux-arm64-musl",
    "node_modules/@tool/linux-x64",
    "node_modules/@tool/win32-x64",
    "node_modules/tool",
  ]);
  expect(packages["node_modules/@tool/linux-arm64-musl"]).toEqual({
    version: "1.2.3",
    dev: true,
    optional: true,
    os: ["linux"],
    cpu: ["arm64"],
    libc: ["musl"],
  });
  expect(missingOptionals({ packages })).toEqual([]);
});

test("a platform is read from whole words of the name only", () => {
  expect(platformOf("@duckdb/node-bindings-darwin-arm64")).toEqual({ os: ["darwin"], cpu: ["arm64"] });
  expect(platformOf("lightningcss-linux-x64-gnu")).toEqual({ os: ["linux"], cpu: ["x64"], libc: ["glibc"] });
  expect(platformOf("charm64-x")).toEqual({});
});

test("an optional package without an exact version is left to a person", () => {
  const lock: Lock = { packages: { "node_modules/a": { optionalDependencies: { "b-linux-x64": "^1.0.0" } } } };
  expect(() => completed(lock)).toThrow(/b-linux-x64.*no exact version/);
});
