import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/fixtures/folders/temporary-folder.ts";
import { tinyModel } from "../../../test/fixtures/meta/tiny-model.ts";
import { loadKernels } from "../../adapters/runtime/index.ts";
import { milliseconds, ok, unwrap } from "../../base/index.ts";
import type { PlaneUpdate } from "../../contract/index.ts";
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";
import type { Trainer } from "../../control/loop/index.ts";
import { podsTaskName } from "../../control/tasks/pods/index.ts";
import { encodePretrained } from "../../learn/meta/index.ts";
import { Plane } from "../../plane/index.ts";
import { readSharedModel } from "../agents/shared-model-file.ts";
import { EPISODE_STEPS } from "./demo-profile.ts";
import { openParts } from "./wiring.ts";

const kernels = loadKernels({ prefer: "wasm" });
const start = milliseconds(Date.UTC(2026, 0, 5, 6));
const { tasks } = agentTrainingKinds();
const trainer: Trainer = {
  slots: 1,
  train: async ({ kind, config }) =>
    ok(await tasks[kind]?.(config, { kernels, isCancelled: () => false, progress: () => undefined })),
};

const folder = temporaryFolder("shared");
const models = () => join(folder, "runs");
beforeAll(async () => {
  const model = await tinyModel();
  const task = podsTaskName({ features: "extended", actions: "demand" });
  writeFileSync(join(folder, "model.ckpt"), encodePretrained({ ...model, task }));
  writeFileSync(join(folder, "other.ckpt"), encodePretrained({ ...model, task: task.replace("extended", "paper") }));
});

async function openPlane(path: string, data: string | null = null): Promise<Plane> {
  const shared = readSharedModel(path, kernels);
  const options = {
    seed: 3,
    workloads: 1,
    folder: data,
    speed: 100,
    start,
    kernels,
    shared,
    trainer,
    isLockstep: true,
  };
  const plane = new Plane(unwrap(await openParts(options)));
  unwrap(await plane.begin());
  return plane;
}

async function advance(plane: Plane, steps: number): Promise<readonly PlaneUpdate[]> {
  const until = plane.steps + steps;
  while (plane.steps < until) await plane.advance();
  return unwrap(await plane.tell());
}

const eventsIn = (updates: readonly PlaneUpdate[], kind: string) =>
  updates.flatMap((update) => (update.kind === "event" && update.event.kind === kind ? [update.event.text] : []));

test("an agent of the demonstration begins with the policy of the model that it was given, and its document says how well that knows it", async () => {
  const data = join(folder, "data");
  const plane = await openPlane(folder, data);
  const [workload] = plane.workloads;
  const told = [...unwrap(await plane.tell())];
  expect(workload?.agent.document()).toMatchObject({
    stage: "ONLINE",
    familiarity: { state: "neutral", embedding: [], kin: [], why: expect.stringContaining("0 of the 3 trajectories") },
  });
  // Three episodes, the third of which is the rules', and a round of training or two after them.
  told.push(...(await advance(plane, 3 * EPISODE_STEPS + 12)));
  const { familiarity } = workload?.agent.document() ?? {};
  expect(familiarity?.state).not.toBe("neutral");
  expect(familiarity?.embedding).toHaveLength(3);
  expect(familiarity?.kin.map(({ name }) => name).sort()).toEqual(["known-3-0", "known-3-1"]);
  expect(eventsIn(told, "embedding").length).toBeGreaterThan(1);
  expect(JSON.parse(JSON.stringify(familiarity))).toEqual(familiarity);
  unwrap(await plane.close());
  // The same after a restart, before anything is learned anew.
  const again = await openPlane(folder, data);
  expect(again.workloads[0]?.agent.document().familiarity).toEqual(familiarity);
  unwrap(await again.close());
});

test.each([
  { what: "a folder without one", path: () => models(), code: "agent.shared-model-missing" },
  { what: "one for other features", path: () => join(folder, "other.ckpt"), code: "agent.shared-model" },
])("with $what the rules act, the agent says why, and learns from them", async ({ path, code }) => {
  const plane = await openPlane(path());
  const told = await advance(plane, 3);
  const [workload] = plane.workloads;
  expect(workload?.agent.document()).toMatchObject({ stage: "OFFLINE", acting: "fallback", familiarity: null });
  const [why] = told.flatMap((update) =>
    update.kind === "event" && update.event.kind === "shared-model-unusable" ? [update.event] : [],
  );
  expect(why).toMatchObject({ severity: "warning", evidence: { code } });
  unwrap(await plane.close());
});

test("a file that is no model is refused with its path", () => {
  const path = join(folder, "note.txt");
  writeFileSync(path, "not a model");
  expect(readSharedModel(path, kernels)).toMatchObject({
    ok: false,
    failure: { code: expect.stringMatching(/^checkpoint\./), message: expect.stringContaining(path) },
  });
});
