/**
 * How a careful operator comes to the settings of HPA and VPA on a scene.
 * Owns: measuring which utilisation each size of pod bears, trying the cheapest settings in closed loop.
 * Not here: the settings' use (rules.ts), the two autoscalers (control/fallbacks).
 *
 * AWARE measured "the maximum CPU utilization when the SLO was met" per workload and ran the VPA in Auto mode. Two things
 * make the opponent stronger than the paper's. A VPA without a lower bound makes pods so small that the CPU quota alone
 * breaks a tight latency SLO, and no operator would leave it so: the measured size is its minAllowed. And what holds at a
 * constant load may not hold on a load that moves: settings are tried on the scene's own load before they are believed.
 */
import type { Allocation } from "../../act/index.ts";
import type { Millicores } from "../../base/index.ts";
import { millicores, milliseconds, ratio } from "../../base/index.ts";
import type { SloMeasurement } from "../../control/fallbacks/index.ts";
import { findHpaTarget } from "../../control/fallbacks/index.ts";
import type { ClusterWorld, Load } from "../../sim/index.ts";
import { meanRate, meanWork, processors } from "../../sim/index.ts";
import type { Driver } from "./drive.ts";
import { isViolated } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";
import type { Rules } from "./rules.ts";
import { rulesOf } from "./rules.ts";
import type { Scene } from "./scene.ts";
import { bounds, openWorld, WORLD_START } from "./scene.ts";

const MINUTE = 60_000;
const STEP = 15_000;
/** Per point of a measurement: the first minutes settle, the rest count. */
const SETTLE_MINUTES = 2;
const COUNT_MINUTES = 8;
const PODS = 4;
const SIZES: readonly number[] = [100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 4_000];
const PERCENTS: readonly number[] = [10, 20, 30, 40, 50, 60, 70, 80, 90];
const LEAST_PERCENT = 10;
/** Share of steps in which the SLO has to be met. */
const REQUIRED = 0.97;
/** Settings that are tried in closed loop before the best so far is taken. Most fail early. */
const TRIALS = 10;

export interface MeasuringOptions {
  /** Of worlds that no controller is scored in. */
  readonly seed: number;
  /** How much of the scene's load a setting is tried on. */
  readonly trialHours: number;
}

/**
 * The cheapest setting that meets the SLO in at least 97 of 100 steps, or, where none does, the one that came nearest.
 * Cheap is what the pods hold at the mean load; each setting that fails in closed loop gives way to ones with more slack:
 * a lower target, or more pods at the least, which is what helps a workload that hardly uses its CPU.
 */
export function measureRules(scene: Scene, options: MeasuringOptions): Rules {
  const hopeful = SIZES.map((size) => ({ rules: settingOf(size, PERCENTS.at(-1)), isMeasured: false }));
  let best: { readonly rules: Rules; readonly lasted: number } | undefined;
  for (let trials = 0; trials < TRIALS; ) {
    hopeful.sort((one, other) => coresHeld(scene, one.rules) - coresHeld(scene, other.rules));
    const next = hopeful.shift();
    if (next === undefined) break;
    const { rules, isMeasured } = next;
    if (!isMeasured) {
      // A size that fails at any load is not tried: days may pass until the VPA arrives at it.
      const targetPercent = highestTarget(scene, rules.leastCpu, options.seed);
      if (targetPercent !== undefined) hopeful.push({ rules: { ...rules, targetPercent }, isMeasured: true });
      continue;
    }
    trials += 1;
    const lasted = stepsInClosedLoop(scene, rules, options);
    if (lasted === undefined) return rules;
    if (best === undefined || lasted > best.lasted) best = { rules, lasted };
    const slacker = { ...rules, targetPercent: Math.round(0.75 * rules.targetPercent) };
    if (slacker.targetPercent >= LEAST_PERCENT) hopeful.push({ rules: slacker, isMeasured });
    const more = { ...rules, leastReplicas: 2 * rules.leastReplicas };
    if (more.leastReplicas <= bounds.replicas.max) hopeful.push({ rules: more, isMeasured });
  }
  return best?.rules ?? { ...settingOf(bounds.cpu.max), leastReplicas: 2 };
}

