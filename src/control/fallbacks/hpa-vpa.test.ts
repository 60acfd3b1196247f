import { describe, expect, test } from "vitest";
import type { Ms } from "../../base/index.ts";
import { mebibytes, millicores, minutes, ratio, seconds, unwrap } from "../../base/index.ts";
import { parseHpaConfig } from "./hpa/config.ts";
import type { HpaPod } from "./hpa/pods.ts";
import { findHpaTarget } from "./hpa-target.ts";
import type { HpaVpaInput, HpaVpaState, HpaVpaStep } from "./hpa-vpa.ts";
import { hpaVpaConfig, hpaVpaStep, startHpaVpa } from "./hpa-vpa.ts";
import type { VpaObservation } from "./vpa/history.ts";

const base = 1_700_000_000;
const at = (s: number): Ms => seconds(base + s);
const template = {
  app: {
    requests: { cpu: millicores(1000), memory: mebibytes(512) },
    limits: { cpu: millicores(2000), memory: mebibytes(512) },
  },
};
const config = hpaVpaConfig({ hpa: unwrap(parseHpaConfig({ maxReplicas: 20 })), template });

/** Eight days at one sample a minute of a pod that is gone by now. */
const history = (usage: number): VpaObservation[] =>
  Array.from({ length: 8 * 1440 }, (_, i): VpaObservation[] => [
    { kind: "cpu", pod: "old", container: "app", at: at((i - 8 * 1440) * 60), usage: millicores(usage) },
    { kind: "memory", pod: "old", container: "app", at: at((i - 8 * 1440) * 60), usage: mebibytes(400) },
  ]).flat();

interface Given {
  readonly now: number;
  readonly pods?: number;
  readonly usedMilli?: number;
  readonly observations?: readonly VpaObservation[];
}
function inputOf({ now, pods = 4, usedMilli = 800, observations = [] }: Given): HpaVpaInput {
  const names = Array.from({ length: pods }, (_, index) => `p${index}`);
  const startedAt = at(-86_400);
  return {
    now: at(now),
    replicas: pods,
    statusReplicas: pods,
    pods: names.map(
      (name): HpaPod => ({
        name,
        phase: "Running",
        startedAt,
        ready: { status: "True", since: startedAt },
        containers: [{ name: "app", requests: template.app.requests }],
      }),
    ),
    readings: [
      {
        kind: "per-pod",
        pods: Object.fromEntries(names.map((name) => [name, { milli: usedMilli, at: at(now), window: minutes(1) }])),
      },
    ],
    observations,
    updaterPods: names.map((name) => ({ name, startedAt, containers: [{ name: "app", ...template.app }] })),
  };
}
const walk = (state: HpaVpaState, inputs: readonly HpaVpaInput[]): HpaVpaStep[] =>
  inputs.map((input) => {
    const step = hpaVpaStep(config, state, input);
    state = JSON.parse(JSON.stringify(step.state)) as HpaVpaState;
    return step;
  });

