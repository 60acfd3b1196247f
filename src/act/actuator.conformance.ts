/** The suite that every actuator passes: `actuatorConformance("simulated cluster", () => …)` in a test file. */
import { describe, expect, test } from "vitest";
import type { WorkloadId } from "../base/index.ts";
import { bytes, millicores, parseWorkloadId, unwrap } from "../base/index.ts";
import type { Action, Allocation } from "./action.ts";
import type { Actuator } from "./actuator.ts";

export interface ActuatorWorld {
  readonly actuator: Actuator;
  /** A workload with exactly this allocation, which nobody else changes. */
  readonly workload: WorkloadId;
}

export const startingAllocation: Allocation = {
  replicas: 2,
  cpu: millicores(500),
  memory: bytes(256 * 1_048_576),
};

export function actuatorConformance(name: string, make: () => ActuatorWorld | Promise<ActuatorWorld>): void {
  const signal = new AbortController().signal;
  describe(`the actuator of ${name}`, () => {
    test("reads what is there", async () => {
      const { actuator, workload } = await make();
      expect(unwrap(await actuator.read(workload, signal))).toEqual(startingAllocation);
    });

    const actions: readonly ((workload: WorkloadId) => Action)[] = [
      (workload) => ({ kind: "scale", workload, replicas: 5 }),
      (workload) => ({ kind: "set-resources", workload, cpu: millicores(750), memory: bytes(512 * 1_048_576) }),
      (workload) => ({ kind: "reshape", workload, replicas: 1, cpu: millicores(250), memory: bytes(128 * 1_048_576) }),
      (workload) => ({
        kind: "set-resources",
        workload,
        cpu: millicores(750),
        memory: bytes(512 * 1_048_576),
        pods: [],
      }),
      // A pod may be gone before the action that names it arrives.
      (workload) => ({
        kind: "reshape",
        workload,
        replicas: 3,
        cpu: millicores(300),
        memory: bytes(256 * 1_048_576),
        pods: ["no-such-pod"],
      }),
      (workload) => ({ kind: "hold", workload }),
    ];
    test.each(actions)("does an action once, and a second time changes nothing (%#)", async (actionFor) => {
      const { actuator, workload } = await make();
      const action = actionFor(workload);
      const once = unwrap(await actuator.apply(action, signal));
      const { kind: _kind, workload: _workload, ...asked } = { pods: [], ...action };
      const { pods: _pods, ...allocation } = asked;
      expect(once).toEqual({ ...startingAllocation, ...allocation });
      expect(unwrap(await actuator.apply(action, signal))).toEqual(once);
      expect(unwrap(await actuator.read(workload, signal))).toEqual(once);
    });

    test("answers with a coded failure for a workload that does not exist", async () => {
      const { actuator } = await make();
      const nobody = unwrap(parseWorkloadId("nobody-at-all"));
      const read = await actuator.read(nobody, signal);
      expect(read).toMatchObject({ ok: false, failure: { code: "actuator.unknown-workload" } });
      const applied = await actuator.apply({ kind: "scale", workload: nobody, replicas: 3 }, signal);
      expect(applied).toMatchObject({ ok: false, failure: { code: "actuator.unknown-workload" } });
    });

    test("does nothing once it was given up", async () => {
      const { actuator, workload } = await make();
      const applied = await actuator.apply({ kind: "scale", workload, replicas: 9 }, AbortSignal.abort());
      expect(applied).toMatchObject({ ok: false, failure: { code: "actuator.aborted", retry: true } });
      expect(unwrap(await actuator.read(workload, signal))).toEqual(startingAllocation);
    });
  });
}
