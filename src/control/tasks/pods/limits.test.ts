import { expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { freshGuardState, guard } from "../../../act/index.ts";
import type { WorkloadId } from "../../../base/index.ts";
import { mebibytes, millicores, milliseconds, ratio, seconds, unwrap } from "../../../base/index.ts";
import { profileLimits, usualPodGuard } from "./limits.ts";

const workload = "shop" as WorkloadId;
const bounds = {
  replicas: { min: 1, max: 40 },
  cpu: { min: millicores(100), max: millicores(8_000) },
  memory: { min: mebibytes(64), max: mebibytes(8_192) },
};
const have: Allocation = { replicas: 6, cpu: millicores(1_000), memory: mebibytes(1_024) };
const limits = unwrap(profileLimits({ bounds }));

function after(want: Partial<Allocation>, { now = 1_000_000, state = freshGuardState, there = have } = {}) {
  const context = { limits, state, have: there, nodes: "unlimited" as const, now: milliseconds(now) };
  return guard({ workload, want, measuredAt: milliseconds(now) }, context);
}

test("the usual guard lets replicas rise as the HPA does, and sizes double or halve at once", () => {
  // Four more, or twice as many where that is more: the HPA's own policy.
  expect(after({ replicas: 40 }).setting.replicas).toBe(12);
  expect(after({ replicas: 40 }, { there: { ...have, replicas: 2 } }).setting.replicas).toBe(6);
  expect(after({ replicas: 1 }).setting.replicas).toBe(1);
  const { setting, changed } = after({ cpu: millicores(8_000), memory: mebibytes(100) });
  expect(setting).toEqual({ ...have, cpu: 2_000, memory: mebibytes(512) });
  expect(changed.map(({ knob, rule }) => `${knob} ${rule}`)).toEqual(["cpu step", "memory step"]);
});

test("what fell stays for a minute before it falls again, and rises at once", () => {
  const fallen = after({ cpu: millicores(700) });
  const there = { ...have, cpu: millicores(700) };
  const soon = { now: 1_000_000 + 45_000, state: fallen.state, there };
  expect(after({ cpu: millicores(500) }, soon).setting.cpu).toBe(700);
  expect(after({ cpu: millicores(900) }, soon).setting.cpu).toBe(900);
  expect(after({ cpu: millicores(500) }, { ...soon, now: 1_000_000 + 60_000 }).setting.cpu).toBe(500);
});

test("an owner's guard takes the place of the usual one, part by part", () => {
  const { step } = usualPodGuard(bounds);
  const own = unwrap(
    profileLimits({ bounds, guard: { step: { ...step, cpu: { absolute: millicores(50), relative: ratio(0.1) } } } }),
  );
  expect(own.knobs.map(({ step: { up, down }, cooldown }) => [up, down, cooldown.down])).toEqual([
    [1, 1, seconds(60)],
    [0.1, 0.1, seconds(60)],
    [1, 0.5, seconds(60)],
  ]);
});
