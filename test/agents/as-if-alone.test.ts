import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../src/act/index.ts";
import type { WorkloadId } from "../../src/base/index.ts";
import { mebibytes, millicores, milliseconds, perSecond, ratio, seconds, unwrap } from "../../src/base/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../src/control/fallbacks/index.ts";
import { FallbackSlot } from "../../src/control/lifecycle/fallback-slot.ts";
import { aloneAfter, readingAsIf, sizesThereAre } from "../../src/control/tasks/pods/as-if-alone.ts";
import type { PodReading, WorkloadReading } from "../../src/observe/telemetry/index.ts";

const sizes = (replicas: number, cpu: number, memory = 256): Allocation => ({
  replicas,
  cpu: millicores(cpu),
  memory: mebibytes(memory),
});

interface Given {
  readonly spec: Allocation;
  /** Millicores that each pod uses; null: its sample is missing. */
  readonly cpu: readonly (number | null)[];
  readonly memory?: number | null;
  /** Pods from this one on are not ready. */
  readonly ready?: number;
  readonly ooms?: readonly number[];
  readonly now?: number;
}

function reading({ spec, cpu, memory = 128, ready = cpu.length, ooms = [], now = 1_000 }: Given): WorkloadReading {
  const pods = cpu.map(
    (used, i): PodReading => ({
      pod: `p${i}`,
      createdAt: seconds(i),
      readyAt: i < ready ? seconds(10) : null,
      cpuLimit: spec.cpu,
      memoryLimit: spec.memory,
      cpu: used === null ? null : millicores(used),
      memory: memory === null ? null : mebibytes(memory),
      restarts: 0,
    }),
  );
  return {
    workload: "shop" as WorkloadId,
    at: seconds(now - 15),
    spec,
    pods,
    use: { cpu: ratio(0.25), memory: ratio(0.5), io: ratio(0.1), network: ratio(0.2) },
    latency: milliseconds(50),
    offered: perSecond(20),
    completed: perSecond(20),
    failed: perSecond(0),
    ooms: ooms.map((limit) => ({ pod: "p0", at: seconds(now - 20), memoryLimit: mebibytes(limit) })),
  };
}

describe("a reading as if the fallback had been alone", () => {
  test("has the same work in its own pods: of three at 200 it is two at 300", () => {
    const given = reading({ spec: sizes(3, 400), cpu: [100, 200, 300] });
    const seen = readingAsIf(sizes(2, 1000, 512), given);
    expect(seen.pods.map(({ pod, cpu, cpuLimit, memoryLimit }) => ({ pod, cpu, cpuLimit, memoryLimit }))).toEqual([
      { pod: "p0", cpu: 300, cpuLimit: 1000, memoryLimit: mebibytes(512) },
      { pod: "p1", cpu: 300, cpuLimit: 1000, memoryLimit: mebibytes(512) },
    ]);
    // 300 of 1,000 millicores and 128 of 512 MiB; what is not about pods is as it was measured.
    expect(seen).toEqual({
      ...given,
      spec: sizes(2, 1000, 512),
      pods: seen.pods,
      use: { ...given.use, cpu: 0.3, memory: 0.25 },
    });
  });

  test("has pods that are not there under names of their own, ready as long as those that are", () => {
    const seen = readingAsIf(sizes(5, 300), reading({ spec: sizes(2, 900), cpu: [600, 400] }));
    expect(new Set(seen.pods.map(({ pod }) => pod)).size).toBe(5);
    expect(seen.pods.map(({ cpu }) => cpu)).toEqual(new Array(5).fill(200));
    expect(seen.pods.every(({ readyAt }) => readyAt === seconds(10))).toBe(true);
    // The first and the third are like p0, the second and the fourth like p1.
    expect(seen.pods.map(({ createdAt }) => createdAt)).toEqual([0, 1, 0, 1, 0].map((at) => seconds(at)));
  });

  test("where count and CPU are its own differs in memory only", () => {
    const given = reading({ spec: sizes(3, 400, 128), cpu: [100, null, 300], memory: 64, ready: 2 });
    const seen = readingAsIf(sizes(3, 400, 256), given);
    expect(seen.pods).toEqual(given.pods.map((pod) => ({ ...pod, memoryLimit: mebibytes(256) })));
    expect(seen.use).toEqual({ ...given.use, memory: 0.25 });
    // Pods that have not got their size yet are not alike.
    const [first, ...others] = given.pods as [PodReading, ...PodReading[]];
    const late = { ...given, pods: [{ ...first, cpuLimit: millicores(800) }, ...others] };
    expect(readingAsIf(sizes(3, 400, 256), late).pods.map(({ cpuLimit }) => cpuLimit)).toEqual([400, 400, 400]);
  });

  test("takes a pod without a sample to work as hard as the others, and none with one for not known", () => {
    const [own, spec] = [sizes(2, 600), sizes(3, 400)];
    expect(readingAsIf(own, reading({ spec, cpu: [100, null, 300] })).pods.map(({ cpu }) => cpu)).toEqual([300, 300]);
    const unknown = readingAsIf(own, reading({ spec, cpu: [null, null, null], memory: null }));
    expect(unknown.pods.map(({ cpu }) => cpu)).toEqual([null, null]);
    expect(unknown.use).toMatchObject({ cpu: null, memory: null });
  });

  test("counts the work of pods that are ready, and shares none where no pod is", () => {
    const [own, spec] = [sizes(2, 600), sizes(3, 400)];
    const one = readingAsIf(own, reading({ spec, cpu: [500, 900, 900], ready: 1 }));
    expect(one.pods.map(({ cpu }) => cpu)).toEqual([250, 250]);
    const given = reading({ spec, cpu: [10, 10, 10], ready: 0 });
    expect(readingAsIf(own, given).pods.map(({ pod, readyAt, cpu }) => [pod, readyAt, cpu])).toEqual(
      given.pods.map(({ pod, readyAt, cpu }) => [pod, readyAt, cpu]),
    );
  });

  test("has no kill of a pod that had less memory than it would give", () => {
    const seen = readingAsIf(
      sizes(2, 400, 256),
      reading({ spec: sizes(2, 400), cpu: [1, 1], ooms: [128, 255, 256, 300] }),
    );
    expect(seen.ooms.map(({ memoryLimit }) => memoryLimit)).toEqual([mebibytes(256), mebibytes(300)]);
  });

  test("conserves the work, whoever has how many pods", () => {
    const pods = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(pods, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 100, max: 2_000 }), (cpu, count, limit) => {
        const seen = readingAsIf(sizes(count, limit), reading({ spec: sizes(cpu.length, 500), cpu }));
        const work = cpu.reduce((sum, used) => sum + used, 0);
        expect(seen.pods.reduce((sum, pod) => sum + (pod.cpu ?? Number.NaN), 0)).toBeCloseTo(work);
        expect(seen.pods).toHaveLength(count);
        expect(new Set(seen.pods.map(({ pod }) => pod)).size).toBe(count);
      }),
      { numRuns: 300 },
    );
  });
});

