/** Priorities are facts of the upstream tests (kubernetes/autoscaler 55c37cd5eb), reworded; budgets are worked out by hand. */
import { describe, expect, test } from "vitest";
import type { Ms } from "../../../base/index.ts";
import { bytes, cores, milliseconds, minutes, seconds } from "../../../base/index.ts";
import type { Resources, UpdaterConfig, VpaPolicies } from "./config.ts";
import { defaultUpdaterConfig } from "./config.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import type { ResizeStatus, UpdaterContainer, UpdaterPod } from "./update-order.ts";
import { updatePriority } from "./update-order.ts";
import type { UpdaterState } from "./updater.ts";
import { freshUpdaterState, vpaUpdaterDecide } from "./updater.ts";

const now = milliseconds(1_700_000_000_000);
const ago = (ms: Ms): Ms => milliseconds(now - ms);
const hours = (n: number): Ms => minutes(60 * n);
const megabytes = (n: number) => bytes(n * 1e6);

/** Cores and megabytes; without bounds of their own the bounds are open. */
function advice(
  target: readonly [cpu: number, memory?: number],
  bounds: { lower?: readonly [number, number?]; upper?: readonly [number, number?]; container?: string } = {},
): ContainerRecommendation {
  const resources = ([cpu, memory]: readonly [number, number?]): Partial<Resources> => ({
    cpu: cores(cpu),
    ...(memory !== undefined && { memory: megabytes(memory) }),
  });
  const lower = bounds.lower ? resources(bounds.lower) : {};
  const upper = bounds.upper ? resources(bounds.upper) : {};
  return { container: bounds.container ?? "c", target: resources(target), lower, upper, uncapped: resources(target) };
}

const containerOf = (cpu?: number, memory?: number, name = "c"): UpdaterContainer => ({
  name,
  requests: {
    ...(cpu !== undefined && { cpu: cores(cpu) }),
    ...(memory !== undefined && { memory: megabytes(memory) }),
  },
});

interface PodGiven extends Partial<UpdaterPod> {
  readonly cpu?: number;
}
const podOf = (name: string, { cpu = 1, ...rest }: PodGiven = {}): UpdaterPod => ({
  name,
  startedAt: ago(hours(24)),
  containers: [containerOf(cpu)],
  ...rest,
});
const podsOf = (count: number, given: PodGiven = {}): UpdaterPod[] =>
  Array.from({ length: count }, (_, index) => podOf(`p${index}`, given));

interface Given {
  readonly pods: readonly UpdaterPod[];
  readonly configured?: number;
  readonly recommendation?: readonly ContainerRecommendation[];
  readonly config?: Partial<UpdaterConfig>;
  readonly state?: UpdaterState;
  readonly policies?: VpaPolicies;
  readonly at?: Ms;
}
const decide = ({ pods, configured, recommendation, config, state, policies, at }: Given) =>
  vpaUpdaterDecide({ ...defaultUpdaterConfig, ...config }, state ?? freshUpdaterState, {
    now: at ?? now,
    pods,
    configuredReplicas: configured ?? pods.length,
    recommendation: recommendation ?? [advice([10])],
    ...(policies && { policies }),
  });

