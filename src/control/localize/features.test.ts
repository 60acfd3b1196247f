import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Features,
  featureCount,
  featuresIn,
  type Harm,
  harmIn,
  intensityOf,
  pearson,
  vectorOf,
} from "./features.ts";
import { noDeviation } from "./habits.ts";
import type { InstanceTimes, RequestTimes, WayTimes } from "./trace-window.ts";

const times = (...values: number[]): Float64Array => Float64Array.from(values);

const request = (totalUs: Float64Array, normalTotalUs: number | null, ways: readonly WayTimes[] = []) => ({
  request: "root/op",
  operation: "op",
  totalUs,
  normalTotalUs,
  ways,
});

const instance = (ownUs: Float64Array, more: Partial<InstanceTimes> = {}): InstanceTimes => ({
  instance: "a-0",
  service: "a",
  isBackground: false,
  ownUs,
  count: ownUs.length,
  normalUs: null,
  ...more,
});

type Rest = Omit<RequestTimes, "instances">;

const featuresOf = (one: InstanceTimes, rest: Rest): Features =>
  featuresIn({ ...rest, instances: [one] }).of.get(one.instance) as Features;

const harmOf = (one: InstanceTimes, rest: Rest): Harm =>
  harmIn([featuresIn({ ...rest, instances: [one] })]).get(one.instance) as Harm;

describe("Algorithm 3.2's two features", () => {
  test("Pearson's correlation of four pairs", () => {
    // Means 2.5 and 5; products of the differences sum to 5.5, their squares to 5 and 7.5.
    expect(pearson(times(1, 2, 3, 4), times(3, 4.5, 6.5, 6))).toBeCloseTo(5.5 / Math.sqrt(5 * 7.5), 12);
  });

  test("what does not vary correlates with nothing", () => {
    expect(pearson(times(5, 5, 5), times(1, 2, 3))).toBe(0);
    expect(pearson(times(1, 2, 3), times(7, 7, 7))).toBe(0);
  });

  test("the correlation is that of any other scale, and changes sign with one of the two", () => {
    const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 1_000 })), {
      minLength: 2,
      maxLength: 30,
    });
    fc.assert(
      fc.property(pairs, (list) => {
        const [a, b] = [times(...list.map(([x]) => x)), times(...list.map(([, y]) => y))];
        const r = pearson(a, b);
        expect(Math.abs(r)).toBeLessThanOrEqual(1);
        expect(
          pearson(
            a.map((x) => 3 * x + 11),
            b,
          ),
        ).toBeCloseTo(r, 9);
        expect(
          pearson(
            a.map((x) => -x),
            b,
          ),
        ).toBeCloseTo(-r, 9);
      }),
    );
  });

  test("the 99th percentile over the median, between order statistics", () => {
    // 0, 10, …, 1000: the median is 500, the 99th percentile 990.
    const tens = Float64Array.from({ length: 101 }, (_, k) => 10 * k);
    expect(intensityOf(tens)).toBeCloseTo(1.98, 12);
    expect(intensityOf(times(7))).toBe(1);
    expect(intensityOf(times(0, 0, 0, 1))).toBe(100);
    expect(intensityOf(times())).toBe(1);
  });

  test("an instance that takes part in few requests is compared with itself in those alone", () => {
    const found = featuresOf(instance(times(0, 0, 0, 4, 0, 2), { count: 2 }), request(times(1, 1, 1, 5, 1, 3), null));
    // Of 2 and 4: median 3, 99th percentile 3.98.
    expect(found.congestionIntensity).toBeCloseTo(3.98 / 3, 12);
    expect(found.relativeImportance).toBeCloseTo(1, 12);
  });
});

