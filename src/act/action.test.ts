import { describe, expect, test } from "vitest";
import { bytes, mebibytes, millicores, parseWorkloadId, unwrap } from "../base/index.ts";
import { afterAction, reconcile } from "./action.ts";
import type { Allocation } from "./allocation.ts";

const workload = unwrap(parseWorkloadId("shop"));
const have: Allocation = { replicas: 4, cpu: millicores(1000), memory: mebibytes(1024) };

describe("reconcile", () => {
  test.each([
    { what: "nothing", setting: have, set: undefined },
    { what: "a count", setting: { ...have, replicas: 2 }, set: { replicas: 2 } },
    { what: "a size", setting: { ...have, memory: mebibytes(1) }, set: { memory: mebibytes(1) } },
    {
      what: "everything",
      setting: { replicas: 1, cpu: millicores(1), memory: bytes(1) },
      set: { replicas: 1, cpu: 1, memory: 1 },
    },
  ])("sets $what, only what changes, and then holds", ({ setting, set }) => {
    const action = reconcile(workload, { setting }, have);
    expect(action).toEqual(set === undefined ? { kind: "hold", workload } : { kind: "set", workload, set });
    expect(afterAction(have, action)).toEqual(setting);
    expect(reconcile(workload, { setting }, afterAction(have, action))).toEqual({ kind: "hold", workload });
  });
});

describe("reconcile with followers", () => {
  test("names the members that take the new size", () => {
    const setting = { ...have, cpu: millicores(1200) };
    expect(reconcile(workload, { setting, followers: ["b"] }, have)).toEqual({
      kind: "set",
      workload,
      set: { cpu: 1200 },
      followers: ["b"],
    });
  });

  test("a size that was set before is still to be taken by those that lack it", () => {
    const action = reconcile(workload, { setting: have, followers: ["c"] }, have);
    expect(action).toEqual({ kind: "set", workload, set: {}, followers: ["c"] });
    expect(afterAction(have, action)).toEqual(have);
  });

  test("without anybody to follow what stays is a hold", () => {
    expect(reconcile(workload, { setting: have, followers: [] }, have)).toEqual({ kind: "hold", workload });
  });

  test("nobody follows a new size where the list is empty, which is another thing than no list", () => {
    const setting = { ...have, replicas: 3, cpu: millicores(1200) };
    expect(reconcile(workload, { setting, followers: [] }, have)).toEqual({
      kind: "set",
      workload,
      set: { replicas: 3, cpu: 1200 },
      followers: [],
    });
  });
});
