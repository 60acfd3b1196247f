/**
 * The replica calculator against facts: cases of the upstream tests (kubernetes v1.37 rc, e81f39c0e0), reworded, and
 * random inputs with what upstream's own functions answered (test/fixtures/fallbacks/hpa.json).
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { bytes, millicores, milliseconds, minutes, seconds } from "../../../base/index.ts";
import type { HpaMetric } from "./config.ts";
import { parseHpaConfig } from "./config.ts";
import type { HpaReading } from "./hpa.ts";
import { freshHpaState, hpaStep } from "./hpa.ts";
import type { HpaPod, PodReading } from "./pods.ts";
import type { ReplicaProposal } from "./replicas.ts";
import { averageReplicas, totalReplicas, utilizationReplicas } from "./replicas.ts";

const now = milliseconds(1_700_000_000_000);
const ago = (s: number) => milliseconds(now - s * 1000);
const tolerances = { up: 0.1, down: 0.1 };

/** One letter per pod: r ready, u not ready, h hot (ready but younger than the initialisation period), p pending,
 * f failed, d being deleted. The upstream tests use an initialisation period of 2 min and a readiness delay of 10 s. */
function podsOf(letters: string, request = 1000): HpaPod[] {
  return [...letters].map((letter, index) => {
    const hot = letter === "h";
    return {
      name: `pod-${index}`,
      phase: letter === "p" ? "Pending" : letter === "f" ? "Failed" : "Running",
      ...(letter === "d" && { isDeleting: true }),
      startedAt: hot ? ago(30) : ago(3600),
      ready: { status: "ru".includes(letter) && letter === "u" ? "False" : "True", since: hot ? ago(20) : ago(3600) },
      containers: [{ name: "app", requests: { cpu: millicores(request), memory: bytes(request) } }],
    };
  });
}

/** Levels by pod; a dash is a pod without a reading. */
function readingsOf(levels: readonly (number | "-")[]): Map<string, PodReading> {
  const readings = new Map<string, PodReading>();
  for (const [index, milli] of levels.entries())
    if (milli !== "-") readings.set(`pod-${index}`, { milli, at: now, window: minutes(1) });
  return readings;
}

const grouping = {
  config: { cpuInitializationPeriod: minutes(2), initialReadinessDelay: seconds(10) },
  resource: "cpu" as const,
  now,
};

interface PodCase {
  readonly what: string;
  readonly pods: string;
  readonly levels: readonly (number | "-")[];
  readonly current: number;
  readonly target: number;
  readonly want: number;
  readonly observed: number;
  readonly tolerance?: number;
}

