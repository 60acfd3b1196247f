/** What a world begins with: its program, and the replicas and limits of each service. The same for both rungs. */
import { resources } from "../../base/index.ts";
import { RESOURCE_COUNT } from "./calibration.ts";
import { limitsFor } from "./limits.ts";
import { compile, type Program } from "./program.ts";
import type { FilledOptions } from "./spec.ts";

export interface Initial {
  readonly program: Program;
  readonly replicas: Int32Array;
  /** Of a container, by service: what it starts with, and what its bounds are derived from. */
  readonly limits: readonly Float64Array[];
  readonly defaults: readonly Float64Array[];
}

export function initialOf({ application, replicas: wanted, limits, designRate }: FilledOptions): Initial {
  const program = compile(application);
  const replicas = Int32Array.from(program.names, (name) => wanted[name] ?? 1);
  const defaults = limitsFor(program, designRate, replicas);
  const given = defaults.map((amounts, service) => {
    const chosen = limits[program.names[service] as string] ?? {};
    const own = Float64Array.from(amounts);
    for (let r = 0; r < RESOURCE_COUNT; r++) own[r] = chosen[resources[r]!] ?? own[r]!;
    return own;
  });
  return { program, replicas, limits: given, defaults };
}
