import { describe, expect, test } from "vitest";
import type { Bytes, Millicores, Ms } from "../../../base/index.ts";
import { mebibytes, millicores, milliseconds, seededRng, unwrap } from "../../../base/index.ts";
import { defaultVpaConfig as config } from "./config.ts";
import { quantile } from "./histogram.ts";
import type { VpaObservation } from "./history.ts";
import { freshVpaState, vpaForget, vpaObserve } from "./history.ts";
import { vpaRecommend } from "./recommend.ts";
import type { WarmHistory } from "./warm.ts";
import { warmVpaState } from "./warm.ts";

const until = milliseconds(1_700_000_000_000);
const minute = 60_000;

/** A day with a shape, a sample a minute. */
function day(seed: number): { readonly cpu: Millicores[]; readonly memory: Bytes[] } {
  const rng = seededRng(seed);
  const at = (i: number): number => 300 + 200 * Math.sin((2 * Math.PI * i) / 1440);
  return {
    cpu: Array.from({ length: 1440 }, (_, i) => millicores(Math.max(0, at(i) + 40 * rng.normal()))),
    memory: Array.from({ length: 1440 }, () => mebibytes(300 + 50 * rng.next())),
  };
}

/** The long way: every sample of every day of every pod. */
function observed({ cpu, memory, pods, days }: WarmHistory): ReturnType<typeof vpaObserve>["state"] {
  const all: VpaObservation[] = [];
  for (let index = 0; index < days * 1440; index += 1) {
    const at = (until - days * 1440 * minute + index * minute) as Ms;
    for (let number = 0; number < pods; number += 1) {
      const place = { pod: `old-${number}`, container: "app", at };
      all.push({ kind: "cpu", ...place, usage: cpu[index % 1440] as Millicores });
      all.push({ kind: "memory", ...place, usage: memory[index % 1440] as Bytes });
    }
  }
  return vpaObserve(config, freshVpaState, all).state;
}

describe("a history that was filled in", () => {
  test.each([
    { days: 8, pods: 1 },
    { days: 3, pods: 2 },
    { days: 1, pods: 1 },
  ])("recommends what $days days of $pods pods recommend, sample by sample", ({ days, pods }) => {
    const history: WarmHistory = { ...day(days), days, pods, until };
    const [warm, long] = [unwrap(warmVpaState(config, "app", history)), observed(history)];
    const [one, other] = [warm.aggregates.app, long.aggregates.app];
    expect(one).toMatchObject({
      firstSample: other?.firstSample,
      lastSample: other?.lastSample,
      samples: other?.samples,
    });
    expect(one?.cpu.reference).toBe(other?.cpu.reference);
    for (const resource of ["cpu", "memory"] as const) {
      const [a, b] = [one?.[resource], other?.[resource]];
      if (a === undefined || b === undefined) throw new Error("both have the container");
      expect(a.total / b.total).toBeCloseTo(1, 9);
      for (const p of [0.5, 0.9, 0.95])
        expect(quantile(a, config[resource].histogram, p)).toBe(quantile(b, config[resource].histogram, p));
    }
    expect(vpaRecommend(config, warm)).toEqual(vpaRecommend(config, long));
  });

  test("is remembered though its pods are gone", () => {
    const warm = unwrap(warmVpaState(config, "app", { ...day(1), days: 8, pods: 1, until }));
    const after = vpaForget(config, warm, { livePods: ["new"], now: until });
    expect(after.aggregates.app?.samples).toBe(8 * 1440);
  });

  test("of no days is none", () => {
    expect(warmVpaState(config, "app", { ...day(1), days: 0, pods: 1, until })).toEqual({
      ok: true,
      value: freshVpaState,
    });
  });

  test.each([
    { what: "no samples", odd: { cpu: [] } },
    { what: "NaN in it", odd: { memory: [Number.NaN as Bytes] } },
    { what: "less than nothing used", odd: { cpu: [millicores(-1)] } },
    { what: "half a day", odd: { days: 0.5 } },
    { what: "no end", odd: { until: milliseconds(Number.NaN) } },
  ])("with $what is refused", ({ odd }) => {
    expect(warmVpaState(config, "app", { ...day(1), days: 8, pods: 1, until, ...odd })).toMatchObject({
      ok: false,
      failure: { code: "vpa.history" },
    });
  });
});
