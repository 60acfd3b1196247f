import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { milliseconds, ok, unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import type { Trainer } from "../../control/loop/index.ts";
import { Plane } from "../../plane/index.ts";
import { demoWorkloads } from "./demo-workloads.ts";
import type { TwinKind } from "./pod-rules.ts";
import { openParts } from "./wiring.ts";

const kernels = loadKernels({ prefer: "wasm" });
const start = milliseconds(Date.UTC(2026, 0, 5, 6));
const nobody: Trainer = { slots: 0, train: async () => ok(undefined) };
const optionsOf = (twin: TwinKind | null, folder: string | null = null) =>
  ({ seed: 3, workloads: 1, twin, folder, speed: 100, start, kernels, trainer: nobody, isLockstep: true }) as const;

async function played(options: ReturnType<typeof optionsOf>, steps: number): Promise<readonly PlaneUpdate[]> {
  const plane = new Plane(unwrap(await openParts(options)));
  unwrap(await plane.begin());
  const updates = [...plane.takePast()];
  while (plane.steps < steps) await plane.advance();
  updates.push(...plane.takeUpdates());
  await plane.close();
  return updates;
}

const rulesOf = (updates: readonly PlaneUpdate[]) =>
  updates.flatMap((update) => (update.kind === "workload" ? [update.workload.twinRules] : []))[0];
const samplesOf = (updates: readonly PlaneUpdate[]) =>
  updates.flatMap((update) => (update.kind === "samples" ? update.samples : []));

test("a typical twin has an HPA at 80 % with requests as written, and the agent's fallback is as ever", async () => {
  const updates = await played(optionsOf("typical"), 8);
  expect(rulesOf(updates)).toEqual({ name: "hpa", title: "HPA at 80 % with requests as written" });
  const agent = updates.flatMap((update) => (update.kind === "agent" ? [update.agent] : []))[0];
  expect(agent?.fallback).toEqual({ name: "hpa+vpa", title: "HPA and VPA" });
  for (const { sample, twin } of samplesOf(updates)) {
    expect(twin?.have.cpu).toBe(1_000);
    // Twice of what everybody begins with, and never anything else.
    expect(twin?.have.memory).toBe(2 * (demoWorkloads(3, 1)[0]?.initial.memory ?? 0));
    expect(twin?.load).toBe(sample.load);
  }
});

test("unless asked for, the twin has the tuned rules", async () => {
  const updates = await played(optionsOf(null), 4);
  expect(rulesOf(updates)).toEqual({ name: "hpa+vpa", title: "HPA and VPA" });
  for (const { sample, twin } of samplesOf(updates)) expect(twin?.have).toEqual(sample.have);
});

test("a folder goes on with the twin that it began with, and refuses another", async () => {
  const folder = temporaryFolder("twin");
  await played(optionsOf("typical", folder), 4);
  expect(rulesOf(await played(optionsOf(null, folder), 4))?.name).toBe("hpa");
  const refused = await openParts(optionsOf("tuned", folder));
  expect(refused).toMatchObject({ ok: false, failure: { code: "plane.other-twin" } });
  if (!refused.ok) expect(refused.failure.message).toContain("'--twin typical'");
});
