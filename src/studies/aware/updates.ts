/**
 * A series of updates under a running agent: the versions that a scene's software and load go through.
 * Owns: which scenarios, in which order, what happens when they run out. Not here: the scenarios (sim).
 */
import type { Rng } from "../../base/index.ts";
import { seededRng } from "../../base/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import type { Load, UpdateScenario, WorkloadUpdate } from "../../sim/index.ts";
import { applyScenario, scenariosFor, varyDays } from "../../sim/index.ts";
import { shuffled } from "../shuffled.ts";
import type { LoadPool } from "./loads.ts";

/** The scene's software and load from one update to the next. */
export interface Version extends Pick<Scene, "application" | "load"> {
  /** The scenario that led to it, with "undo" where it was taken back. */
  readonly name: string;
}

export interface SeriesOptions {
  readonly seed: number;
  readonly count: number;
  readonly pool: LoadPool;
}

/**
 * The scenarios that apply to the scene, shuffled, each on top of those before. Few applications have segments for all
 * seven: when the scenarios run out they come again, the payloads' in the other direction.
 */
export function updateSeries(scene: Scene, { seed, count, pool }: SeriesOptions): readonly Version[] {
  const rng = seededRng(seed).fork("update series");
  const order = shuffled(scenariosFor(scene.application), rng.fork("order"));
  const versions: Version[] = [];
  let { application, load } = scene;
  for (let k = 0; k < count; k++) {
    const scenario = order[k % order.length] as UpdateScenario;
    const undo = Math.floor(k / order.length) % 2 === 1;
    const next = applyUpdate({ application, load }, { scenario, undo, pool, rng: rng.fork(k) });
    application = next.application ?? application;
    load = next.load ?? load;
    versions.push({ name: undo ? `${scenario.name} undo` : scenario.name, application, load });
  }
  return versions;
}

interface Change {
  readonly scenario: UpdateScenario;
  readonly pool: LoadPool;
  readonly rng: Rng;
  readonly undo?: boolean;
}

/** A change of load draws the new one from the pool's other level, or generates it. */
export function applyUpdate(
  now: Pick<Version, "application" | "load">,
  { scenario, pool, rng, undo = false }: Change,
): WorkloadUpdate {
  const candidates = pool?.[now.load.level === "high" ? "low" : "high"] ?? [];
  const drawn = candidates[rng.fork("other").int(Math.max(1, candidates.length))] as Load | undefined;
  const seed = rng.fork("generated").int(1 << 30);
  if (drawn === undefined) return applyScenario(now, scenario, { seed, undo });
  // A load of several days is followed by one of as many.
  const days = now.load.perMinute.length / 1_440;
  const other = days > drawn.perMinute.length / 1_440 ? varyDays(drawn, { seed, days }) : drawn;
  return applyScenario(now, scenario, { seed, undo, other });
}
