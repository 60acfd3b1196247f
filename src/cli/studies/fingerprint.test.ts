import { expect, test } from "vitest";
import type { Study } from "../../studies/index.ts";
import { codeHash, fingerprint } from "./fingerprint.ts";

const study: Study = {
  id: "coin",
  title: "",
  about: "",
  world: "none",
  seeds: { quick: 1, full: 1 },
  config: () => ({}),
  units: () => ["a"],
  runUnit: () => 1,
  rows: () => [],
  figures: () => [],
};
const parts = { study, config: { flips: 1 }, kernels: "wasm", version: "1.0.0" };

test("the same parts have the same fingerprint", () => {
  expect(fingerprint(parts)).toBe(fingerprint({ ...parts, config: { flips: 1 } }));
});

test.each([
  ["config", { config: { flips: 2 } }],
  ["kernel set", { kernels: "native" }],
  ["version", { version: "1.0.1" }],
  ["study", { study: { ...study, id: "dice" } }],
  ["code of a unit", { study: { ...study, runUnit: () => 2 } }],
])("another %s has another one", (_name, change) => {
  expect(fingerprint({ ...parts, ...change })).not.toBe(fingerprint(parts));
});

test("how rows and figures are made does not matter to a kept job", () => {
  expect(fingerprint({ ...parts, study: { ...study, rows: () => [], title: "other words" } })).toBe(fingerprint(parts));
});

test("parts of the code have hashes of their own, and one that is not there is a mistake", () => {
  const hashes = [["base"], ["pretraining/scene"], ["pretraining/pools"], ["base", "pretraining/scene"]].map((parts) =>
    codeHash(parts),
  );
  expect(new Set(hashes).size).toBe(4);
  expect(codeHash(["base"])).toBe(hashes[0]);
  expect(() => codeHash(["pretraining/scenery"])).toThrow("there is no code at pretraining/scenery");
});
