/**
 * A scene made ready: its task, and the rules as measured on it.
 * Owns: remembering measurements that several jobs of one scene need, and the SLO of a scene whose software will change.
 * Not here: drawing the scene (scene.ts), measuring (measure-rules.ts).
 */
import { milliseconds } from "../../base/index.ts";
import type { HpaVpaControllerState, PodFallback } from "../../control/fallbacks/index.ts";
import type { AutoscaleTask } from "../../control/tasks/pods/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { latencySlo, taskOf } from "../../pretraining/index.ts";
import type { Application } from "../../sim/index.ts";
import type { AwareConfig } from "./config.ts";
import type { MeasuringOptions } from "./measure-rules.ts";
import { measureRules } from "./measure-rules.ts";
import type { Rules } from "./rules.ts";
import { rulesOf, startedWith } from "./rules.ts";

export interface Setting {
  readonly scene: Scene;
  readonly task: AutoscaleTask;
  readonly rules: Rules;
  /** Of the world: the same for all methods, so that they meet the same requests. */
  readonly worldSeed: number;
  fallback(): PodFallback<HpaVpaControllerState>;
}

export interface SettingOptions {
  readonly seed: number;
  readonly config: Pick<AwareConfig, "alpha" | "episodeSteps" | "rules" | "trialHours">;
}

/** Far from the seeds of worlds that controllers are tried in. */
const MEASURING_SEED_OFFSET = 500_000;
/** The jobs of one scene come one after another. */
const REMEMBERED = 8;
const measured = new Map<string, Rules>();

function rememberedRules(scene: Scene, { seed, trialHours }: MeasuringOptions): Rules {
  const key = JSON.stringify([
    seed,
    trialHours,
    scene.workload,
    scene.application.id,
    scene.processor,
    scene.slo,
    scene.load.id,
  ]);
  const known = measured.get(key);
  if (known !== undefined) return known;
  const rules = measureRules(scene, { seed: MEASURING_SEED_OFFSET + seed, trialHours });
  const oldest = measured.keys().next().value;
  if (measured.size >= REMEMBERED && oldest !== undefined) measured.delete(oldest);
  measured.set(key, rules);
  return rules;
}

export function openSetting(drawn: Scene, { seed, config }: SettingOptions): Setting {
  const { alpha, episodeSteps, trialHours } = config;
  const found = config.rules ?? rememberedRules(drawn, { seed, trialHours });
  const scene = startedWith(drawn, found);
  return {
    scene,
    task: taskOf(scene, { alpha, episodeSteps }),
    rules: found,
    worldSeed: seed,
    fallback: () => rulesOf(scene, found),
  };
}

/**
 * The SLO is set once, for the slowest version that the software will have: a target that the next version cannot meet
 * even on an idle pod would be broken by everyone, whatever they do.
 */
export function withSloFor(scene: Scene, versions: readonly { readonly application: Application }[]): Scene {
  const { slo, processor } = scene;
  if (slo.kind !== "latency") return scene;
  // The scene's own application has its target already, and a change of load brings no new one.
  const others = new Set(versions.map(({ application }) => application).filter((one) => one !== scene.application));
  const slowest = [...others].map((application) => latencySlo(application, processor).target);
  return { ...scene, slo: { ...slo, target: milliseconds(Math.max(slo.target, ...slowest)) } };
}
