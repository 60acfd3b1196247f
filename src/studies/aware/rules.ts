/**
 * HPA and VPA as a careful operator would run them on a scene: the opponent and the fallback of every study.
 * Owns: measuring what the operator has to know (the smallest pod that can meet the SLO, the HPA's target), and eight
 * days of warm history for the VPA.
 * Not here: the two autoscalers (control/fallbacks).
 *
 * AWARE measured "the maximum CPU utilization when the SLO was met" per workload and ran the VPA in Auto mode. A VPA
 * without a lower bound makes pods so small that the CPU quota alone breaks a tight latency SLO, and no operator would
 * leave it so: the smallest pod that meets the SLO when it is hardly loaded is its minAllowed here. This makes the
 * opponent stronger than the paper's.
 */
import type { Allocation } from "../../act/index.ts";
import type { Bytes, Millicores } from "../../base/index.ts";
import { bytes, millicores, milliseconds, ratio, unwrap } from "../../base/index.ts";
import type { Fallback, HpaVpaControllerState, SloMeasurement, WarmHistory } from "../../control/fallbacks/index.ts";
import { findHpaTarget, hpaVpaController, parseHpaConfig } from "../../control/fallbacks/index.ts";
import type { Load } from "../../sim/index.ts";
import { meanWork, processors, rateAt } from "../../sim/index.ts";
import { isViolated } from "./drive.ts";
import type { Scene } from "./scene.ts";
import { bounds, openWorld, WORLD_START } from "./scene.ts";

export interface Rules {
  /** The VPA's minAllowed CPU. */
  readonly leastCpu: Millicores;
  /** The HPA's target, in percent of the request. */
  readonly targetPercent: number;
}

const MINUTE = 60_000;
const STEP = 15_000;
/** Per point of a measurement: the first minutes settle, the rest count. */
const SETTLE_MINUTES = 2;
const COUNT_MINUTES = 8;
const PODS = 4;
const SIZES: readonly number[] = [100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 4_000];
const PERCENTS: readonly number[] = [10, 20, 30, 40, 50, 60, 70, 80, 90];
/** At a higher utilisation the SLO is met no better: a point that fails ends the climb. */
const REQUIRED = 0.97;

/**
 * Measured once per scene, with a seed of its own, before any controller is tried: for each size of pod the highest
 * utilisation that met the SLO in at least 97 of 100 steps. The rules get the size that allows the highest, the smaller
 * one where two allow the same.
 */
export function measureRules(scene: Scene, seed: number): Rules {
  let best: Rules = { leastCpu: bounds.cpu.max, targetPercent: 0 };
  for (const size of SIZES) {
    // A larger pod could only do as well, and larger pods take the longest to measure.
    if (best.targetPercent >= (PERCENTS.at(-1) as number)) break;
    const cpu = millicores(size);
    const measured: SloMeasurement[] = [];
    for (const percent of PERCENTS) {
      const point = measure(scene, { seed, cpu, percent });
      measured.push(point);
      if (point.preservation < REQUIRED) break;
    }
    const found = findHpaTarget(measured, REQUIRED);
    if (found.ok && found.value.percent > best.targetPercent)
      best = { leastCpu: cpu, targetPercent: found.value.percent };
  }
  return { ...best, targetPercent: Math.max(best.targetPercent, PERCENTS[0] as number) };
}

interface Point {
  readonly seed: number;
  readonly cpu: Millicores;
  readonly percent: number;
}

/** A constant load that keeps four pods of the size at the utilisation; preservation is the share of steps that met the SLO. */
function measure(scene: Scene, { seed, cpu, percent }: Point): SloMeasurement {
  const perRequest = meanWork(scene.application).cpu / processors[scene.processor].speed;
  const rate = (((percent / 100) * cpu) / perRequest) * PODS;
  const load: Load = { ...scene.load, id: "constant", perMinute: Float64Array.of(rate) };
  const initial: Allocation = { replicas: PODS, cpu, memory: bounds.memory.max };
  const world = openWorld({ ...scene, load }, { seed, rung: "event", initial });
  world.advance(milliseconds(WORLD_START + SETTLE_MINUTES * MINUTE));
  world.truth(scene.workload);
  const steps = (COUNT_MINUTES * MINUTE) / STEP;
  let met = 0;
  for (let step = 0; step < steps; step++) {
    world.advance(milliseconds(world.now + STEP));
    if (!isViolated(scene.slo, world.truth(scene.workload))) met += 1;
  }
  return { utilization: ratio(percent / 100), preservation: ratio(met / steps) };
}

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

export function rulesOf(scene: Scene, { leastCpu, targetPercent }: Rules): Fallback<HpaVpaControllerState> {
  const hpa = unwrap(
    parseHpaConfig({
      minReplicas: bounds.replicas.min,
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
