/**
 * What changes under a running agent: the seven scenarios of the AWARE paper, section 2.3.
 * Owns: which scenarios there are, to whom they apply, what they change. Not here: the payload sets (calibration.ts), when
 * a study makes them happen.
 */
import { CodedError, failure } from "../../../base/index.ts";
import type { WorkloadUpdate } from "../world.ts";
import type { Application } from "./application.ts";
import { basePayloads, type PayloadKind, updatedPayloads } from "./calibration.ts";
import { withPayloads } from "./compose.ts";
import type { Load } from "./load.ts";
import { generateLoad } from "./load-generate.ts";
import { segmentOf } from "./segments.ts";
import { studyLoad } from "./study-load.ts";

export interface UpdateScenario {
  readonly name: string;
  /** What happens, for tables. */
  readonly what: string;
  /** The payload that changes; null: the load goes from high to low, or from low to high. */
  readonly payload: PayloadKind | null;
}

export const updateScenarios: readonly UpdateScenario[] = [
  { name: "file-size", what: "files of 128 to 384 kB become files of 512 to 1,024 kB", payload: "file" },
  { name: "table-size", what: "scans of 1,024 items become scans of 10,240", payload: "items" },
  { name: "float-operations", what: "1e8 operations become 20e8", payload: "operations" },
  { name: "image-size", what: "images of 40 × 40 become 160 × 160", payload: "pixels" },
  { name: "text-size", what: "JSON of 250 B to 1 kB becomes 2 to 5 kB", payload: "text" },
  { name: "ml-model", what: "matrices of 50 × 50 become 150 × 150", payload: "matrix" },
  { name: "load-pattern", what: "a high load becomes a low one, or the other way round", payload: null },
];

/** The load can change for all; a payload for those that have a segment with it. */
export function scenariosFor(application: Application): UpdateScenario[] {
  const used = new Set(application.segments.map((name) => segmentOf(name)?.payload));
  return updateScenarios.filter(({ payload }) => payload === null || used.has(payload));
}

export interface ScenarioOptions {
  /** Names the new load; the application's change needs none. Default 0. */
  readonly seed?: number;
  /** The load to change to, for instance a recorded one. Default: generated, of the other level. */
  readonly other?: Load;
  /** Back to how it was before the scenario. */
  readonly undo?: boolean;
}

/** What a world's `update` gets. Scenarios add up: an application keeps what earlier ones changed. */
export function applyScenario(
  { application, load }: { readonly application: Application; readonly load: Load },
  scenario: UpdateScenario,
  { seed = 0, other, undo = false }: ScenarioOptions = {},
): WorkloadUpdate {
  const { payload } = scenario;
  if (payload === null) {
    const level = load.level === "high" ? "low" : "high";
    const days = load.perMinute.length / 1_440;
    return { load: studyLoad(other ?? generateLoad({ seed, level, days }), application) };
  }
  if (!scenariosFor(application).some(({ name }) => name === scenario.name)) {
    throw new CodedError(
      failure(
        "workload.scenario",
        `the scenario ${scenario.name} changes nothing in ${application.id}, which has no segment with that payload; choose one of scenariosFor(application)`,
      ),
    );
  }
  const now = application.payloads ?? basePayloads;
  const next = (undo ? basePayloads : updatedPayloads)[payload];
  return { application: withPayloads(application, { ...now, [payload]: next }) };
}