const utilizationCases: readonly PodCase[] = [
  // 1500/3000 = 50 %; 50/30 · 3 = 5
  { what: "grows with load", pods: "rrr", levels: [300, 500, 700], current: 3, target: 30, want: 5, observed: 50 },
  // 1200/2000 = 60 %, ratio 2; with the third at 0: 1200/3000 = 40 %, 40/30 · 3 = 4
  {
    what: "counts an unready pod as idle when growing",
    pods: "urr",
    levels: [300, 500, 700],
    current: 3,
    target: 30,
    want: 4,
    observed: 60,
  },
  {
    what: "counts a hot pod as idle when growing",
    pods: "hrr",
    levels: [300, 500, 700],
    current: 3,
    target: 30,
    want: 4,
    observed: 60,
  },
  // 400/1000 = 40 %, ratio 1.33; two idle more: 400/3000 = 13 %, ratio 0.43: the direction turned
  {
    what: "keeps the count when unready pods would turn the direction",
    pods: "ruu",
    levels: [400, 500, 700],
    current: 3,
    target: 30,
    want: 3,
    observed: 40,
  },
  {
    what: "ignores failed pods",
    pods: "rrff",
    levels: [500, 700, "-", "-"],
    current: 2,
    target: 30,
    want: 4,
    observed: 60,
  },
  {
    what: "ignores pods that are being deleted",
    pods: "rrdd",
    levels: [500, 700, "-", "-"],
    current: 2,
    target: 30,
    want: 4,
    observed: 60,
  },
  {
    what: "ignores readings of pods that are being deleted",
    pods: "rrdd",
    levels: [500, 700, 9000, 9000],
    current: 2,
    target: 30,
    want: 4,
    observed: 60,
  },
  // 1400/5000 = 28 %; 28/50 · 5 = 2.8
  {
    what: "shrinks with load",
    pods: "rrrrr",
    levels: [100, 300, 500, 250, 250],
    current: 5,
    target: 50,
    want: 3,
    observed: 28,
  },
  // 900/3000 = 30 %; 0.6 · 3 = 1.8
  {
    what: "leaves unready pods out when shrinking",
    pods: "rrruu",
    levels: [100, 300, 500, 250, 250],
    current: 5,
    target: 50,
    want: 2,
    observed: 30,
  },
  {
    what: "leaves hot pods out when shrinking",
    pods: "rrrhh",
    levels: [100, 300, 500, 250, 250],
    current: 5,
    target: 50,
    want: 2,
    observed: 30,
  },
  // 100/1000 = 10 %; 0.2 · 1 = 0.2
  {
    what: "leaves unscheduled pods out when shrinking",
    pods: "rpppp",
    levels: [100, "-", "-", "-", "-"],
    current: 5,
    target: 50,
    want: 1,
    observed: 10,
  },
  {
    what: "ignores failed pods when shrinking",
    pods: "rrrrrff",
    levels: [100, 300, 500, 250, 250, "-", "-"],
    current: 5,
    target: 50,
    want: 3,
    observed: 28,
  },
  {
    what: "stays within 10 %",
    pods: "rrr",
    levels: [1010, 1030, 1020],
    current: 3,
    target: 100,
    want: 3,
    observed: 102,
  },
  // 3030/3000 = 101 % against 100 %, no tolerance: ceil(3.03)
  {
    what: "follows 1 % without tolerance",
    pods: "rrr",
    levels: [909, 1010, 1111],
    current: 3,
    target: 100,
    want: 4,
    observed: 101,
    tolerance: 0,
  },
  // inclusive: 110/100 is within, 111/100 is not (ceil(1.11 · 10) = 12)
  {
    what: "includes the upper edge of the tolerance",
    pods: "rrrrrrrrrr",
    levels: Array(10).fill(1100),
    current: 10,
    target: 100,
    want: 10,
    observed: 110,
  },
  {
    what: "acts just above the tolerance",
    pods: "rrrrrrrrrr",
    levels: Array(10).fill(1110),
    current: 10,
    target: 100,
    want: 12,
    observed: 111,
  },
  {
    what: "includes the lower edge of the tolerance",
    pods: "rrrrrrrrrr",
    levels: Array(10).fill(900),
    current: 10,
    target: 100,
    want: 10,
    observed: 90,
  },
  {
    what: "acts just below the tolerance",
    pods: "rrrrrrrrrr",
    levels: Array(10).fill(890),
    current: 10,
    target: 100,
    want: 9,
    observed: 89,
  },
  // 1109/1000 is cut to 110 %, which is within tolerance though 110.9 % is not
  {
    what: "cuts utilisation to whole percent first",
    pods: "r",
    levels: [1109],
    current: 1,
    target: 100,
    want: 1,
    observed: 110,
  },
  // ceil(ratio · ready): 20 wanted replicas with 2 ready pods at 200 % of target ask for 4
  {
    what: "multiplies the ready pods, not the wanted replicas",
    pods: "rr",
    levels: [1000, 1000],
    current: 20,
    target: 50,
    want: 4,
    observed: 100,
  },
  // ratio 2 from one pod at 100 %; the missing one at 0: 1000/2000 = 50 %: within tolerance
  {
    what: "takes a missing pod as idle when growing",
    pods: "rr",
    levels: [1000, "-"],
    current: 2,
    target: 50,
    want: 2,
    observed: 100,
  },
  // 10/50; missing at 100 %: (100+1000)/2000 = 55 %: above 50, the direction turned
  {
    what: "takes a missing pod as fully used when shrinking",
    pods: "rr",
    levels: [100, "-"],
    current: 2,
    target: 50,
    want: 2,
    observed: 10,
  },
  // target 150: each missing at 150 %: (600 + 3000)/3000 = 120 %; 120/150 · 3 = 2.4 (at 100 % it would be 1.72)
  {
    what: "takes a missing pod at a target above 100 %",
    pods: "rrr",
    levels: [600, "-", "-"],
    current: 5,
    target: 150,
    want: 3,
    observed: 60,
  },
  // ratio exactly 1 with a missing pod: nothing is assumed of it, one reading counts; within tolerance
  {
    what: "assumes nothing of missing pods at exactly the target",
    pods: "rr",
    levels: [500, "-"],
    current: 2,
    target: 50,
    want: 2,
    observed: 50,
  },
  // 10 asked for, 3 pods: 2000/2000 = 100 %, ratio 2; missing idle: 66 %; 1.32 · 3 = 4 < 10: opposes growth
  {
    what: "keeps the count when fewer pods than asked for would make growth a cut",
    pods: "rrr",
    levels: [1000, 1000, "-"],
    current: 10,
    target: 50,
    want: 10,
    observed: 100,
  },
];