describe("HPA and VPA together", () => {
  test("the VPA starts warm: its first recommendation rests on eight days", () => {
    const { recommendation } = startHpaVpa(config, history(300));
    // All samples at 0.3 cores: the end of their bucket plus 15 %, within 5 % of 0.3 · 1.15 and above
    const cpu = recommendation[0]?.target.cpu ?? 0;
    expect(cpu).toBeGreaterThanOrEqual(345);
    expect(cpu).toBeLessThan(345 * 1.06);
    // A day of confidence and more: the upper bound is no longer wide.
    expect((recommendation[0]?.upper.cpu ?? 0) / cpu).toBeLessThan(1.2);
  });

  test("pods that ask for too much are evicted within the budget, and new ones start with the recommendation", () => {
    const [step] = walk(startHpaVpa(config, history(300)), [inputOf({ now: 0, usedMilli: 800 })]);
    expect(step?.evict).toHaveLength(2);
    expect(step?.newPods.app?.requests.cpu).toBe(step?.state.recommendation[0]?.target.cpu);
    // The limit keeps its ratio of 2.
    expect(step?.newPods.app?.limits.cpu).toBe(2 * (step?.state.recommendation[0]?.target.cpu ?? 0));
  });

  test("the HPA looks every 15 s and the VPA every minute, however often they are called", () => {
    const steps = walk(
      startHpaVpa(config),
      [0, 5, 15, 20, 30, 45, 60, 61].map((now) => inputOf({ now })),
    );
    expect(steps.map(({ hpa }) => hpa !== undefined)).toEqual([true, false, true, false, true, true, true, false]);
    expect(steps.map(({ updater }) => updater !== undefined)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test("the HPA scales on the utilisation of the request", () => {
    // 960/1000 of a target of 80 %: 96/80 · 4 = 4.8
    const [step] = walk(startHpaVpa(config), [inputOf({ now: 0, usedMilli: 960 })]);
    expect(step?.replicas).toBe(5);
  });

  test("usage between ticks is not counted, an OOM kill is", () => {
    const usage: VpaObservation = { kind: "cpu", pod: "p0", container: "app", at: at(15), usage: millicores(100) };
    const kill: VpaObservation = { kind: "oom", pod: "p0", container: "app", at: at(15), request: mebibytes(512) };
    const [, step] = walk(startHpaVpa(config), [
      inputOf({ now: 0 }),
      inputOf({ now: 15, observations: [usage, kill] }),
    ]);
    expect(step?.state.vpa.aggregates.app?.samples).toBe(0);
    // max(512 + 100, 512 · 1.2) = 614.4 MiB
    expect(step?.state.vpa.pods.p0?.app?.oomPeak).toBe(Math.trunc(mebibytes(512) * 1.2));
  });

  test("mode Off recommends and changes nothing", () => {
    const off = hpaVpaConfig({ ...config, updater: { ...config.updater, mode: "Off" } });
    const step = hpaVpaStep(off, startHpaVpa(off, history(300)), inputOf({ now: 0 }));
    expect(step).toMatchObject({ evict: [], resize: [], newPods: template });
    expect(step.state.recommendation).toHaveLength(1);
  });

  test("without history a container starts as its template says", () => {
    const [step] = walk(startHpaVpa(config), [inputOf({ now: 0 })]);
    expect(step?.newPods).toEqual(template);
  });
});

describe("the CPU target", () => {
  const pairs = (...list: readonly (readonly [number, number])[]) =>
    list.map(([utilization, preservation]) => ({ utilization: ratio(utilization), preservation: ratio(preservation) }));

  test("is the highest utilisation that meets the SLO", () => {
    expect(findHpaTarget(pairs([0.4, 1], [0.55, 1], [0.72, 1], [0.8, 0.93], [0.9, 0.5]))).toEqual({
      ok: true,
      value: { percent: 72, firstMiss: 80 },
    });
  });

  test("is cut to whole percent, as the HPA cuts what it measures", () => {
    expect(findHpaTarget(pairs([0.7199, 1]))).toMatchObject({ value: { percent: 71 } });
    expect(findHpaTarget(pairs([0.29, 1]))).toMatchObject({ value: { percent: 29 } });
  });

  test("may be above 100 %, where limits are above requests", () => {
    expect(findHpaTarget(pairs([0.9, 1], [1.3, 1], [1.6, 0.4]))).toMatchObject({ value: { percent: 130 } });
  });

  test("counts repeated measurements by their mean", () => {
    const noisy = pairs([0.6, 1], [0.6, 0.8], [0.5, 1], [0.5, 1]);
    expect(findHpaTarget(noisy)).toMatchObject({ value: { percent: 50, firstMiss: 60 } });
    expect(findHpaTarget(noisy, 0.9)).toMatchObject({ value: { percent: 60 } });
  });

  test("shows noise: a miss below the target", () => {
    expect(findHpaTarget(pairs([0.5, 0.9], [0.7, 1]))).toEqual({ ok: true, value: { percent: 70, firstMiss: 50 } });
  });

  test("does not exist when no measurement meets the SLO, or none is a number", () => {
    expect(findHpaTarget(pairs([0.5, 0.9]))).toMatchObject({ failure: { code: "hpa.no-target" } });
    expect(findHpaTarget(pairs([Number.NaN, 1], [0.5, Number.NaN]))).toMatchObject({
      failure: { code: "hpa.no-target" },
    });
  });
});
