import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { unwrap } from "../../base/index.ts";
import type { SavedPlane } from "../../contract/schemas/index.ts";
import { readPlane, writePlane } from "./saved-plane-file.ts";

const slo = { kind: "latency", quantile: 0.99, target: 333 } as const;
const shop = {
  slo,
  given: { slo, mode: "act" as const },
  revision: 4,
  have: { replicas: 3 },
  twinHave: null,
  twinRules: "hpa+vpa",
  account: { steps: 7, violations: 1, cost: 0.5 },
  twinAccount: null,
  budget: { first: 0, steps: [7], missed: [1], at: 9 },
  troubleSince: null,
};
const saved: SavedPlane = {
  seed: 1,
  startedAt: 0,
  at: 9,
  workloads: { shop },
  agents: { "shop-agent": { mode: "act", isPaused: true, revision: 2 } },
  faults: [{ workload: "shop", fault: "node-lost", until: 70 }],
};

test("what is written is read", () => {
  const folder = temporaryFolder("folder");
  expect(readPlane(folder)).toEqual({ ok: true, value: null });
  unwrap(writePlane(folder, saved));
  expect(readPlane(folder)).toEqual({ ok: true, value: saved });
});

test("what was written before there were budgets and other twins is read, without them", () => {
  const folder = temporaryFolder("folder");
  const { budget: _, twinRules: __, ...before } = shop;
  unwrap(writePlane(folder, { ...saved, workloads: { shop: before } } as unknown as SavedPlane));
  expect(readPlane(folder)).toEqual({
    ok: true,
    value: { ...saved, workloads: { shop: { ...shop, budget: null, twinRules: null } } },
  });
});

test("a digit that was changed is found, and said with the file and what to do", () => {
  const folder = temporaryFolder("folder");
  unwrap(writePlane(folder, saved));
  const file = join(folder, "plane.json");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("333", "933"));
  expect(readPlane(folder)).toMatchObject({
    ok: false,
    failure: {
      code: "plane.saved-state",
      message: `${file} cannot be used (it is damaged: its checksum does not match); move it out of the way to begin again, or give another folder with --data`,
    },
  });
});

test.each([
  ["a seed that is none", { ...saved, seed: -1 }],
  ["a moment that no date has", { ...saved, at: 1e17 }],
  [
    "more violations than steps",
    { ...saved, workloads: { shop: { ...shop, account: { ...shop.account, violations: 8 } } } },
  ],
  ["a setting beyond all bounds", { ...saved, workloads: { shop: { ...shop, have: { replicas: 1e16 } } } }],
  ["half a revision", { ...saved, workloads: { shop: { ...shop, revision: 1.5 } } }],
  ["an SLO of no time", { ...saved, workloads: { shop: { ...shop, slo: { ...slo, target: 0 } } } }],
])("%s is out of bounds, whatever the checksum says", (_what, wrong) => {
  const folder = temporaryFolder("folder");
  unwrap(writePlane(folder, wrong as SavedPlane));
  expect(readPlane(folder)).toMatchObject({ ok: false, failure: { code: "plane.saved-state" } });
});

test("what an earlier version saved, without a checksum, is refused and kept", () => {
  const folder = temporaryFolder("folder");
  const file = join(folder, "plane.json");
  writeFileSync(file, JSON.stringify({ schema: 3, ...saved }));
  expect(readPlane(folder)).toMatchObject({
    ok: false,
    failure: { code: "plane.saved-state", message: expect.stringContaining("it has no checksum") },
  });
  expect(existsSync(file)).toBe(true);
});