const averageCases: readonly PodCase[] = [
  {
    what: "grows with load",
    pods: "rrr",
    levels: [20000, 10000, 30000],
    current: 3,
    target: 15000,
    want: 4,
    observed: 20000,
  },
  {
    what: "does not ask whether a pod is ready",
    pods: "uru",
    levels: [50000, 15000, 30000],
    current: 3,
    target: 15000,
    want: 7,
    observed: 31666,
  },
  {
    what: "counts a hot pod like any other",
    pods: "rrh",
    levels: [50000, 10000, 30000],
    current: 3,
    target: 15000,
    want: 6,
    observed: 30000,
  },
  {
    what: "shrinks with load",
    pods: "rrrrr",
    levels: [12000, 12000, 12000, 12000, 12000],
    current: 5,
    target: 20000,
    want: 3,
    observed: 12000,
  },
  {
    what: "stays within 10 %",
    pods: "rrr",
    levels: [20000, 21000, 21000],
    current: 3,
    target: 20000,
    want: 3,
    observed: 20666,
  },
  {
    what: "follows 3 % with a tolerance of 1 %",
    pods: "rrr",
    levels: [20000, 21000, 21000],
    current: 3,
    target: 20000,
    want: 4,
    observed: 20666,
    tolerance: 0.01,
  },
  {
    what: "keeps the count when a surge pod has no reading",
    pods: "rrr",
    levels: [10000, "-", "-"],
    current: 2,
    target: 17000,
    want: 2,
    observed: 10000,
  },
];

describe("utilisation of the request", () => {
  test.each(utilizationCases)("$what", ({ pods, levels, current, target, want, observed, tolerance }) => {
    const given = { up: tolerance ?? 0.1, down: tolerance ?? 0.1 };
    const input = { current, pods: podsOf(pods), readings: readingsOf(levels), tolerances: given, grouping };
    expect(utilizationReplicas({ ...input, percent: target })).toEqual({
      ok: true,
      value: { replicas: want, observed },
    });
  });

  test("needs a request in every container", () => {
    const pods = podsOf("r").map((pod) => ({ ...pod, containers: [{ name: "app", requests: {} }] }));
    const result = utilizationReplicas({
      current: 1,
      pods,
      readings: readingsOf([5]),
      tolerances,
      grouping,
      percent: 50,
    });
    expect(result).toMatchObject({ ok: false, failure: { code: "hpa.no-request" } });
  });

  test("of one container counts that container's request only", () => {
    const pods = podsOf("rr").map((pod) => ({
      ...pod,
      containers: [...pod.containers, { name: "proxy", requests: { cpu: millicores(100) } }],
    }));
    // 2 · 90 of 2 · 100 = 90 % of the proxy; 90/30 · 2 = 6
    const input = { current: 2, pods, readings: readingsOf([90, 90]), tolerances, grouping, percent: 30 };
    expect(utilizationReplicas({ ...input, container: "proxy" })).toMatchObject({
      value: { replicas: 6, observed: 90 },
    });
    expect(utilizationReplicas({ ...input, container: "gone" })).toMatchObject({
      failure: { code: "hpa.no-container" },
    });
  });

  test("stays exact where the sums leave the exact range of a double", () => {
    // 40 TiB used of 50 TiB requested, in milli-bytes times 100: beyond 2^53. 80 % of a target of 80 %: no change.
    const request = 50 * 2 ** 40;
    const pods = podsOf("r", request);
    const input = { current: 1, pods, readings: readingsOf([40 * 2 ** 40 * 1000]), tolerances, percent: 80 };
    expect(utilizationReplicas({ ...input, grouping: { ...grouping, resource: "memory" } })).toMatchObject({
      value: { replicas: 1, observed: 80 },
    });
  });
});

