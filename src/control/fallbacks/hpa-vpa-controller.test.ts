import { describe, expect, test } from "vitest";
import type { Bytes, Millicores, Ms, Ratio } from "../../base/index.ts";
import { mebibytes, millicores, milliseconds, parseWorkloadId, perSecond, seconds, unwrap } from "../../base/index.ts";
import type { OomKill, PodReading, WorkloadReading } from "../../observe/telemetry/index.ts";
import type { PodFallbackStep } from "./fallback.ts";
import { parseHpaConfig } from "./hpa/config.ts";
import type { HpaVpaControllerConfig, HpaVpaControllerState } from "./hpa-vpa-controller.ts";
import { hpaVpaController } from "./hpa-vpa-controller.ts";

const base = 1_700_000_000;
const at = (s: number): Ms => seconds(base + s);
const template = { cpu: millicores(1000), memory: mebibytes(512) };
const config: HpaVpaControllerConfig = { hpa: unwrap(parseHpaConfig({ maxReplicas: 20 })), template };

interface Given {
  readonly now: number;
  readonly cpu?: number | null;
  readonly memory?: number | null;
  readonly pods?: readonly Partial<PodReading>[];
  readonly ooms?: readonly OomKill[];
  readonly spec?: Partial<WorkloadReading["spec"]>;
}
/** Four pods that have run for a day, unless told otherwise. */
function readingOf({ now, cpu = 800, memory = 300, pods = [{}, {}, {}, {}], ooms = [], spec }: Given): WorkloadReading {
  const running = pods.map(
    (own, index): PodReading => ({
      pod: `p${index}`,
      createdAt: at(-86_400),
      readyAt: at(-86_390),
      cpuLimit: template.cpu,
      memoryLimit: template.memory,
      cpu: cpu as Millicores | null,
      memory: memory === null ? null : mebibytes(memory),
      restarts: 0,
      ...own,
    }),
  );
  return {
    workload: unwrap(parseWorkloadId("shop")),
    at: at(now - 15),
    spec: { replicas: pods.length, ...template, ...spec },
    pods: running,
    use: { cpu: 0.8 as Ratio, memory: 0.6 as Ratio, io: null, network: null },
    latency: milliseconds(50),
    offered: perSecond(10),
    completed: perSecond(10),
    failed: perSecond(0),
    ooms,
  };
}
const flat = (cpu: number, memory: number) => ({
  cpu: Array.from({ length: 1440 }, () => millicores(cpu)),
  memory: Array.from({ length: 1440 }, () => mebibytes(memory)),
  pods: 1,
  days: 8,
  until: at(0),
});

type Step = PodFallbackStep<HpaVpaControllerState>;
const controller = hpaVpaController(config);
/** Walks over readings, with the state through JSON in between, as a restart would have it. */
function walk(given: readonly Given[], { state = controller.start(), own = controller } = {}): Step[] {
  return given.map((one) => {
    const step = own.step(state, readingOf(one), at(one.now));
    state = JSON.parse(JSON.stringify(step.state)) as HpaVpaControllerState;
    return step;
  });
}

function wantedOf(step: Step | undefined): { readonly cpu: Millicores; readonly memory: Bytes } {
  const { cpu, memory } = step?.want ?? {};
  if (cpu === undefined || memory === undefined) throw new Error("no size was asked for");
  return { cpu, memory };
}

