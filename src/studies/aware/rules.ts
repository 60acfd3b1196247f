/**
 * HPA and VPA as a careful operator would run them on a scene: the opponent and the fallback of every study.
 * Owns: their settings on a scene, and eight days of warm history for the VPA.
 * Not here: how an operator comes to the settings (measure-rules.ts), the two autoscalers (control/fallbacks).
 */
import type { Bytes, Millicores, Ms } from "../../base/index.ts";
import { bytes, millicores, unwrap } from "../../base/index.ts";
import type { HpaVpaControllerState, PodFallback, WarmHistory } from "../../control/fallbacks/index.ts";
import { hpaVpaController, parseHpaConfig } from "../../control/fallbacks/index.ts";
import type { LoadHistory } from "../../control/tasks/pods/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { bounds, pastOf, WORLD_START } from "../../pretraining/index.ts";
import { meanWork, processors } from "../../sim/index.ts";

export interface Rules {
  /** The VPA's minAllowed CPU. */
  readonly leastCpu: Millicores;
  /** The HPA's target, in percent of the request. */
  readonly targetPercent: number;
  /** The HPA's minReplicas. */
  readonly leastReplicas: number;
  /** The VPA's minAllowed memory. */
  readonly leastMemory: Bytes;
}

/** What an operator with these settings would have begun with, and with him everybody who is compared with him. */
export function startedWith(scene: Scene, { leastReplicas, leastMemory }: Rules): Scene {
  const { initial } = scene;
  const replicas = Math.max(initial.replicas, leastReplicas);
  return { ...scene, initial: { ...initial, replicas, memory: bytes(Math.max(initial.memory, leastMemory)) } };
}

const HISTORY_DAYS = 3;
const DAY_MINUTES = 1_440;

/**
 * What the workload's pods used over the last eight days, minute by minute, at the size it is started with: eight times the
 * day before the world began, which has half of the VPA's weight anyway.
 */
export function warmHistory(scene: Scene, until: Ms = WORLD_START): WarmHistory {
  const { application, initial, processor } = scene;
  const { cpu, wait } = meanWork(application);
  const perRequest = cpu / processors[processor].speed;
  const { base, cache, perRequest: perRequestMemory } = application.memory;
  const { perMinute } = pastOf(scene);
  const from = scene.pastDays === undefined ? 0 : perMinute.length - DAY_MINUTES;
  const day = Array.from(
    { length: DAY_MINUTES },
    (_, minute) => (perMinute[(from + minute) % perMinute.length] ?? 0) / initial.replicas,
  );
  return {
    cpu: day.map((rate): Millicores => millicores(rate * perRequest)),
    memory: day.map((rate): Bytes => bytes(base + cache + ((rate * (perRequest + wait)) / 1_000) * perRequestMemory)),
    pods: initial.replicas,
    days: 8,
    until,
  };
}

/** Three days of requests per minute, as any metrics store has them: what the VPA and an operator who tunes rules know, too. */
export function loadHistory(scene: Scene, until: Ms = WORLD_START): LoadHistory {
  const { perMinute } = pastOf(scene);
  const minutes = HISTORY_DAYS * DAY_MINUTES;
  return {
    perMinute: Array.from({ length: minutes }, (_, i) => perMinute.at((i - minutes) % perMinute.length) ?? 0),
    until,
  };
}

export function rulesOf(
  scene: Scene,
  { leastCpu, targetPercent, leastReplicas, leastMemory }: Rules,
): PodFallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: leastReplicas,
      maxReplicas: bounds.replicas.max,
      metrics: [{ type: "resource", resource: "cpu", target: { kind: "utilization", percent: targetPercent } }],
    }),
  );
  return hpaVpaController({
    hpa,
    template: { cpu: scene.initial.cpu, memory: bytes(Math.max(scene.initial.memory, leastMemory)) },
    bounds: { cpu: { min: leastCpu, max: bounds.cpu.max }, memory: { min: leastMemory, max: bounds.memory.max } },
  });
}
