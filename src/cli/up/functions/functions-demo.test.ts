import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadKernels, packageRoot } from "../../../adapters/runtime/index.ts";
import { milliseconds, ok, unwrap } from "../../../base/index.ts";
import type { PlaneUpdate } from "../../../contract/index.ts";
import type { Trainer } from "../../../control/loop/index.ts";
import { FUNCTION_BOOTSTRAP } from "../../../control/tasks/functions/index.ts";
import { Plane } from "../../../plane/index.ts";
import { functionKinds } from "../../../sim/index.ts";
import { openParts } from "../wiring.ts";
import { shippedPolicy } from "./functions-targets.ts";

const kernels = loadKernels({ prefer: "wasm" });
const start = milliseconds(Date.UTC(2026, 0, 5, 6));
const trainer = { slots: 0, train: async () => ok(undefined) };

async function openPlane(parts: { readonly bootstrap?: boolean; readonly trainer?: Trainer } = {}): Promise<Plane> {
  const options = {
    seed: 3,
    workloads: null,
    demo: "functions",
    folder: null,
    speed: 100,
    start,
    kernels,
    trainer,
    isLockstep: true,
    ...parts,
  } as const;
  const plane = new Plane(unwrap(await openParts(options)));
  unwrap(await plane.begin());
  return plane;
}

async function advance(plane: Plane, steps: number): Promise<readonly PlaneUpdate[]> {
  const until = plane.steps + steps;
  while (plane.steps < until) await plane.advance();
  return [...plane.takeUpdates()];
}

test("twelve functions and their twins are measured, and ENSURE acts in both at first", async () => {
  const updates = await advance(await openPlane(), 3);
  const samples = updates.flatMap((update) => (update.kind === "samples" ? [update.samples] : []));
  expect(samples.at(-1)?.filter(({ sample }) => sample.load !== null).length).toBeGreaterThanOrEqual(8);
  for (const { sample, twin } of samples.flat()) expect(sample).toEqual(twin);
});

test("policies act after they were watched, what they propose is done, and functions come and go without alarm", async () => {
  const plane = await openPlane();
  // An hour of steps of ten seconds.
  const updates = await advance(plane, 360);
  const events = updates.flatMap((update) => (update.kind === "event" ? [update.event] : []));
  expect(events.filter(({ kind }) => kind === "churn").map(({ text }) => text)).toEqual(
    expect.arrayContaining([expect.stringContaining("leaves the fleet"), expect.stringContaining("joins the fleet")]),
  );
  expect(
    events.filter(({ kind }) => kind === "port-failing" || kind === "estimate-failed" || kind === "agent-crashed"),
  ).toEqual([]);
  expect(events.filter(({ text }) => text.includes("OFFLINE → ONLINE")).length).toBeGreaterThanOrEqual(2);
  // Who was removed misses nothing and keeps nothing.
  const left = events.filter(({ text }) => text.includes("leaves the fleet"));
  for (const { workload, at } of left)
    expect(
      events.some((one) => one.kind === "slo" && one.workload === workload && one.at > at && one.at < at + 600_000),
    ).toBe(false);
  const fleets = updates.flatMap((update) => (update.kind === "fleet" ? [update.fleet] : []));
  const fleet = fleets.at(-1);
  // Told once a minute, and whenever somebody comes or goes.
  expect(fleets.length).toBeGreaterThanOrEqual(60);
  expect(fleet?.changes.map(({ kind, at }) => [kind, at])).toEqual(
    events
      .filter(({ kind }) => kind === "churn")
      .map(({ text, at }) => [text.includes("joins") ? "joined" : "left", at]),
  );
  const { hosts, members, series } = fleet ?? { members: [] };
  const here = members.filter(({ isPresent }) => isPresent).map(({ workload }) => workload);
  expect(here.length).toBe(series?.present.at(-1));
  expect(hosts?.map(({ name, cores }) => [name, cores])).toEqual([0, 1, 2, 3].map((i) => [`invoker${i}`, 28]));
  // Everybody who is there has containers somewhere, and nobody who is away.
  expect(new Set(hosts?.flatMap(({ tenants }) => tenants.map(({ workload }) => workload)))).toEqual(new Set(here));
  for (const { cores, tenants } of hosts ?? []) {
    const used = tenants.reduce((sum, tenant) => sum + (tenant.used ?? 0), 0);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(cores);
  }
  // Over an hour somebody has been in another's way.
  expect(
    fleets.some((one) =>
      one.hosts?.some(({ losses }) => losses?.some(({ workload, by }) => by !== workload && by !== null)),
    ),
  ).toBe(true);
  const decisions = updates.flatMap((update) => (update.kind === "decision" ? [update.decision] : []));
  const byLearner = decisions.filter(({ who }) => who === "learner");
  expect(byLearner.length).toBeGreaterThan(200);
  // Masked choices are within the guard's steps and bounds, so all are done as they were proposed.
  for (const { proposed, executed } of byLearner) expect(executed).toEqual(proposed);
}, 120_000);

test("with a bootstrap, policies that do not act learn beside the loop, and where the rules do better these act", async () => {
  const asked: { readonly agent: string; readonly kind: string; readonly steps: number }[] = [];
  const rulesDoBetter: Trainer = {
    slots: 12,
    train: async ({ agent, kind, config }) => {
      const { blocks } = (config as { records: { blocks: readonly (readonly unknown[])[] } }).records;
      asked.push({ agent, kind, steps: blocks.flat().length });
      const [at] = (blocks.at(-1)?.at(-1) ?? [0]) as readonly number[];
      return ok({ advice: { at, seat: "rules", error: null, estimates: null, refused: null }, policy: null });
    },
  };
  const plane = await openPlane({ bootstrap: true, trainer: rulesDoBetter });
  await advance(plane, 190);
  // Half an hour of steps was recorded, by those that were there all the time and were not acting then.
  expect(asked.length).toBeGreaterThanOrEqual(2);
  for (const { kind, steps } of asked) expect([kind, steps >= 180]).toEqual([FUNCTION_BOOTSTRAP, true]);
  const told = new Set(asked.map(({ agent }) => agent));
  const updates = await advance(plane, 120);
  const decisions = updates.flatMap((update) => (update.kind === "decision" ? [update.decision] : []));
  const theirs = decisions.filter(({ workload }) => told.has(`${workload}-agent`));
  expect(theirs.length).toBeGreaterThan(50);
  for (const { who } of theirs) expect(who).not.toBe("learner");
}, 120_000);

test("the policies that ship are those of the report", () => {
  const report = JSON.parse(readFileSync(join(packageRoot(), "models", "functions", "report.json"), "utf8"));
  for (const kind of functionKinds)
    expect(createHash("sha256").update(shippedPolicy(kind)).digest("hex")).toBe(report.kinds[kind].sha256);
});
