import { describe, expect, test } from "vitest";
import type { Limits, Ms, Ratio, Resource } from "../../base/index.ts";
import { resources } from "../../base/index.ts";
import type { InstanceCounters, InstanceReading } from "../../observe/telemetry/index.ts";
import { ResourceEvidence } from "./resource-evidence.ts";

const limits: Limits = { cpu: 2, memory: 4_000, llc: 8, io: 100, network: 100 };
const none = { cpu: 0.3, memory: 0.3, llc: 1, io: 0.3, network: 0.3 };

interface Said {
  readonly second: number;
  readonly use?: Partial<Record<Resource, number>>;
  /** Of a hundred accesses a second. */
  readonly misses?: number;
  readonly limits?: Limits;
}

/** Counters that grow by a hundred accesses a second, of which so many miss. */
function reading(instance: string, { second, use = {}, misses = 10, limits: own = limits }: Said): InstanceReading {
  const counters = {
    ...Object.fromEntries(["cpuUsageSecondsTotal"].map((name) => [name, second])),
    llcHitLocalDram: 1_000_000 + (100 - misses) * second,
    llcMissLocalDram: 1_000_000 + misses * second,
    llcHitRemoteDram: 0,
    llcMissRemoteDram: 0,
  } as InstanceCounters;
  return {
    instance,
    service: instance,
    node: "n",
    at: (1_000 * second) as Ms,
    isReady: true,
    limits: own,
    lower: own,
    upper: own,
    threads: 4,
    counters,
    use: Object.fromEntries(resources.map((r) => [r, (use[r] ?? none[r]) as Ratio])) as InstanceReading["use"],
  };
}

function evidenceAfter(disturbed: Omit<Said, "second">, neighbours: Omit<Said, "second"> = {}): ResourceEvidence {
  const evidence = new ResourceEvidence();
  for (let second = 1; second <= 10; second++)
    evidence.read(
      ["a", "b", "c"].map((name) => reading(name, { second })),
      { isCalm: true },
    );
  // Counters are sums, so the disturbed ones go on from where they were only roughly; the differences are what counts.
  for (let second = 1_011; second <= 1_020; second++) {
    const said = (name: string) => reading(name, { second, ...(name === "a" ? disturbed : neighbours) });
    evidence.read(["a", "b", "c"].map(said), { isCalm: false });
  }
  return evidence;
}

describe("the resource that an instance lacks", () => {
  test.each(["cpu", "memory", "io", "network"] as const)("is %s when its use rises against its past", (resource) => {
    const found = evidenceAfter({ use: { [resource]: 0.95 } }).of("a", { isWay: false });
    expect(found.resource).toBe(resource);
    expect(found.pressure).toBeGreaterThan(0.5);
    expect(found.pressure).toBeLessThanOrEqual(0.65 + 1e-9);
  });

  test("is cache when more of its accesses miss, though the cache was always full", () => {
    expect(evidenceAfter({ misses: 60 }).of("a", { isWay: false })).toMatchObject({ resource: "llc" });
  });

  test("is not what rises for everybody on the node", () => {
    const busy = { use: { cpu: 0.9 } };
    expect(evidenceAfter({ use: { cpu: 0.9, io: 0.7 } }, busy).of("a", { isWay: false })).toMatchObject({
      resource: "io",
    });
  });

  test("is what is nearest to its limit when nothing rises, and the network when the way to it is slow", () => {
    const steady = evidenceAfter({});
    expect(steady.of("a", { isWay: true }).resource).toBe("network");
    expect(steady.of("a", { isWay: false }).pressure).toBeLessThan(0.05);
  });

  test("is only guessed where telemetry knows nothing of the instance", () => {
    expect(evidenceAfter({}).of("stranger", { isWay: false })).toEqual({ resource: "cpu", pressure: 0, use: null });
  });

  test("is not taken for pressed because its limit was lowered", () => {
    // Half the limit makes 0.6 of what was 0.3.
    const halved = { ...limits, cpu: 1 };
    const found = evidenceAfter({ use: { cpu: 0.6 }, limits: halved }).of("a", { isWay: false });
    expect(found.pressure).toBeLessThan(0.05);
  });

  test("of an instance that is gone is forgotten", () => {
    const evidence = evidenceAfter({ use: { cpu: 0.95 } });
    evidence.read([reading("b", { second: 2_000 })], { isCalm: false });
    expect(evidence.of("a", { isWay: false }).use).toBeNull();
  });
});
