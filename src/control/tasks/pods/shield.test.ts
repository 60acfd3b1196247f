import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Allocation } from "../../../act/index.ts";
import { dimensions } from "../../../act/index.ts";
import type { WorkloadId } from "../../../base/index.ts";
import { mebibytes, millicores, milliseconds, perSecond, ratio } from "../../../base/index.ts";
import type { WorkloadReading } from "../../../observe/telemetry/index.ts";
import type { AutoscaleTask, Observation } from "./index.ts";
import type { ShieldInput, ShieldOptions } from "./shield.ts";
import {
  coresOf,
  defaultShield,
  isNear,
  nearness,
  noShield,
  podShield,
  shielded,
  shieldOf,
  steadied,
} from "./shield.ts";

const sizes = (replicas: number, cpu: number, memory: number): Allocation => ({
  replicas,
  cpu: millicores(cpu),
  memory: mebibytes(memory),
});

/** The margin of a latency that is this share of its target. */
const marginAt = (pressure: number) => (1 - pressure) / (1 + pressure);

function observed(pressure: number, held: Observation["held"] = [], needed = 0): ShieldInput["observation"] {
  const preservation = Math.min(1, 1 / pressure);
  const measures = { cpu: 0.5, memory: 0.5, io: 0, network: 0, preservation, margin: marginAt(pressure), load: 10 };
  return { measures, held, demand: { cores: 1000, memory: needed } };
}

function reading(memoryUsed: number, change: Partial<WorkloadReading> = {}): WorkloadReading {
  const memoryLimit = mebibytes(400);
  const pod = {
    pod: "a",
    createdAt: milliseconds(0),
    readyAt: milliseconds(0),
    cpuLimit: millicores(500),
    memoryLimit,
    cpu: millicores(250),
    memory: mebibytes(memoryUsed),
    restarts: 0,
  };
  return {
    workload: "shop" as WorkloadId,
    at: milliseconds(0),
    spec: sizes(4, 500, 400),
    pods: [pod, { ...pod, pod: "b", memory: null }, { ...pod, pod: "c" }, { ...pod, pod: "d" }],
    use: { cpu: ratio(0.5), memory: ratio(0.5), io: ratio(0), network: ratio(0) },
    latency: milliseconds(50),
    offered: perSecond(10),
    completed: perSecond(10),
    failed: perSecond(0),
    ooms: [],
    ...change,
  };
}

const bounds = {
  replicas: { min: 1, max: 16 },
  cpu: { min: millicores(100), max: millicores(1600) },
  memory: { min: mebibytes(64), max: mebibytes(1024) },
};

const have = sizes(4, 500, 400);
const fallback = sizes(6, 300, 300);
const want = sizes(2, 400, 200);
const experience = { usualNearness: 0.6, excess: 0, sinceShrink: 100, missedLately: 0 };
const input = (change: Partial<ShieldInput> = {}): ShieldInput => ({
  task: { bounds, actions: "limits" },
  want,
  have,
  fallback,
  reading: reading(100),
  observation: observed(0.5),
  experience,
  ...change,
});

/** A shield that lets two steps of violation be risked for CPU, and gives a tenth more than the fallback. */
const generous: ShieldOptions = { ...defaultShield, thrift: { allowance: 2 }, ceiling: { times: 1.1, trouble: null } };
/** The rules that know floors only, where a wish may fall far in one step. */
const floors: ShieldOptions = { ...generous, descent: null, ceiling: null };

