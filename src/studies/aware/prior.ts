/**
 * The capacity model as a method of its own: no rewards, no networks, the rules until it has seen enough.
 * Owns: its driver, and what has to be known of its decisions. Not here: the model (control/tasks/pods/capacity).
 */
import type { Allocation } from "../../act/index.ts";
import { startingWith } from "../../control/fallbacks/index.ts";
import { capacityController } from "../../control/tasks/pods/index.ts";
import { bounds } from "../../pretraining/index.ts";
import type { Driver, View } from "./drive.ts";
import type { Decided } from "./drivers.ts";
import { fallbackDriver } from "./drivers.ts";
import { warmHistory } from "./rules.ts";
import type { Setting } from "./setting.ts";

/** Counts of steps. */
export interface PriorConduct {
  readonly steps: number;
  /** Steps that began with less CPU than the rules had in the same step of their life. */
  readonly lessCpu: number;
  /** Decisions of its own, and those of them that the actuator got as they were made. */
  readonly decisions: number;
  readonly asProposed: number;
}

const cpuOf = ({ replicas, cpu }: Allocation): number => replicas * cpu;

/** A driver that also remembers the CPU that each step began with. */
export function rememberingCpu(driver: Driver, cpu: number[]): Driver {
  return {
    ...driver,
    decide(view: View) {
      cpu.push(cpuOf(view.have));
      return driver.decide(view);
    },
  };
}

/** `rulesCpu` is what the rules had in each step of their own life. */
export function priorDriver(
  { scene, fallback }: Setting,
  rulesCpu: readonly number[],
): { readonly driver: Driver; conduct(): PriorConduct } {
  const sum = { steps: 0, lessCpu: 0, decisions: 0, asProposed: 0 };
  const rules = startingWith(fallback(), { history: warmHistory(scene) });
  const controller = capacityController({ slo: scene.slo, bounds, rules });
  const count = ({ step, have, action }: Decided): void => {
    if (cpuOf(have) < (rulesCpu[sum.steps] ?? 0)) sum.lessCpu += 1;
    sum.steps += 1;
    if (!isOwn(step.reasons[0])) return;
    sum.decisions += 1;
    const got: Allocation = action.kind === "set" ? { ...have, ...action.set } : have;
    const isAsProposed = (Object.keys(got) as (keyof Allocation)[]).every(
      (knob) => got[knob] === (step.want[knob] ?? have[knob]),
    );
    if (isAsProposed) sum.asProposed += 1;
  };
  return { driver: fallbackDriver(scene, controller, count), conduct: () => ({ ...sum }) };
}

const isOwn = (reason: unknown): boolean =>
  typeof reason === "object" && reason !== null && "by" in reason && reason.by === "capacity";
