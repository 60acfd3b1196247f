import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sets } from "../../../test/oracle/harness.ts";
import { packageRoot } from "../../adapters/runtime/index.ts";
import { unwrap } from "../../base/index.ts";
import { podsTaskName } from "../../control/tasks/pods/index.ts";
import { applicationPool, drawMember } from "../../pretraining/index.ts";
import type { PretrainReport } from "../pretraining/report.ts";
import { readSharedModel, sharedModelPath } from "./shared-model-file.ts";

const folder = join(packageRoot(), "models", "pods");
const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as PretrainReport;

test("the model that comes with the package opens, and is for limits", () => {
  expect(sharedModelPath("shipped")).toBe(folder);
  const shared = unwrap(readSharedModel("shipped", sets[1]!.make()));
  expect(shared.model.task).toBe(podsTaskName({ features: "extended", actions: "limits" }));
  expect(shared.model.pool).toHaveLength(report.applications);
  shared.dispose();
});

test("its bytes are those that its report tells of, and less than a megabyte", () => {
  const bytes = readFileSync(join(folder, "model.ckpt"));
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(report.model.sha256);
  expect(statSync(join(folder, "model.ckpt")).size).toBe(report.model.bytes);
  expect(bytes.length).toBeLessThan(1_000_000);
});

test("it was trained on known applications alone, and its report judges it by others", () => {
  const { known, unseen } = applicationPool(report.settings.pool);
  const [learned, kept] = [known, unseen].map((part) => new Set(part.map(({ id }) => id)));
  expect(report.map.members).toHaveLength(report.settings.applications);
  for (const { application } of report.map.members) {
    expect(learned?.has(application)).toBe(true);
    expect(kept?.has(application)).toBe(false);
  }
  const { members } = report.unseen ?? { members: 0 };
  expect(members).toBeGreaterThanOrEqual(20);
  const trainedOn = new Set(report.map.members.map(({ application }) => application));
  for (const index of [0, members - 1]) {
    const { application } = drawMember({ seed: report.settings.seed, part: "unseen", index }).scene;
    expect(trainedOn.has(application.id)).toBe(false);
  }
});