describe("the shield", () => {
  test("lets a wish pass that goes down by a small part while all is well", () => {
    // 1,720 of 2,000 millicores are 86 %, and the fallback would give 300 MiB.
    const modest = sizes(4, 430, 300);
    expect(shielded(input({ want: modest }), generous)).toEqual({ allocation: modest, changed: [] });
  });

  test("gives the fallback's CPU by default, no more and no less, and leaves memory to the wish", () => {
    const given = (wish: Allocation) => shielded(input({ want: wish, fallback: have }), defaultShield);
    expect(given(sizes(4, 500, 350))).toEqual({ allocation: sizes(4, 500, 350), changed: [] });
    // 1,800 of 2,000 millicores are not too much to take at once; they are taken from nobody all the same.
    expect(given(sizes(4, 450, 350))).toEqual({ allocation: sizes(4, 500, 350), changed: ["savings-spent"] });
    expect(given(sizes(3, 600, 350)).allocation).toEqual(sizes(4, 500, 350));
    expect(given(sizes(8, 600, 450))).toEqual({ allocation: have, changed: ["more-than-enough"] });
  });

  test("with the SLO missed raises each value to the fallback's, and keeps what is higher", () => {
    const shield = shielded(input({ observation: observed(1.01) }), floors);
    expect(shield).toEqual({ allocation: sizes(6, 400, 300), changed: ["slo-missed"] });
  });

  test("near the SLO lets nothing shrink further than the fallback would", () => {
    // Usual is 0.6, so near is from 0.8 on. The lower of what is there and what the fallback wants: 4 and 300.
    expect(shielded(input({ observation: observed(0.81) }), floors)).toEqual({
      allocation: sizes(4, 400, 200),
      changed: ["slo-near"],
    });
    expect(shielded(input({ observation: observed(0.79) }), floors).changed).toEqual([]);
  });

  test.each([
    ["out-of-memory", { ooms: [{ pod: "a", at: milliseconds(0), memoryLimit: mebibytes(400) }] }, 100],
    ["memory-near-limit", {}, 361],
  ] as const)("raises to the fallback's on %s", (rule, change, used) => {
    const shield = shielded(input({ reading: reading(used, change) }), { ...floors, memoryMargin: null });
    expect(shield).toEqual({ allocation: sizes(6, 400, 300), changed: [rule] });
  });

  test("raises to the fallback's where a measurement had to be taken from before", () => {
    const { changed } = shielded(input({ observation: observed(0.5, ["cpu"]) }), floors);
    expect(changed).toEqual(["measurements-missing"]);
  });

  test("gives no pod less memory than pods needed lately and some more, or than the fallback would give", () => {
    const having = (peak: number) =>
      shielded(input({ want: sizes(2, 400, 100), observation: observed(0.5, [], mebibytes(peak)) }), floors);
    expect(having(200)).toEqual({ allocation: sizes(2, 400, 260), changed: ["memory-needed"] });
    expect(having(900)).toEqual({ allocation: sizes(2, 400, 300), changed: ["memory-needed"] });
  });

  test("lets nobody go below the fallback's CPU once more violations were had than it would have had", () => {
    const having = (excess: number) => shielded(input({ experience: { ...experience, excess } }), floors);
    expect(having(1.9)).toEqual({ allocation: want, changed: [] });
    // Memory is not what was overspent.
    expect(having(2)).toEqual({ allocation: sizes(6, 400, 200), changed: ["savings-spent"] });
  });

  test("switched off does nothing at all", () => {
    const terrible = { usualNearness: 0.6, excess: 99, sinceShrink: 0, missedLately: 0 };
    const worst = input({
      observation: observed(3, ["cpu"], mebibytes(900)),
      reading: reading(399),
      experience: terrible,
    });
    expect(shielded(worst, noShield)).toEqual({ allocation: want, changed: [] });
  });
});

describe("the shield of an owner", () => {
  const free = sizes(2, 900, 300);
  const under = (risk: number, excess: number) =>
    shielded(
      input({
        want: sizes(2, 700, 300),
        have: sizes(2, 800, 300),
        fallback: free,
        experience: { ...experience, excess },
      }),
      shieldOf({ risk }),
    ).allocation;

  test("who risks nothing leaves CPU to the fallback, whatever was saved", () => {
    expect(under(0, 0)).toEqual(free);
    expect(under(0, -5)).toEqual(free);
    expect(shielded(input({ want: sizes(3, 900, 300), fallback: free }), shieldOf({ risk: 0 })).allocation).toEqual(
      free,
    );
  });

  test("who risks something lets the learner decide, down until it is spent and up by a tenth", () => {
    expect(under(2, 1.9)).toEqual(sizes(2, 700, 300));
    expect(under(2, 2)).toEqual(free);
    const more = input({ want: sizes(2, 990, 300), fallback: free });
    expect(shielded(more, shieldOf({ risk: 2 })).allocation).toEqual(sizes(2, 990, 300));
  });
});

