/** What the guard lets a function's settings be: the task's bounds, as its knobs. Owns: the translation. */
import type { GuardLimits } from "../../../act/index.ts";
import { parseGuardLimits } from "../../../act/index.ts";
import { type Result, seconds } from "../../../base/index.ts";
import { type FunctionBounds, type FunctionKnob, functionKnobs } from "./action.ts";

const units: { readonly [K in FunctionKnob]: string } = {
  shares: "CPU shares",
  memory: "MiB",
  containers: "containers",
};

/** Rules may move several steps at once, as many as the guard is told. */
export function functionLimits(
  bounds: FunctionBounds,
  { steps = 1 }: { readonly steps?: number } = {},
): Result<GuardLimits> {
  return parseGuardLimits({
    knobs: functionKnobs.map((name) => {
      const { min, max, step } = bounds[name];
      return {
        name,
        unit: units[name],
        bounds: { min, max },
        grain: 1,
        step: { absolute: steps * step, up: 0, down: 0 },
        cooldown: { up: seconds(0), down: seconds(0) },
      };
    }),
  });
}