describe("the priority of a pod", () => {
  test.each([
    { what: "that should grow", requests: [2], target: [10], change: 4, grows: true, outside: false },
    { what: "that should shrink", requests: [4], target: [2], change: 0.5, grows: false, outside: false },
    { what: "that fits", requests: [2], target: [2], change: 0, grows: false, outside: false },
    { what: "in millicores", requests: [0.01], target: [0.9], change: 89, grows: true, outside: false },
    {
      what: "below its range",
      requests: [4],
      target: [10],
      lower: [6],
      upper: [14],
      change: 1.5,
      grows: true,
      outside: true,
    },
    {
      what: "above its range",
      requests: [8],
      target: [2],
      lower: [1],
      upper: [3],
      change: 0.75,
      grows: false,
      outside: true,
    },
    { what: "sums its resources", requests: [3, 10], target: [6, 20], change: 2, grows: true, outside: false },
    {
      what: "grows if one resource does",
      requests: [4, 10],
      target: [2, 20],
      change: 1.5,
      grows: true,
      outside: false,
    },
    { what: "with both shrinking", requests: [4, 20], target: [2, 10], change: 1, grows: false, outside: false },
    {
      what: "is outside if one resource is",
      requests: [4, 20],
      target: [2, 10],
      lower: [1, 5],
      upper: [3, 30],
      change: 1,
      grows: false,
      outside: true,
    },
  ] as const)("$what", ({ requests, target, change, grows, outside, ...bounds }) => {
    const pod = podOf("p", { containers: [containerOf(...requests)] });
    expect(updatePriority(pod, { recommendation: [advice(target, bounds)] })).toEqual({
      change,
      grows,
      isOutsideRange: outside,
    });
  });

  test("compares the sums of its containers", () => {
    // 1 + 2 requested, 4 + 8 recommended: 9/3
    const pod = podOf("p", { containers: [containerOf(1), containerOf(2, undefined, "d")] });
    const recommendation = [advice([4]), advice([8], { container: "d" })];
    expect(updatePriority(pod, { recommendation }).change).toBe(3);
  });

  test("without a request counts as outside its range", () => {
    const pod = podOf("p", { containers: [containerOf()] });
    expect(updatePriority(pod, { recommendation: [advice([1])] })).toMatchObject({ grows: true, isOutsideRange: true });
  });

  test("with only requests controlled stops at the limit", () => {
    const pod = podOf("p", { containers: [{ ...containerOf(2), limits: { cpu: cores(4) } }] });
    const policies = { c: { controlledValues: "RequestsOnly" as const } };
    expect(updatePriority(pod, { recommendation: [advice([10])], policies }).change).toBe(1);
  });
});

describe("order", () => {
  test("is by the size of the change", () => {
    const pods = [podOf("a", { cpu: 2 }), podOf("b", { cpu: 4 }), podOf("c", { cpu: 1 }), podOf("d", { cpu: 3 })];
    expect(decide({ pods, config: { evictionTolerance: 1 } }).evict).toEqual(["c", "a", "d", "b"]);
  });

  test("puts growth before shrinking", () => {
    const pods = [podOf("a", { cpu: 4 }), podOf("b", { cpu: 8 }), podOf("c", { cpu: 10 })];
    expect(decide({ pods, recommendation: [advice([5])], config: { evictionTolerance: 1 } }).evict).toEqual([
      "a",
      "c",
      "b",
    ]);
  });
});