describe("what is known of the past", () => {
  test("the part of what a request lost that is one instance's", () => {
    // The request took 100 and takes 150; the instance took 20 and takes 60: 40 of the 50.
    const found = harmOf(instance(times(50, 70), { normalUs: 20 }), request(times(140, 160), 100));
    expect(found).toMatchObject({ workShare: 0.8, wayShare: 0 });
    expect(found.features).toMatchObject({ ownExcessUs: 40, workExcessUs: 40, wayExcessUs: 0 });
    expect(found.features.elevation).toBeCloseTo(61 / 21, 12);
  });

  test("a slow wire is the instance's most of whose calls are slow, and its callers are rid of it", () => {
    // Ten requests: root calls a and b once each, a calls c. Each way at a takes 3 more; b's is as ever.
    const way = (caller: string, callee: string, perCallUs: number): WayTimes => ({
      caller,
      callee,
      perCallUs,
      isApart: false,
      calls: 10,
      normalUs: 1,
    });
    const ways = [way("root", "a", 4), way("root", "b", 1), way("a", "c", 4)];
    const ten = (us: number) => new Float64Array(10).fill(us);
    const of = (name: string, us: number, normalUs: number) => instance(ten(us), { instance: name, normalUs });
    const instances = [of("root", 13, 10), of("a", 23, 20), of("b", 30, 30), of("c", 40, 40)];
    const found = harmIn([featuresIn({ ...request(ten(106), 100, ways), instances })]);
    const sharesOf = (name: string) => [found.get(name)?.workShare, found.get(name)?.wayShare];
    expect(sharesOf("a")).toEqual([0, 1]);
    // The root has a way that is as ever. What it lost is the way to a.
    expect(sharesOf("root")).toEqual([0, 0]);
    expect(sharesOf("b")).toEqual([0, 0]);
    // With one way only, c cannot be told from a.
    expect(sharesOf("c")).toEqual([0, 0.5]);
  });

  test("types of requests count by how many there are of each, and by what they lost", () => {
    const of = (name: string, count: number, [now, normal]: readonly [number, number]) => ({
      ...featuresIn({
        ...request(new Float64Array(count).fill(100 + now - normal), 100),
        instances: [instance(new Float64Array(count).fill(now), { normalUs: normal })],
      }),
      request: name,
    });
    // 30 requests lost 20 each, 10 lost 60 each, 100 lost next to nothing: all of it is this instance's.
    const harm = harmIn([of("many", 100, [13, 10]), of("some", 30, [30, 10]), of("few", 10, [70, 10])]).get("a-0");
    expect(harm).toMatchObject({ workShare: 1, wayShare: 0 });
    // It adds most to the few: 60 to what took 100.
    expect(harm?.burden).toBeCloseTo(0.6, 12);
    expect(harm?.worst.request).toBe("some");
  });

  test("without a past nothing is above normal, and the request it varies with is named", () => {
    const found = harmOf(instance(times(50, 70)), request(times(140, 160), null));
    expect(found).toMatchObject({ workShare: 0, wayShare: 0, features: { ownExcessUs: 0, elevation: 1 } });
  });

  test("a request that lost next to nothing gives nobody a share", () => {
    const found = harmOf(instance(times(50, 50), { normalUs: 46 }), request(times(104, 104), 100));
    expect(found).toMatchObject({ workShare: 0, features: { ownExcessUs: 4 } });
  });

  test("background work has no share of what somebody waited for", () => {
    const slow = { normalUs: 10, isBackground: true };
    expect(harmOf(instance(times(90, 90), slow), request(times(150, 150), 100)).workShare).toBe(0);
  });
});

test("vectors stay within bounds whatever the features are", () => {
  const wild = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e12 });
  fc.assert(
    fc.property(fc.array(wild, { minLength: 2, maxLength: 20 }), wild, wild, (list, normal, pressure) => {
      const own = times(...list);
      const harm = harmOf(instance(own, { normalUs: normal }), request(own, normal));
      for (const set of ["printed", "all", "habits"] as const) {
        const vector = vectorOf(harm, { pressure, deviation: noDeviation }, set);
        expect(vector).toHaveLength(featureCount(set));
        for (const value of vector) expect(Math.abs(value)).toBeLessThanOrEqual(5);
      }
    }),
  );
});
