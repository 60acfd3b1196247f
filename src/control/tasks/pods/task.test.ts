import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { bytes, mebibytes, millicores, milliseconds, unwrap } from "../../../base/index.ts";
import { autoscaleTask, productMode } from "./autoscale.ts";
import type { Observation } from "./observation.ts";
import { podsTask } from "./task.ts";

const bounds = {
  replicas: { min: 1, max: 8 },
  cpu: { min: millicores(100), max: millicores(4_000) },
  memory: { min: mebibytes(64), max: mebibytes(4_096) },
};
const slo = { kind: "none" } as const;
const of = (cores: number, gib: number): Allocation => ({
  replicas: 1,
  cpu: millicores(1_000 * cores),
  memory: bytes(gib * 2 ** 30),
});
/** A step that kept its SLO and ended at this hour. */
const seenAt = (hour: number) =>
  ({ at: milliseconds(hour * 3_600_000), measures: { preservation: 1 }, harmed: 0 }) as Observation;

test("bills that decide who acts, and what is earned, are of the objective and of the hour", () => {
  const carbonIntensity = Array.from({ length: 24 }, (_, hour) => (hour === 18 ? 500 : 100));
  const aim = { objective: "carbon", carbonIntensity } as const;
  const task = podsTask(unwrap(autoscaleTask({ slo, bounds, ...productMode, ...aim })));
  // 1.4 W for the core and 0.263 W for the GiB.
  expect(task.costOf(of(1, 1), seenAt(3))).toBeCloseTo(0.1663, 9);
  expect(task.costOf(of(1, 1), seenAt(18))).toBeCloseTo(0.8315, 9);
  // At one and the same hour only watts count: 0.7 + 0.263 against 1.663.
  const step = { setting: of(0.5, 1), previous: of(0.5, 1), fallback: of(1, 1) };
  for (const hour of [3, 18]) expect(task.reward(seenAt(hour), step)).toBeCloseTo(1 - 0.963 / 1.663, 12);
});

test("with weights of cost and carbon the same saving is worth more memory in a dirty hour", () => {
  const carbonIntensity = Array.from({ length: 24 }, (_, hour) => (hour < 12 ? 0 : 400));
  const aim = { objective: "weights", weights: { cost: 1, carbon: 1 }, carbonIntensity } as const;
  const task = podsTask(unwrap(autoscaleTask({ slo, bounds, ...productMode, ...aim })));
  const step = { setting: of(1, 1), previous: of(1, 1), fallback: of(1, 2) };
  // In clean hours only dollars: 0.045253 of 0.050026.
  const clean = 1 - 0.045253 / 0.050026;
  expect(task.reward(seenAt(3), step)).toBeCloseTo(clean, 9);
  // In others carbon counts twice, for the mean is 200: (0.045253 / 0.059572 + 2 · 1.663 / 2.452) of (0.050026 / 0.059572 + 2 · 1.926 / 2.452).
  const dirty = 1 - (0.045253 / 0.059572 + (2 * 1.663) / 2.452) / (0.050026 / 0.059572 + (2 * 1.926) / 2.452);
  expect(task.reward(seenAt(15), step)).toBeCloseTo(dirty, 9);
  expect(dirty).toBeGreaterThan(clean);
});

test("a task whose aim makes no sense is refused", () => {
  const made = autoscaleTask({ slo, bounds, ...productMode, objective: "carbon" });
  expect(made).toMatchObject({ ok: false, failure: { code: "autoscale.task" } });
  if (!made.ok) expect(made.failure.message).toContain("carbonIntensity must be given where carbon counts");
});