describe("a pod is updated", () => {
  const inside = { lower: [0.5], upper: [3] } as const;
  const whyOf = (given: PodGiven, recommendation: ContainerRecommendation, policies?: VpaPolicies): string => {
    const decision = decide({
      pods: [podOf("p", given), podOf("q", { cpu: 1, startedAt: now })],
      recommendation: [recommendation],
      ...(policies && { policies }),
    });
    return decision.evict.includes("p") ? "updated" : (decision.left.find(({ pod }) => pod === "p")?.why ?? "lost");
  };
  test.each([
    { what: "at 12 hours with a change of 10 %", startedAt: ago(hours(12)), target: 1.1, why: "updated" },
    { what: "not before 12 hours", startedAt: milliseconds(ago(hours(12)) + 1), target: 1.1, why: "within-range" },
    { what: "not for less than 10 %", startedAt: ago(hours(48)), target: 1.099, why: "within-range" },
  ])("$what, inside its range", ({ startedAt, target, why }) => {
    expect(whyOf({ startedAt }, advice([target], inside))).toBe(why);
  });

  test("at once outside its range", () => {
    expect(whyOf({ startedAt: now }, advice([2], { lower: [1.5], upper: [3] }))).toBe("updated");
    expect(whyOf({ startedAt: now }, advice([0.5], { lower: [0.2], upper: [0.9] }))).toBe("updated");
  });

  test("not while its start is unknown", () => {
    const pods = [{ name: "p", containers: [containerOf(1)] }, podOf("q", { startedAt: now })];
    expect(decide({ pods, recommendation: [advice([2], inside)] }).left).toContainEqual({
      pod: "p",
      why: "no-start-time",
    });
  });

  const oomAfter = (lived: Ms, cpu = 1): PodGiven => ({
    startedAt: ago(minutes(20)),
    containers: [
      {
        ...containerOf(cpu),
        lastTermination: {
          isOom: true,
          startedAt: ago(minutes(15)),
          finishedAt: milliseconds(ago(minutes(15)) + lived),
        },
      },
    ],
  });
  test("after an OOM kill within ten minutes of its start", () => {
    expect(whyOf(oomAfter(milliseconds(minutes(10) - 1)), advice([1.01], inside))).toBe("updated");
    expect(whyOf(oomAfter(minutes(10)), advice([1.01], inside))).toBe("within-range");
  });
  test("not after an OOM kill when nothing would change", () => {
    expect(whyOf(oomAfter(seconds(5)), advice([1], inside))).toBe("unchanged");
  });
  test("not after an OOM kill of a container that is switched off", () => {
    expect(whyOf(oomAfter(seconds(5)), advice([1.01], inside), { c: { mode: "Off" } })).toBe("within-range");
  });
});

describe("eviction", () => {
  test.each([
    // Alive must stay above configured - trunc(configured · 0.5).
    { what: "half of four", pods: 4, configured: 4, evicted: 2 },
    { what: "half of five, rounded down", pods: 5, configured: 5, evicted: 2 },
    { what: "one of three", pods: 3, configured: 3, evicted: 1 },
    { what: "one of two", pods: 2, configured: 2, evicted: 1 },
    { what: "less when some are missing already", pods: 4, configured: 5, evicted: 1 },
    { what: "none when too many are missing", pods: 3, configured: 6, evicted: 0 },
    { what: "none below two replicas", pods: 1, configured: 1, evicted: 0 },
  ])("takes $what", ({ pods, configured, evicted }) => {
    expect(decide({ pods: podsOf(pods), configured }).evict).toHaveLength(evicted);
  });

  test("takes one when the tolerance rounds to none, and only when all are there", () => {
    const config = { evictionTolerance: 0.1 };
    expect(decide({ pods: podsOf(5), config }).evict).toHaveLength(1);
    expect(decide({ pods: podsOf(4), configured: 5, config }).evict).toHaveLength(0);
  });

  test("takes pending pods without counting them", () => {
    const pods = [
      ...podsOf(4),
      podOf("stuck", { isPending: true, cpu: 0.1 }),
      podOf("stuck2", { isPending: true, cpu: 0.1 }),
    ];
    // running 4 of 6, tolerance 3: 4 > 3 allows one more
    expect(decide({ pods, configured: 6 }).evict).toEqual(["stuck", "stuck2", "p0"]);
  });

  test.each(["Off", "Initial"] as const)("does not happen in mode %s", (mode) => {
    expect(decide({ pods: podsOf(4), config: { mode } })).toMatchObject({ evict: [], resize: [] });
  });

  test("is what Auto means", () => {
    expect(decide({ pods: podsOf(4), config: { mode: "Auto" } }).evict).toHaveLength(2);
  });

  test("gives every pod a reason that is left alone", () => {
    const decision = decide({ pods: podsOf(5) });
    expect(decision.left).toEqual(["p2", "p3", "p4"].map((pod) => ({ pod, why: "budget" })));
  });
});

