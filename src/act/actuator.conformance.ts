/** The suite that every actuator passes: `actuatorConformance("simulated cluster", () => …)` in a test file. */
import { describe, expect, test } from "vitest";
import type { WorkloadId } from "../base/index.ts";
import { bytes, millicores, parseWorkloadId, unwrap } from "../base/index.ts";
import { type Action, afterAction } from "./action.ts";
import type { Actuator } from "./actuator.ts";
import type { Allocation } from "./allocation.ts";
import type { Setting } from "./knob.ts";

export interface ActuatorWorld {
  readonly actuator: Actuator;
  /** A workload that is exactly as the cases begin, which nobody else changes. */
  readonly workload: WorkloadId;
}

export const startingAllocation: Allocation = {
  replicas: 2,
  cpu: millicores(500),
  memory: bytes(256 * 1_048_576),
};

export interface ActuatorCases {
  readonly start: Setting;
  /** Each is done to a workload that is as it was at the start; the last changes the most knobs, and is done to some members too. */
  readonly sets: readonly Setting[];
  /** What a world makes of what is asked for, where some knobs follow from others. */
  readonly settled?: (asked: Setting) => Setting;
}

const [cpu, memory] = [millicores(750), bytes(512 * 1_048_576)];
const allocationCases: ActuatorCases = {
  start: startingAllocation,
  sets: [{ replicas: 5 }, { cpu, memory }, { memory }, { replicas: 1, cpu, memory }],
};

export function actuatorConformance(
  name: string,
  make: () => ActuatorWorld | Promise<ActuatorWorld>,
  { start, sets, settled = (asked) => asked }: ActuatorCases = allocationCases,
): void {
  const signal = new AbortController().signal;
  describe(`the actuator of ${name}`, () => {
    test("reads what is there", async () => {
      const { actuator, workload } = await make();
      expect(unwrap(await actuator.read(workload, signal))).toEqual(start);
    });

    const [first, last] = [sets[0], sets.at(-1)] as [Setting, Setting];
    const actions: readonly ((workload: WorkloadId) => Action)[] = [
      ...sets.map(
        (set) =>
          (workload: WorkloadId): Action => ({ kind: "set", workload, set }),
      ),
      (workload) => ({ kind: "set", workload, set: last, followers: [] }),
      // A member may be gone before the action that names it arrives.
      (workload) => ({ kind: "set", workload, set: last, followers: ["no-such-pod"] }),
      (workload) => ({ kind: "set", workload, set: {}, followers: ["no-such-pod"] }),
      (workload) => ({ kind: "hold", workload }),
    ];
    test.each(actions)("does an action once, and a second time changes nothing (%#)", async (actionFor) => {
      const { actuator, workload } = await make();
      const action = actionFor(workload);
      const once = unwrap(await actuator.apply(action, signal));
      expect(once).toEqual(settled(afterAction(start, action)));
      expect(unwrap(await actuator.apply(action, signal))).toEqual(once);
      expect(unwrap(await actuator.read(workload, signal))).toEqual(once);
    });

    test("answers with a coded failure for a workload that does not exist", async () => {
      const { actuator } = await make();
      const nobody = unwrap(parseWorkloadId("nobody-at-all"));
      const read = await actuator.read(nobody, signal);
      expect(read).toMatchObject({ ok: false, failure: { code: "actuator.unknown-workload" } });
      const applied = await actuator.apply({ kind: "set", workload: nobody, set: first }, signal);
      expect(applied).toMatchObject({ ok: false, failure: { code: "actuator.unknown-workload" } });
    });

    test("does nothing once it was given up", async () => {
      const { actuator, workload } = await make();
      const applied = await actuator.apply({ kind: "set", workload, set: first }, AbortSignal.abort());
      expect(applied).toMatchObject({ ok: false, failure: { code: "actuator.aborted", retry: true } });
      expect(unwrap(await actuator.read(workload, signal))).toEqual(start);
    });
  });
}