describe("the way down", () => {
  const descent: ShieldOptions = { ...noShield, descent: { part: 0.15, settle: 6 } };
  const three = sizes(3, 1000, 400);
  const down = (change: Partial<ShieldInput>) => shielded(input({ have: three, fallback: three, ...change }), descent);

  test("takes a part of all CPU, so that fewer pods are larger ones", () => {
    // A band of 0.2 around 3 × 1,000 millicores ends at 2 × 692, which is 46 %: 85 % are 2,550, and 1,275 for each of two.
    expect(down({ want: sizes(2, 692, 400) })).toEqual({
      allocation: sizes(2, 1275, 400),
      changed: ["descends-slowly"],
    });
  });

  test("takes one pod at a time, and a part of a pod's memory", () => {
    expect(down({ want: sizes(1, 1600, 64) }).allocation).toEqual(sizes(2, 1600, 340));
  });

  test("takes nothing while what was taken last may not have shown yet", () => {
    const following = (sinceShrink: number) =>
      down({ want: sizes(2, 692, 100), experience: { ...experience, sinceShrink } }).allocation;
    expect(following(5)).toEqual(three);
    expect(following(6)).toEqual(sizes(2, 1275, 340));
  });

  test("leads to the fallback's own values at once, however lately something was taken", () => {
    const lately = { ...experience, sinceShrink: 0, missedLately: 0 };
    const change = { have: sizes(4, 1000, 800), fallback: sizes(2, 500, 300), experience: lately };
    expect(down({ ...change, want: sizes(2, 500, 300) })).toEqual({ allocation: sizes(2, 500, 300), changed: [] });
    expect(down({ ...change, want: sizes(1, 100, 64) }).allocation).toEqual(sizes(2, 500, 300));
  });

  test("leaves pods their size until those that are to help them are ready", () => {
    const waiting = reading(100);
    const [one, two] = waiting.pods as [(typeof waiting.pods)[0], (typeof waiting.pods)[0]];
    const starting = { ...waiting, pods: [one, two, { ...one, pod: "c", readyAt: null }] };
    const change = { have: sizes(2, 800, 400), fallback: sizes(2, 800, 400), want: sizes(3, 500, 400) };
    // 85 % of 1,600 over two pods that are ready, then over three.
    expect(down({ ...change, reading: starting }).allocation).toEqual(sizes(3, 680, 400));
    expect(down(change).allocation).toEqual(sizes(3, 500, 400));
  });

  test("keeps a pod whose work one of the others could not take over", () => {
    const change = { have: sizes(2, 1000, 400), fallback: sizes(2, 1000, 400), want: sizes(1, 1600, 400) };
    // One pod would have to hold 1,700 millicores, and 1,600 are the most.
    expect(down(change).allocation).toEqual(sizes(2, 1600, 400));
  });
});

describe("the ceiling", () => {
  const ceiling: ShieldOptions = { ...noShield, ceiling: { times: 1.1, trouble: null } };
  const change = { want: sizes(12, 500, 1000), fallback: sizes(4, 500, 300) };
  const under = (more: Partial<ShieldInput>) => shielded(input({ ...change, ...more }), ceiling);

  test("is a tenth more than the fallback would give", () => {
    // 2,200 millicores are four pods, and 330 MiB.
    expect(under({})).toEqual({ allocation: sizes(4, 500, 330), changed: ["more-than-enough"] });
    expect(under({ want: sizes(4, 550, 330) })).toEqual({ allocation: sizes(4, 550, 330), changed: [] });
  });

  test("gives way as the SLO is missed: from one step in fifty, up to twice the fallback's at one in ten", () => {
    const limit = (missedLately: number) =>
      shielded(input({ ...change, experience: { ...experience, missedLately } }), {
        ...noShield,
        ceiling: defaultShield.ceiling,
      }).allocation;
    expect(limit(0.02)).toEqual(sizes(4, 500, 300));
    // Half of the way from 0.02 to 0.1: 1.5 times 2,000 millicores and 300 MiB.
    expect(limit(0.06)).toEqual(sizes(6, 500, 450));
    expect(limit(0.1)).toEqual(sizes(8, 500, 600));
    expect(limit(1)).toEqual(sizes(8, 500, 600));
  });

  test("takes pods away before it makes them smaller, and neither below the fallback's", () => {
    // 1.1 × 1,500 millicores are one pod of 1,000; the fallback has two, of 825 then.
    expect(under({ want: sizes(12, 1000, 300), fallback: sizes(2, 750, 300) }).allocation).toEqual(sizes(2, 825, 300));
    // 1.1 × 3,000 are three of 1,000 with what is left of them, and no smaller: the fallback's are of 500.
    expect(under({ want: sizes(12, 1000, 300), fallback: sizes(6, 500, 300) }).allocation).toEqual(sizes(6, 550, 300));
  });

  test("comes after what raises values one by one: many small pods do not become many large ones", () => {
    const many = { want: sizes(12, 100, 300), fallback: sizes(2, 1000, 300), have: sizes(12, 100, 300) };
    const missed = input({ ...many, observation: observed(1.5) });
    // Relief alone would make 12 × 1,000 of it.
    expect(shielded(missed, floors).allocation).toEqual(sizes(12, 1000, 300));
    expect(shielded(missed, { ...floors, ceiling: { times: 1.1, trouble: null } })).toEqual({
      allocation: sizes(2, 1000, 300),
      changed: ["slo-missed", "more-than-enough"],
    });
  });
});