describe("replicas", () => {
  test("follow CPU use over limit: 960 of 1000 at a target of 80 % asks for 5 instead of 4", () => {
    const [step] = walk([{ now: 0, cpu: 960 }]);
    expect(step?.want.replicas).toBe(5);
    expect(step?.reasons).toContainEqual({
      by: "hpa",
      reason: { kind: "metric", metric: "cpu", replicas: 5, observed: 96 },
    });
  });

  test("stay where nothing was measured, and it says so", () => {
    const [step] = walk([{ now: 0, cpu: null }]);
    expect(step?.want.replicas).toBe(4);
    expect(step?.failure?.code).toBeDefined();
  });

  test("are not scaled up by pods that are starting: two at 100 %, two of which nothing is known", () => {
    const young = { createdAt: at(-20), readyAt: null, cpu: null };
    const pods = [{ cpu: millicores(1000) }, { cpu: millicores(1000) }, young, young];
    const [step] = walk([{ now: 0, pods }]);
    // ratio 100/80 over the ready two says more; with the two as idle it is 50/80, which says less: so nothing
    expect(step?.want.replicas).toBe(4);
  });

  test("are not held up by pods that are starting: these are pending, not silent", () => {
    const young = { createdAt: at(-20), readyAt: null, cpu: null };
    const pods = [{ cpu: millicores(200) }, { cpu: millicores(200) }, young, young];
    const [starting] = walk([{ now: 0, pods }]);
    // 20/80 of the two that are ready
    expect(starting?.reasons).toContainEqual({ by: "hpa", reason: expect.objectContaining({ replicas: 1 }) });
    const silent = { ...young, createdAt: at(-5000), readyAt: at(-4990) };
    const [lost] = walk([{ now: 0, pods: [pods[0] ?? {}, pods[1] ?? {}, silent, silent] }]);
    // Ready, but nothing is heard of them: they count as full. (20 + 20 + 100 + 100)/4 = 60 of 80
    expect(lost?.reasons).toContainEqual({ by: "hpa", reason: expect.objectContaining({ replicas: 3 }) });
  });

  test("shrink only after five minutes of less", () => {
    const low = [0, 15, 285, 300, 315].map((now) => ({ now, cpu: 200, memory: 300 }));
    const steps = walk(low);
    // 20/80 · 4 = 1
    expect(steps.map(({ want }) => want.replicas)).toEqual([4, 4, 4, 4, 1]);
  });

  test("may follow memory too", () => {
    const metrics = [{ type: "resource", resource: "memory", target: { kind: "utilization", percent: 50 } }] as const;
    const own = hpaVpaController({ ...config, hpa: unwrap(parseHpaConfig({ maxReplicas: 20, metrics })) });
    // 384/512 = 75 % of 50 %: 6
    expect(walk([{ now: 0, memory: 384 }], { state: own.start(), own })[0]?.want.replicas).toBe(6);
  });
});

describe("limits", () => {
  test("stay as the template says while the VPA knows nothing", () => {
    const [step] = walk([{ now: 0, cpu: null, memory: null }]);
    expect(step?.want).toMatchObject(template);
    expect(step?.followers).toEqual([]);
  });

  test("start warm: new pods get what eight days recommend, and half of the old ones are given it at once", () => {
    const state = controller.start({ history: flat(300, 400) });
    const [step] = walk([{ now: 0, cpu: 800 }], { state });
    // 0.3 cores: the end of its bucket plus 15 %; 400 MiB likewise
    expect(step?.want.cpu).toBeGreaterThanOrEqual(345);
    expect(step?.want.cpu).toBeLessThan(345 * 1.06);
    expect(step?.want.memory).toBeGreaterThanOrEqual(mebibytes(460));
    expect(step?.want.memory).toBeLessThan(mebibytes(460 * 1.07));
    expect(step?.followers).toHaveLength(2);
    expect(step?.reasons).toContainEqual({ by: "vpa", follow: step?.followers, left: { budget: 2 } });
  });

  test("go on to the pods that still have the old size, though the size asked for is set", () => {
    const state = controller.start({ history: flat(300, 400) });
    const [first] = walk([{ now: 0, cpu: 300 }], { state });
    const { cpu, memory } = wantedOf(first);
    const [p0, p1] = first?.followers ?? [];
    const resized = { cpuLimit: cpu, memoryLimit: memory };
    const pods = [0, 1, 2, 3].map((index) => ([p0, p1].includes(`p${index}`) ? resized : {}));
    const [second] = walk([{ now: 60, cpu: 300, pods, spec: { cpu, memory } }], { state: first?.state ?? state });
    expect(second?.want).toMatchObject({ cpu, memory });
    expect([...(second?.followers ?? []), p0, p1].sort()).toEqual(["p0", "p1", "p2", "p3"]);
  });

  test("keep within bounds", () => {
    const bounds = {
      cpu: { min: millicores(500), max: millicores(2000) },
      memory: { min: mebibytes(64), max: mebibytes(300) },
    };
    const own = hpaVpaController({ ...config, bounds });
    const [step] = walk([{ now: 0 }], { state: own.start({ history: flat(300, 400) }), own });
    expect(step?.want).toMatchObject({ cpu: 500, memory: mebibytes(300) });
  });

  test("are looked at once a minute, replicas every 15 s, however often it is called", () => {
    const steps = walk([0, 5, 15, 30, 45, 60].map((now) => ({ now })));
    const turns = (by: "hpa" | "vpa") => steps.map(({ reasons }) => reasons.some((reason) => reason.by === by));
    expect(turns("hpa")).toEqual([true, false, true, true, true, true]);
    expect(turns("vpa")).toEqual([true, false, false, false, false, true]);
  });
});

