/**
 * HPA and VPA as a careful operator would run them on a scene: the opponent and the fallback of every study.
 * Owns: their settings on a scene, and eight days of warm history for the VPA.
 * Not here: how an operator comes to the settings (measure-rules.ts), the two autoscalers (control/fallbacks).
 */
import type { Bytes, Millicores } from "../../base/index.ts";
import { bytes, millicores, unwrap } from "../../base/index.ts";
import type { Fallback, HpaVpaControllerState, WarmHistory } from "../../control/fallbacks/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../control/fallbacks/index.ts";
import { meanWork, processors, rateAt } from "../../sim/index.ts";
import type { Scene } from "./scene.ts";
import { bounds, WORLD_START } from "./scene.ts";

export interface Rules {
  /** The VPA's minAllowed CPU. */
  readonly leastCpu: Millicores;
  /** The HPA's target, in percent of the request. */
  readonly targetPercent: number;
  /** The HPA's minReplicas. */
  readonly leastReplicas: number;
}

const MINUTE = 60_000;

/** What the workload's pods used over the last eight days, minute by minute, at the size it is started with. */
export function warmHistory({ application, load, initial, processor }: Scene): WarmHistory {
  const { cpu, wait } = meanWork(application);
  const perRequest = cpu / processors[processor].speed;
  const { base, cache, perRequest: perRequestMemory } = application.memory;
  const day = Array.from({ length: 1_440 }, (_, minute) => rateAt(load, minute * MINUTE) / initial.replicas);
  return {
    cpu: day.map((rate): Millicores => millicores(rate * perRequest)),
    memory: day.map((rate): Bytes => bytes(base + cache + ((rate * (perRequest + wait)) / 1_000) * perRequestMemory)),
    pods: initial.replicas,
    days: 8,
    until: WORLD_START,
  };
}

export function rulesOf(
  scene: Scene,
  { leastCpu, targetPercent, leastReplicas }: Rules,
): Fallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: leastReplicas,
      maxReplicas: bounds.replicas.max,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: targetPercent } }],
    }),
  );
  return hpaVpaController({
    hpa,
    template: { cpu: scene.initial.cpu, memory: scene.initial.memory },
    bounds: { cpu: { min: leastCpu, max: bounds.cpu.max }, memory: bounds.memory },
  });
}
