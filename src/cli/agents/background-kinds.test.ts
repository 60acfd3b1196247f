import { expect, test } from "vitest";
import { mebibytes, millicores, milliseconds, ratio } from "../../base/index.ts";
import type { PodsAdviceWork } from "../../control/tasks/pods/index.ts";
import { PODS_ADVICE } from "../../control/tasks/pods/index.ts";
import { backgroundKinds } from "./background-kinds.ts";

test("threads beside the loop train policies and advise who plans; from no records the planner does", () => {
  const { tasks } = backgroundKinds();
  expect(Object.keys(tasks).sort()).toEqual(["agent training", "function bootstrap", "pods advice"]);
  const work: PodsAdviceWork = {
    records: { hours: [], open: { readings: 0, missed: 0 } },
    before: null,
    task: {
      slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) },
      bounds: {
        replicas: { min: 1, max: 12 },
        cpu: { min: millicores(100), max: millicores(4_000) },
        memory: { min: mebibytes(64), max: mebibytes(2_048) },
      },
      attainment: ratio(0.99),
    },
  };
  expect(tasks[PODS_ADVICE]?.(work, {} as never)).toMatchObject({ seat: "plan", refused: "calibration.too-few" });
});