describe("whatever is wished for", () => {
  const cpuOf = ({ replicas, cpu }: Allocation) => ({ replicas, cpu });
  const allocation = fc
    .record({ replicas: fc.integer({ min: 1, max: 16 }), cpu: fc.integer({ min: 100, max: 1600 }) })
    .chain(({ replicas, cpu }) =>
      fc.integer({ min: 64, max: 1024 }).map((memory): Allocation => sizes(replicas, cpu, memory)),
    );
  const situation = fc
    .record({
      want: allocation,
      have: allocation,
      fallback: allocation,
      pressure: fc.integer({ min: 1, max: 30 }).map((tenth) => tenth / 10),
      sinceShrink: fc.integer({ min: 0, max: 12 }),
      excess: fc.integer({ min: -5, max: 5 }),
      missed: fc.integer({ min: 0, max: 4 }),
      peak: fc.integer({ min: 0, max: 1024 }),
      ready: fc.integer({ min: 1, max: 16 }),
    })
    .map(({ pressure, sinceShrink, excess, missed, peak, ready, ...rest }) => {
      const measured = reading(100);
      return input({
        ...rest,
        observation: observed(pressure, [], mebibytes(peak)),
        reading: { ...measured, pods: Array.from({ length: ready }, () => measured.pods[0]!) },
        experience: { usualNearness: 0.6, excess, sinceShrink, missedLately: missed / 20 },
      });
    });
  const always = (check: (one: ShieldInput) => void) => fc.assert(fc.property(situation, check), { numRuns: 2000 });

  test.each([
    ["by default", defaultShield],
    ["where some may be risked", generous],
  ])("%s the floors never lower it, and with the SLO missed nothing is left below the fallback's", (_, shield) => {
    always((one) => {
      const raised = shielded(one, { ...shield, ceiling: null }).allocation;
      const safe = shielded(one, shield).allocation;
      for (const dimension of dimensions) {
        expect(raised[dimension]).toBeGreaterThanOrEqual(one.want[dimension]);
        if (one.observation.measures.preservation < 1)
          expect(safe[dimension]).toBeGreaterThanOrEqual(one.fallback[dimension]);
      }
    });
  });

  test.each([
    ["up to twice its values where the SLO was missed", defaultShield, [1, 1.375, 2, 2, 2]],
    ["a tenth above its values", generous, [1.1, 1.1, 1.1, 1.1, 1.1]],
  ])("the ceiling lowers nothing that is below the fallback's, and ends %s", (_, shield, byMissed) => {
    always((one) => {
      // Missed steps are drawn in twentieths: 0.05 is 3/8 of the way from 0.02 to 0.1.
      const times = byMissed[20 * one.experience.missedLately]! + 1e-9;
      const raised = shielded(one, { ...shield, ceiling: null }).allocation;
      const safe = shielded(one, shield).allocation;
      for (const dimension of dimensions) {
        expect(safe[dimension]).toBeLessThanOrEqual(raised[dimension]);
        expect(safe[dimension]).toBeGreaterThanOrEqual(Math.min(raised[dimension], one.fallback[dimension]));
      }
      expect(coresOf(safe)).toBeLessThanOrEqual(times * coresOf(one.fallback));
      expect(safe.memory).toBeLessThanOrEqual(times * one.fallback.memory);
    });
  });

  test("by default CPU is the fallback's to the millicore, unless the SLO was missed lately: then it is no less", () => {
    always((one) => {
      const { replicas, cpu } = shielded(one, defaultShield).allocation;
      if (one.experience.missedLately === 0) expect({ replicas, cpu }).toEqual(cpuOf(one.fallback));
      expect(replicas).toBeGreaterThanOrEqual(one.fallback.replicas);
      expect(cpu).toBeGreaterThanOrEqual(one.fallback.cpu);
    });
  });

  test("without the ceiling no step takes more from the pods that are ready than a part, or what the fallback would", () => {
    let shrunk = 0;
    always((one) => {
      const { replicas, cpu, memory } = shielded(one, { ...generous, ceiling: null }).allocation;
      const kept = one.experience.sinceShrink >= 6 ? 0.85 : 1;
      const ready = one.reading.pods.length;
      const due = Math.min(kept * coresOf(one.have), coresOf(one.fallback));
      // Pods that are ready cannot be made larger than the largest.
      expect(Math.min(replicas, ready) * cpu).toBeGreaterThanOrEqual(Math.min(due, ready * bounds.cpu.max));
      expect(memory).toBeGreaterThanOrEqual(Math.min(kept * one.have.memory, one.fallback.memory));
      if (replicas * cpu < coresOf(one.have)) shrunk += 1;
    });
    // The property means something only where there is less in the end.
    expect(shrunk).toBeGreaterThan(200);
  });
});