describe("a pod that ran out of memory", () => {
  const kill: OomKill = { pod: "p0", at: at(20), memoryLimit: template.memory };
  const restarted = [{ restarts: 1, readyAt: at(25), createdAt: at(10) }, {}, {}, {}];

  test("raises the recommendation by a fifth, from the next tick on", () => {
    const [, killed, ticked] = walk([
      { now: 0 },
      { now: 30, pods: restarted, ooms: [kill] },
      { now: 60, pods: restarted },
    ]);
    expect(killed?.state.both.vpa.pods.p0?.app?.oomPeak).toBe(Math.trunc(template.memory * 1.2));
    // One of four pods: the peak lies above the 90th percentile's share of 4 peaks, so it decides.
    expect(ticked?.want.memory).toBeGreaterThan(template.memory * 1.2);
  });

  test("is given more memory before its turn when it was killed soon after its start", () => {
    const state = controller.start({ history: flat(300, 400) });
    const { cpu, memory } = wantedOf(walk([{ now: 0, cpu: 300, memory: 400 }], { state })[0]);
    const sized = { cpuLimit: cpu, memoryLimit: memory };
    // Too young for an update out of habit, which comes after twelve hours.
    const young = { ...sized, createdAt: at(-3600), readyAt: at(-3590) };
    const killed = [{ ...restarted[0], ...sized }, young, young, young];
    const given = { cpu: 300, memory: 400, pods: killed, spec: { cpu, memory } };
    // Everybody has the recommended size, so nobody has to move...
    expect(walk([{ ...given, now: 0 }], { state })[0]?.followers).toEqual([]);
    const [, , step] = walk(
      [
        { ...given, now: 0 },
        { ...given, now: 30, ooms: [{ ...kill, memoryLimit: memory }] },
        { ...given, now: 60 },
      ],
      { state },
    );
    // ...but for the one that lived ten seconds.
    expect(step?.state.terminations).toEqual({ p0: { startedAt: at(10), finishedAt: at(20) } });
    expect(step?.followers).toEqual(["p0"]);
  });

  test("is forgotten with the pod", () => {
    const steps = walk([
      { now: 0, ooms: [{ ...kill, at: at(0) }] },
      { now: 60, pods: [{ pod: "new" }] },
    ]);
    expect(Object.keys(steps[0]?.state.terminations ?? {})).toEqual(["p0"]);
    expect(steps[1]?.state.terminations).toEqual({});
  });
});

test("equal arguments give equal answers, and the arguments stay as they were", () => {
  const state = controller.start({ history: flat(300, 400) });
  const before = JSON.stringify(state);
  const reading = readingOf({ now: 0 });
  expect(controller.step(state, reading, at(0))).toEqual(controller.step(state, reading, at(0)));
  expect(JSON.stringify(state)).toBe(before);
});

test("pods of two sizes side by side each count with what they request", () => {
  const large = { cpuLimit: millicores(2000) };
  const reading = readingOf({ now: 0, cpu: 1700, pods: [{}, large, {}, large] });
  const { want } = controller.step(controller.start(), reading, at(0));
  // 6800 of 6000 millicores are 113 % of the requests; 113/80 of four pods are 5.65.
  expect(want.replicas).toBe(6);
});