const settingOf = (size: number, targetPercent = LEAST_PERCENT): Rules => ({
  leastCpu: millicores(size),
  targetPercent,
  leastReplicas: bounds.replicas.min,
});

/** What the HPA would hold at the mean load: whole pods, each as full as the target allows. */
function coresHeld({ application, load, processor }: Scene, { leastCpu, targetPercent, leastReplicas }: Rules): number {
  const used = (meanRate(load) * meanWork(application).cpu) / processors[processor].speed;
  const pods = Math.ceil(used / (leastCpu * (targetPercent / 100)));
  return leastCpu * Math.min(Math.max(pods, leastReplicas), bounds.replicas.max);
}

/** The highest utilisation that met the SLO at a constant load, for pods of one size; undefined where none did. */
function highestTarget(scene: Scene, cpu: Millicores, seed: number): number | undefined {
  const measured: SloMeasurement[] = [];
  for (const percent of PERCENTS) {
    const point = measure(scene, { seed, cpu, percent });
    measured.push(point);
    // At a higher utilisation the SLO is met no better.
    if (point.preservation < REQUIRED) break;
  }
  const found = findHpaTarget(measured, REQUIRED);
  return found.ok ? found.value.percent : undefined;
}

interface Point {
  readonly seed: number;
  readonly cpu: Millicores;
  readonly percent: number;
}

/**
 * A constant load that keeps four pods of the size at the utilisation; preservation is the share of steps that met the
 * SLO. No pod is asked for more than the workload's whole peak, which ones that hardly compute could not take.
 */
function measure(scene: Scene, { seed, cpu, percent }: Point): SloMeasurement {
  const perRequest = meanWork(scene.application).cpu / processors[scene.processor].speed;
  const rate = Math.min((((percent / 100) * cpu) / perRequest) * PODS, PODS * peakRate(scene.load));
  const load: Load = { ...scene.load, id: "constant", perMinute: Float64Array.of(rate) };
  const initial: Allocation = { replicas: PODS, cpu, memory: bounds.memory.max };
  const world = openWorld({ ...scene, load }, { seed, rung: "event", initial });
  world.advance(milliseconds(WORLD_START + SETTLE_MINUTES * MINUTE));
  world.truth(scene.workload);
  const { met } = watch(scene, { world, steps: (COUNT_MINUTES * MINUTE) / STEP });
  return { utilization: ratio(percent / 100), preservation: ratio(met) };
}

const peakRate = ({ perMinute }: Load): number => perMinute.reduce((most, rate) => Math.max(most, rate), 0);

/** Pods differ in speed: what one draw of them bears, the next one may not. */
const worldSeeds = (seed: number): readonly number[] => [seed, seed + 1_000_000];

/** How long a setting lasted that failed in one of the worlds: the longer, the better. undefined: it held in all. */
function stepsInClosedLoop(scene: Scene, rules: Rules, { seed, trialHours }: MeasuringOptions): number | undefined {
  const steps = Math.round((trialHours * 60 * MINUTE) / STEP);
  let sum = 0;
  for (const worldSeed of worldSeeds(seed)) {
    const world = openWorld(scene, { seed: worldSeed, rung: "event" });
    const { met, lasted } = watch(scene, { world, driver: rulesDriver(scene, rulesOf(scene, rules)), steps });
    sum += lasted;
    if (met < REQUIRED) return sum;
  }
  return undefined;
}

interface Watched {
  readonly world: ClusterWorld;
  readonly steps: number;
  readonly driver?: Driver;
}

interface Conduct {
  /** Share of the steps in which the SLO was met; too low to be required as soon as it can not be reached any more. */
  readonly met: number;
  /** Steps until that was clear. */
  readonly lasted: number;
}

function watch({ workload, slo }: Scene, { world, driver, steps }: Watched): Conduct {
  const forgiven = (1 - REQUIRED) * steps;
  let violations = 0;
  let lasted = 0;
  while (lasted < steps && violations <= forgiven) {
    if (driver) {
      const have = world.allocation(workload);
      const reading = world.read(workload);
      world.apply(driver.decide({ reading, have, nodes: world.nodes(workload), now: world.now }));
    }
    world.advance(milliseconds(world.now + STEP));
    if (isViolated(slo, world.truth(workload))) violations += 1;
    lasted += 1;
  }
  return { met: 1 - violations / steps, lasted };
}
