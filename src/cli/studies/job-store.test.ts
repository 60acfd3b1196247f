import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { JobStore } from "./job-store.ts";
import { plainJson } from "./plain-json.ts";

let data: string;
beforeEach(() => {
  data = temporaryFolder("jobs");
});

const store = (fingerprint = "f00d") => new JobStore({ data, study: "coin", fingerprint });
const job = { seed: 3, unit: "ppo", result: { curve: [1, 2.5] }, seconds: 1.5 };

test("a saved job comes back as it was, by seed and unit", () => {
  store().save(job);
  expect(store().load(3, "ppo")).toEqual(job);
  expect(store().load(4, "ppo")).toBeUndefined();
  expect(store().load(3, "dqn")).toBeUndefined();
});

test("another fingerprint does not see it", () => {
  store().save(job);
  expect(store("beef").load(3, "ppo")).toBeUndefined();
});

test("units that differ only in unsafe characters do not share a file, and none leaves the folder", () => {
  for (const unit of ["a/b", "a b", "../../etc/passwd"]) store().save({ ...job, unit, result: unit });
  for (const unit of ["a/b", "a b", "../../etc/passwd"]) expect(store().load(3, unit)?.result).toBe(unit);
  expect(readdirSync(store().folder)).toHaveLength(3);
});

test("a truncated or altered file counts as not there", () => {
  store().save(job);
  const file = join(store().folder, readdirSync(store().folder)[0] as string);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.slice(0, 40));
  expect(store().load(3, "ppo")).toBeUndefined();
  writeFileSync(file, text.replace("2.5", "2.6"));
  expect(store().load(3, "ppo")).toBeUndefined();
  writeFileSync(file, text);
  expect(store().load(3, "ppo")).toEqual(job);
});

test.each([
  ["NaN", { loss: Number.NaN }, "result.loss is NaN"],
  ["infinity", [1, Number.POSITIVE_INFINITY], "result[1] is Infinity"],
  ["undefined", { a: { b: undefined } }, "result.a.b is undefined"],
  ["a typed array", { curve: new Float32Array(2) }, "result.curve is Float32Array"],
  ["a map", new Map(), "result is Map"],
])("%s in a result is refused, with its place", (_name, value, text) => {
  expect(() => plainJson(value)).toThrow(text);
});

test("plain results pass unchanged", () => {
  const value = { a: [1, "x", null, true], b: { c: -0.5 } };
  expect(plainJson(value)).toEqual(value);
});