describe("in place or recreate", () => {
  const config = { mode: "InPlaceOrRecreate" as const };
  const resizing = (resize: ResizeStatus, cpu = 1): UpdaterPod[] => [
    podOf("r", { resize, cpu }),
    ...podsOf(3, { cpu: 10 }),
  ];

  test("resizes as many as it might evict", () => {
    expect(decide({ pods: podsOf(4), config })).toMatchObject({ resize: ["p0", "p1"], evict: [] });
  });

  test("leaves a pending pod to the scheduler", () => {
    const decision = decide({ pods: [...podsOf(3, { cpu: 10 }), podOf("wait", { isPending: true })], config });
    expect(decision.left).toContainEqual({ pod: "wait", why: "pending" });
  });

  test.each([
    { resize: "deferred", after: minutes(5), evicts: false },
    { resize: "deferred", after: milliseconds(minutes(5) + 1), evicts: true },
    { resize: "in-progress", after: hours(1), evicts: false },
    { resize: "in-progress", after: milliseconds(hours(1) + 1), evicts: true },
    { resize: "infeasible", after: milliseconds(0), evicts: true },
    { resize: "error", after: milliseconds(0), evicts: true },
    { resize: "unknown", after: milliseconds(0), evicts: true },
  ] as const)("a resize that is $resize for $after ms is evicted: $evicts", ({ resize, after, evicts }) => {
    const first = decide({ pods: resizing(resize), config });
    const later = decide({
      pods: resizing(resize),
      config,
      state: JSON.parse(JSON.stringify(first.state)) as UpdaterState,
      at: milliseconds(now + after),
    });
    expect(later.evict).toEqual(evicts ? ["r"] : []);
    if (!evicts) expect(later.left).toContainEqual({ pod: "r", why: "resizing" });
  });

  test("does not evict a failed resize beyond the budget", () => {
    const pods = [podOf("r", { resize: "infeasible" }), ...podsOf(2)];
    expect(decide({ pods, configured: 6, config }).evict).toEqual([]);
  });

  test("can leave the budget out for resizes that restart nothing", () => {
    const restarting = podOf("x", { containers: [{ ...containerOf(1), restartsOnResize: true }] });
    const skip = { ...config, inPlaceSkipsBudget: true };
    expect(decide({ pods: podsOf(4), config: skip }).resize).toHaveLength(4);
    expect(decide({ pods: podsOf(1), config: skip }).resize).toEqual(["p0"]);
    expect(decide({ pods: [restarting], configured: 3, config: skip })).toMatchObject({ resize: [], evict: [] });
  });
});

describe("in place only", () => {
  const config = { mode: "InPlace" as const };
  test("never evicts", () => {
    const decision = decide({ pods: [podOf("r", { resize: "infeasible" }), ...podsOf(3)], config });
    expect(decision.evict).toEqual([]);
    expect(decision.resize).toContain("r");
  });

  test("asks an infeasible pod again only when some amount is lower", () => {
    const pods = [podOf("r", { resize: "infeasible" }), ...podsOf(3, { cpu: 10 })];
    const first = decide({ pods, config, recommendation: [advice([8, 100])] });
    const again = (target: readonly [number, number]) =>
      decide({ pods, config, state: first.state, recommendation: [advice(target)] }).left.some(
        ({ why }) => why === "infeasible-before",
      );
    expect(again([8, 100])).toBe(true);
    expect(again([9, 100])).toBe(true);
    expect(again([9, 99])).toBe(false);
  });

  test("forgets pods that are gone", () => {
    const first = decide({ pods: [podOf("r", { resize: "infeasible" }), ...podsOf(3)], config });
    expect(Object.keys(first.state.infeasible)).toEqual(["r"]);
    expect(decide({ pods: podsOf(3), config, state: first.state }).state.infeasible).toEqual({});
  });
});

test("a recommendation of nothing changes nothing", () => {
  const decision = decide({ pods: podsOf(4), recommendation: [] });
  expect(decision).toMatchObject({ evict: [], resize: [] });
  expect(decision.left.every(({ why }) => why === "within-range")).toBe(true);
});
