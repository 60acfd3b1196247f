import { describe, expect, test } from "vitest";
import { milliseconds, parseWorkloadId, seconds, unwrap } from "../../base/index.ts";
import type { NodeRoom, Verdict } from "../guard.ts";
import { freshGuardState, guard } from "../guard.ts";
import type { Knob } from "../knob.ts";
import { parseGuardLimits } from "../limits.ts";
import { membersThatFit, nodeCapacity } from "./node-capacity.ts";

const workload = unwrap(parseWorkloadId("shop"));
const now = milliseconds(1_700_000_000_000);
const have = { workers: 4, cpu: 1000, gpu: 1 };
type Workers = typeof have;

const knob = (name: string, grain = 1): Knob => ({
  name,
  unit: "units",
  bounds: { min: 0, max: 10_000 },
  grain,
  step: { absolute: 10_000, up: 0, down: 0 },
  cooldown: { up: seconds(0), down: seconds(0) },
});

interface Given {
  readonly want: Partial<Workers>;
  readonly nodes: readonly NodeRoom[] | "unlimited";
  readonly from?: Workers;
  readonly grain?: number;
}
function ask({ want, nodes, from = have, grain }: Given): Verdict<Workers> {
  const limits = unwrap(
    parseGuardLimits({
      knobs: [knob("workers", grain), knob("cpu"), knob("gpu")],
      constraints: [nodeCapacity({ count: "workers", sizes: ["cpu", "gpu"] })],
    }),
  );
  return guard({ workload, want, measuredAt: now }, { limits, state: freshGuardState, have: from, nodes, now });
}

test("members beyond the nodes' room are not added", () => {
  const nodes = [
    { cpu: 3500, gpu: 9 },
    { cpu: 3500, gpu: 9 },
  ];
  expect(ask({ nodes, want: { workers: 8 } })).toMatchObject({
    setting: { workers: 6 },
    changed: [{ knob: "workers", from: 8, to: 6, rule: "capacity" }],
  });
  expect(ask({ nodes: "unlimited", want: { workers: 8 } }).setting.workers).toBe(8);
});

test("members that come in fives are added in fives, as far as there is room", () => {
  const nodes = [{ cpu: 7000, gpu: 99 }];
  const verdict = ask({ nodes, want: { workers: 20 }, from: { ...have, workers: 0 }, grain: 5 });
  expect(verdict.setting.workers).toBe(5);
  expect(verdict.changed).toEqual([
    { knob: "workers", from: 20, to: 7, rule: "capacity" },
    { knob: "workers", from: 7, to: 5, rule: "capacity" },
  ]);
  // What is there is between two multiples, and stays rather than falls.
  expect(ask({ nodes, want: { workers: 20 }, from: { ...have, workers: 6 }, grain: 5 }).setting.workers).toBe(6);
});

test("members that are there are not made larger than the nodes' room", () => {
  const nodes = [{ cpu: 4200, gpu: 9 }];
  expect(ask({ nodes, want: { cpu: 1100, gpu: 2 } }).changed).toEqual([
    { knob: "cpu", from: 1100, to: 1000, rule: "capacity" },
  ]);
  expect(ask({ nodes, want: { gpu: 3 } }).changed).toEqual([{ knob: "gpu", from: 3, to: 1, rule: "capacity" }]);
});

test("a setting that no longer fits may shrink, and is not torn down", () => {
  const nodes = [{ cpu: 1000, gpu: 1 }];
  expect(ask({ nodes, want: { workers: 3 } }).setting.workers).toBe(3);
  expect(ask({ nodes, want: { workers: 5 } }).setting.workers).toBe(4);
  // Smaller is better, even where it is not small enough.
  expect(ask({ nodes, want: { cpu: 800, gpu: 2 } }).setting).toEqual({ ...have, cpu: 800 });
});

describe("room on nodes", () => {
  test.each([
    { what: "is the scarcer resource", nodes: [{ cpu: 5000, gpu: 2.5 }], count: 2 },
    {
      what: "is not shared between nodes",
      nodes: [
        { cpu: 1500, gpu: 5 },
        { cpu: 1500, gpu: 5 },
      ],
      count: 2,
    },
    {
      what: "is none on a node with odd figures",
      nodes: [
        { cpu: Number.NaN, gpu: 5 },
        { cpu: -5, gpu: 5 },
      ],
      count: 0,
    },
    { what: "is none on a node that does not say what it has of one", nodes: [{ cpu: 5000 }], count: 0 },
    { what: "is none where there are no nodes", nodes: [], count: 0 },
  ])("$what", ({ nodes, count }) => {
    expect(membersThatFit({ cpu: 1000, gpu: 1 }, nodes as readonly NodeRoom[], ["cpu", "gpu"])).toBe(count);
  });

  test("is without end for what needs none", () => {
    expect(membersThatFit({ cpu: 0, gpu: 0 }, [{ cpu: 10, gpu: 0 }], ["cpu", "gpu"])).toBe(Number.POSITIVE_INFINITY);
  });
});