test.each([0.25, 0.8, 1, 2])("nearness is latency over target: %d", (pressure) => {
  expect(nearness(observed(pressure))).toBeCloseTo(pressure);
});

test("nearness of a workload that answers nothing is beyond all measure", () => {
  const { measures } = observed(1);
  expect(nearness({ measures: { ...measures, preservation: 0, margin: -1 } })).toBe(Number.POSITIVE_INFINITY);
});

test("near is half of the way from what is usual to the target, wherever that is", () => {
  const half = (usual: number) => ({ share: 0.5, usual });
  expect(isNear(observed(0.91), half(0.8))).toBe(true);
  expect(isNear(observed(0.89), half(0.8))).toBe(false);
  expect(isNear(observed(0.61), half(0.2))).toBe(true);
  // A fallback that usually misses its SLO leaves no way to go.
  expect(isNear(observed(0.99), half(1.4))).toBe(false);
});

describe("a wish that differs little", () => {
  const demand = { cores: 1000, memory: mebibytes(100) };
  const at = (cpu: number, memory: number, replicas: number) => Float32Array.of(cpu, memory, replicas);

  test("changes nothing, each value by itself", () => {
    // 400 millicores, 256 MiB and 4 replicas are the middles of their ranges.
    const middle = { have: sizes(4, 400, 256), demand, tolerance: 0.05 };
    expect(steadied({ bounds, actions: "limits" }, at(0.04, -0.04, 0), middle)).toEqual(sizes(4, 400, 256));
    // A coordinate of 0.5 is 100·16^0.75 millicores.
    expect(steadied({ bounds, actions: "limits" }, at(0.5, -0.04, 0), middle)).toEqual(sizes(4, 800, 256));
  });

  test("does not flip between two counts of replicas at the edge between them", () => {
    // 16^x: the edge between 4 and 5 is at 4.5 replicas, a coordinate of 0.0850.
    const wish = (x: number, have: number) =>
      steadied({ bounds, actions: "limits" }, at(0, 0, x), { have: sizes(have, 400, 256), demand, tolerance: 0.05 })
        .replicas;
    expect([wish(0.08, 4), wish(0.09, 4), wish(0.13, 4), wish(0.14, 4)]).toEqual([4, 4, 4, 5]);
    expect([wish(0.09, 5), wish(0.08, 5), wish(0.04, 5), wish(0.03, 5)]).toEqual([5, 5, 5, 4]);
  });
});

describe("a wish in multiples of what is needed", () => {
  const multiples = { bounds, actions: "demand" } as const;
  const demand = { cores: 1000, memory: mebibytes(100) };
  const steady = (action: readonly number[], have: Allocation) =>
    steadied(multiples, Float32Array.from(action), { have, demand, tolerance: 0.05 });
  /** 400 millicores are the middle of the sizes; twice the memory is a third of the way to 8 times. */
  const [middle, twice] = [0, 2 / 3 - 1];
  /** So many times the CPU that is needed, on a scale from 1 to 40. */
  const times = (multiple: number) => (2 * Math.log(multiple)) / Math.log(40) - 1;

  test("stays where it is near, each value by itself", () => {
    const have = sizes(4, 400, 200);
    expect(steady([middle + 0.04, twice - 0.04, times(1.6) + 0.04], have)).toEqual(have);
    // 16 / 400 of 4,000 millicores are ten pods of the size that is kept, not of the one that was wished for.
    expect(steady([middle + 0.04, twice, times(4)], have)).toEqual(sizes(10, 400, 200));
    expect(steady([middle, -1, times(1.6)], have)).toEqual(sizes(4, 400, 100));
  });

  test("is followed from beyond the end of the scale, however near the end is", () => {
    // 1,000 MiB are ten times the need, shown as eight times: to wish for eight times is to wish for less.
    expect(steady([middle, 1, times(1.6)], sizes(4, 400, 1000)).memory).toBe(mebibytes(800));
    expect(steady([middle, -1, times(1.6)], sizes(4, 400, 64)).memory).toBe(mebibytes(100));
  });
});

test("near the SLO exploring takes no CPU away; memory is not what latency waits for", () => {
  const task = {} as AutoscaleTask;
  const shield = podShield(task, defaultShield);
  expect(shield.noise).toEqual({ limit: 0.3, upwards: [true, false, true] });
  expect(podShield(task, noShield)).toMatchObject({ noise: null, hasCeiling: false });
});