test.each(averageCases)("an average of pods: $what", ({ pods, levels, current, target, want, observed, tolerance }) => {
  const given = { up: tolerance ?? 0.1, down: tolerance ?? 0.1 };
  const custom = { ...grouping, resource: undefined };
  const input = { current, pods: podsOf(pods), readings: readingsOf(levels), tolerances: given, grouping: custom };
  expect(averageReplicas({ ...input, milli: target })).toEqual({ ok: true, value: { replicas: want, observed } });
});

interface TotalCase {
  readonly what: string;
  readonly kind: "value" | "average";
  readonly total: number;
  readonly target: number;
  readonly current: number;
  readonly status?: number;
  readonly pods?: string;
  readonly want: number;
  readonly tolerance?: number;
}

const totalCases: readonly TotalCase[] = [
  { what: "a value grows with load", kind: "value", total: 20000, target: 15000, current: 3, want: 4 },
  {
    what: "a value counts serving pods only",
    kind: "value",
    total: 50000,
    target: 10000,
    current: 3,
    pods: "uru",
    want: 5,
  },
  { what: "a value shrinks with load", kind: "value", total: 12000, target: 20000, current: 5, want: 3 },
  { what: "a value stays within 10 %", kind: "value", total: 20666, target: 20000, current: 3, want: 3 },
  {
    what: "a value follows 3 % with a tolerance of 1 %",
    kind: "value",
    total: 20666,
    target: 20000,
    current: 3,
    want: 4,
    tolerance: 0.01,
  },
  {
    what: "a value with few serving pods can shrink under load",
    kind: "value",
    total: 8600,
    target: 4400,
    current: 3,
    pods: "uru",
    want: 2,
  },
  { what: "a value leaves zero without tolerance", kind: "value", total: 10500, target: 10000, current: 0, want: 2 },
  { what: "a value of nothing stays at zero", kind: "value", total: 0, target: 10000, current: 0, want: 0 },
  {
    what: "a huge value ends at the largest count",
    kind: "value",
    total: 9e15,
    target: 1,
    current: 3,
    want: 2_147_483_647,
  },
  { what: "an average grows with load", kind: "average", total: 20000, target: 5000, current: 3, want: 4 },
  { what: "an average shrinks with load", kind: "average", total: 6000, target: 2000, current: 5, want: 3 },
  { what: "an average stays within 10 %", kind: "average", total: 20166, target: 5000, current: 4, want: 4 },
  {
    what: "an average follows 1 % with a tolerance of 1 %",
    kind: "average",
    total: 20206,
    target: 5000,
    current: 4,
    want: 5,
    tolerance: 0.01,
  },
  { what: "an average of external sums grows", kind: "average", total: 8600, target: 2150, current: 3, want: 4 },
  { what: "an average of external sums shrinks", kind: "average", total: 8600, target: 2867, current: 5, want: 3 },
  {
    what: "an average is over the replicas that exist",
    kind: "average",
    total: 8000,
    target: 2000,
    current: 9,
    status: 4,
    want: 4,
  },
  {
    what: "an average with no replica at all asks for what the load needs",
    kind: "average",
    total: 8000,
    target: 3000,
    current: 0,
    status: 0,
    want: 3,
  },
];

