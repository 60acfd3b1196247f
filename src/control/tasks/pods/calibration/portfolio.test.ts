import { expect, test } from "vitest";
import { type Given, recordsOf, twoKnees } from "../../../../../test/fixtures/pods/recorded-life.ts";
import type { Allocation } from "../../../../act/index.ts";
import type { PerSecond } from "../../../../base/index.ts";
import { mebibytes, millicores, milliseconds, ratio } from "../../../../base/index.ts";
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Fallback } from "../../../index.ts";
import type { AdviceOptions } from "./portfolio.ts";
import { advise, lossOf, seatFor } from "./portfolio.ts";

const options: AdviceOptions = {
  slo: { kind: "latency", quantile: 0.99, target: milliseconds(100) },
  bounds: {
    replicas: { min: 1, max: 12 },
    cpu: { min: millicores(100), max: millicores(4_000) },
    memory: { min: mebibytes(64), max: mebibytes(2_048) },
  },
  budget: ratio(0.01),
};
/** Ten hours: sizes from 900 to 2,400 millicores, loads from 5 to 24 requests per second, over the hours. */
const given = (minute: number): Given => ({
  size: 900 + 100 * (minute % 16),
  load: 5 + (Math.floor(minute / 7) % 20),
  pods: 2,
});
const records = recordsOf({ minutes: 600, given, latency: twoKnees });
const always = (setting: Allocation): Fallback<null, WorkloadReading, Allocation> => ({
  name: "always",
  start: () => null,
  step: () => ({ want: setting, reasons: [], state: null }),
});

test("cost counts as it is within the budget; one step in a hundred beyond it costs a quarter more", () => {
  expect(lossOf({ cost: 2, missed: 0.9 }, 0.01)).toBe(2);
  expect(lossOf({ cost: 2, missed: 2 }, 0.01)).toBeCloseTo(2.5, 12);
});

test("whoever plans stays, unless another one is cheaper by more than 5 %", () => {
  const of = (cost: number) => ({ cost, missed: 0 });
  expect(seatFor("plan", { plan: of(100), prior: of(96) }, 0.01)).toBe("plan");
  expect(seatFor("plan", { plan: of(100), prior: of(95) }, 0.01)).toBe("prior");
  expect(seatFor("prior", { plan: of(100), prior: of(104) }, 0.01)).toBe("prior");
  expect(seatFor("prior", { plan: of(100), prior: of(106) }, 0.01)).toBe("plan");
  expect(seatFor("plan", { plan: of(100), prior: of(94), rules: of(90) }, 0.01)).toBe("rules");
  // The one that planned is no more.
  expect(seatFor("prior", { plan: of(100) }, 0.01)).toBe("plan");
});

test("with a model all are estimated, and rules that hold too much are not chosen", () => {
  const generous = { replicas: 6, cpu: millicores(4_000), memory: mebibytes(200) };
  const advice = advise({ records, before: null }, { ...options, rules: always(generous) });
  expect(advice.refused).toBeNull();
  expect(advice.model?.error.strain).toBeLessThan(0.05);
  const { plan, prior, rules } = advice.estimates;
  // Six pods of four cores at $0.04048, and 200 MiB each at $0.004773 a GiB.
  expect(rules?.cost).toBeCloseTo(6 * (4 * 0.040_48 + (200 / 1_024) * 0.004_773), 2);
  expect(rules?.missed).toBe(0);
  expect(prior?.missed).toBeLessThan(1);
  expect(prior?.cost).toBeLessThan(0.5 * (rules?.cost ?? 0));
  expect(plan?.cost).toBeLessThan(0.6 * (rules?.cost ?? 0));
  expect(advice.seat).not.toBe("rules");
});

test("without a valid model the planner plans, whoever did before", () => {
  const few = recordsOf({ minutes: 100, given, latency: twoKnees });
  const before = { ...advise({ records, before: null }, options), seat: "prior" as const };
  expect(advise({ records: few, before }, options)).toMatchObject({
    seat: "plan",
    why: "no-model",
    refused: "calibration.too-few",
    prior: null,
  });
  const answers: AdviceOptions = { ...options, slo: { kind: "throughput", target: 10 as PerSecond } };
  expect(advise({ records, before }, answers)).toMatchObject({ seat: "plan", refused: "calibration.slo" });
});

test("a model that sees misses in the recorded life where there were none is not believed", () => {
  // Every minute is at 130 of 100 ms and the model knows it, but no step was said to be missed.
  const slow = recordsOf({ minutes: 600, given: () => ({ size: 600, load: 10, pods: 2 }), latency: () => 130 });
  const unseen = { ...slow, hours: slow.hours.map((hour) => ({ ...hour, missed: hour.missed.map(() => 0) })) };
  const advice = advise({ records: unseen, before: null }, options);
  expect(advice).toMatchObject({ seat: "plan", refused: "calibration.replay", replayed: { missed: 0 } });
});

test("the same records give the same advice, to the byte", () => {
  const copy = JSON.parse(JSON.stringify(records)) as typeof records;
  expect(JSON.stringify(advise({ records: copy, before: null }, options))).toBe(
    JSON.stringify(advise({ records, before: null }, options)),
  );
});