describe("what there would be", () => {
  const before = sizes(3, 400, 200);
  const want = sizes(5, 600, 300);

  test("has the new size only once pods are to take it, and the new count at once", () => {
    expect(aloneAfter(before, { want, followers: [] })).toEqual(sizes(5, 400, 200));
    expect(aloneAfter(before, { want, followers: ["a"] })).toEqual(want);
    expect(aloneAfter(before, { want })).toEqual(want);
    expect(aloneAfter(before, { want: {}, followers: [] })).toEqual(before);
  });

  test("begins with the size of the pod that was there first, since what is asked for may be newer", () => {
    const given = reading({ spec: sizes(2, 400, 256), cpu: [1, 1] });
    const [one, two] = given.pods as [PodReading, PodReading];
    const old = {
      ...two,
      createdAt: milliseconds(one.createdAt - 1),
      cpuLimit: millicores(300),
      memoryLimit: mebibytes(128),
    };
    expect(sizesThereAre({ ...given, pods: [one, old] }, sizes(2, 400, 256))).toEqual(sizes(2, 300, 128));
    expect(sizesThereAre({ ...given, pods: [] }, sizes(2, 400, 256))).toEqual(sizes(2, 400, 256));
  });
});

describe("HPA and VPA beside a learner that halved the replicas", () => {
  const template = { cpu: millicores(1000), memory: mebibytes(256) };
  // The VPA may give no other CPU, so that what follows can be worked out by hand.
  const bounds = {
    cpu: { min: template.cpu, max: template.cpu },
    memory: { min: mebibytes(64), max: mebibytes(1024) },
  };
  const hpa = unwrap(parseHpaConfig({ maxReplicas: 20 }));
  // 6,400 millicores of work: eight pods of 1,000 are at the target of 80 %, and so are four of 2,000.
  const alone = (now: number) => reading({ spec: sizes(8, 1000), cpu: new Array<number>(8).fill(800), now });
  const learners = (now: number) => reading({ spec: sizes(4, 2000), cpu: new Array<number>(4).fill(1600), now });

  /** Ten minutes alone, then beside the learner until long after what was wanted before is forgotten (five minutes). */
  function finalWish(isTakeover: boolean): Partial<Allocation> | undefined {
    const slot = new FallbackSlot(hpaVpaController({ hpa, template, bounds }));
    let wish: Partial<Allocation> | undefined;
    for (let now = 1_000; now < 2_200; now += 15) {
      const isAlone = now < 1_600;
      const given = isAlone ? alone(now) : learners(now);
      wish = slot.ask({
        reading: given,
        have: given.spec,
        now: seconds(now),
        isTakeover: isTakeover && !isAlone,
        asIf: { reading: readingAsIf, after: aloneAfter, found: sizesThereAre },
      })?.fallback.want;
      if (isAlone) expect(wish).toMatchObject({ replicas: 8, cpu: 1000 });
    }
    return wish;
  }

  test("shown its pods they are content with four, of their own size: half of the CPU that they had", () => {
    expect(finalWish(false)).toMatchObject({ replicas: 4, cpu: 1000 });
  });

  test("asked as if they had been alone they keep their own count", () => {
    expect(finalWish(true)).toMatchObject({ replicas: 8, cpu: 1000 });
  });
});