test.each(totalCases)("$what", ({ kind, total, target, current, status, pods, want, tolerance }) => {
  const proposal = totalReplicas({
    current,
    statusReplicas: status ?? current,
    pods: podsOf(pods ?? "r".repeat(current)),
    totalMilli: total,
    target: { kind, milli: target },
    tolerances: { up: tolerance ?? 0.1, down: tolerance ?? 0.1 },
  });
  expect(proposal).toMatchObject({ ok: true, value: { replicas: want } });
});

interface Vector {
  readonly k: string;
  readonly cur: number;
  readonly stat: number;
  readonly tol: readonly [number, number];
  readonly target: number;
  readonly total?: number;
  readonly pods: readonly {
    readonly n: string;
    readonly ph: HpaPod["phase"];
    readonly req: number;
    readonly del?: true;
    readonly st?: number;
    readonly rd?: readonly ["True" | "False" | "Unknown", number];
  }[];
  readonly m: Readonly<Record<string, readonly [number, number, number]>>;
  readonly want?: number;
  readonly obs?: number;
}

const golden = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/fallbacks/hpa.json", import.meta.url), "utf8"),
) as { readonly replicas: readonly Vector[] };

const metricOf = ({ k, target }: Vector): HpaMetric => {
  if (k === "cpuUtil" || k === "memUtil")
    return {
      type: "resource",
      resource: k === "cpuUtil" ? "cpu" : "memory",
      target: { kind: "utilization", percent: target },
    };
  if (k === "cpuAvg") return { type: "resource", resource: "cpu", target: { kind: "average", milli: target } };
  if (k === "podsAvg") return { type: "pods", name: "m", target: { kind: "average", milli: target } };
  const kind = k.endsWith("Value") ? "value" : "average";
  return { type: k.startsWith("obj") ? "object" : "external", name: "m", target: { kind, milli: target } };
};

test("240 random inputs get the answers that Kubernetes gave", () => {
  expect(golden.replicas).toHaveLength(240);
  for (const [index, vector] of golden.replicas.entries()) {
    const config = parseHpaConfig({
      minReplicas: 1,
      maxReplicas: 10_000,
      metrics: [metricOf(vector)],
      // Rules that let everything through: what is left is the calculator.
      behavior: {
        scaleUp: { tolerance: vector.tol[0], policies: [{ type: "Pods", value: 100_000, period: seconds(15) }] },
        scaleDown: { tolerance: vector.tol[1], stabilization: seconds(0) },
      },
    });
    if (!config.ok) throw new Error(config.failure.message);
    const pods = vector.pods.map(
      ({ n, ph, req, del, st, rd }): HpaPod => ({
        name: n,
        phase: ph,
        ...(del && { isDeleting: del }),
        ...(st !== undefined && { startedAt: milliseconds(now + st * 1000) }),
        ...(rd && { ready: { status: rd[0], since: milliseconds(now + rd[1] * 1000) } }),
        containers: [{ name: "c", requests: { cpu: millicores(req), memory: bytes(req) } }],
      }),
    );
    const perPod: Record<string, PodReading> = {};
    for (const [pod, [milli, at, window]] of Object.entries(vector.m))
      perPod[pod] = { milli, at: milliseconds(now + at * 1000), window: seconds(window) };
    const reading: HpaReading =
      vector.total === undefined ? { kind: "per-pod", pods: perPod } : { kind: "total", milli: vector.total };
    // A workload that the HPA itself took to zero may come back, which is what the calculator alone does.
    const state = { ...freshHpaState, scaledToZero: true };
    const step = hpaStep(config.value, state, {
      now,
      replicas: vector.cur,
      statusReplicas: vector.stat,
      pods,
      readings: [reading],
    });
    const proposal = step.reasons.find(({ kind }) => kind === "metric") as ReplicaProposal | undefined;
    expect({ index, kind: vector.k, replicas: proposal?.replicas }).toEqual({
      index,
      kind: vector.k,
      replicas: vector.want,
    });
    if (vector.obs !== undefined)
      expect({ index, observed: proposal?.observed }).toEqual({ index, observed: vector.obs });
  }
});
