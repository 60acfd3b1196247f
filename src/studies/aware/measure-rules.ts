/**
 * How a careful operator comes to the settings of HPA and VPA on a scene.
 * Owns: measuring which utilisation each size of pod bears and how much memory it needs, trying the cheapest settings in
 * closed loop. Not here: the settings' use (rules.ts), the two autoscalers (control/fallbacks).
 *
 * AWARE measured "the maximum CPU utilization when the SLO was met" per workload and ran the VPA in Auto mode. Four things
 * make the opponent stronger than the paper's. A VPA without a lower bound makes pods so small that the CPU quota alone
 * breaks a tight latency SLO, and no operator would leave it so: the measured size is its minAllowed. The same holds for
 * memory: a VPA remembers the peaks of sampled working sets, which are lower than what a burst of requests needs for a
 * second, and each kill brings the next burst on fewer pods; without a floor some scenes had hundreds of kills a day. Memory
 * is about a fiftieth of the bill, so the floor is what working sets needed with a margin, raised until no pod is killed.
 * One pod that is killed or replaced takes the whole workload with it: two at least, unless little is at stake. And what
 * holds at a constant load may not hold on a load that moves: settings are tried on the scene's own load before they are
 * believed; where its days differ, on the busiest of the week before, since nobody can tune on days to come.
 */
import type { Allocation } from "../../act/index.ts";
import type { Bytes, Millicores, Ms } from "../../base/index.ts";
import { mebibytes, millicores, milliseconds, ratio } from "../../base/index.ts";
import type { SloMeasurement } from "../../control/fallbacks/index.ts";
import { findHpaTarget } from "../../control/fallbacks/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import type { Scene } from "../../pretraining/index.ts";
import { bounds, openWorld, pastOf, WORLD_START } from "../../pretraining/index.ts";
import type { ClusterWorld, Load } from "../../sim/index.ts";
import { costOf, meanRate, meanWork, processors } from "../../sim/index.ts";
import type { Driver } from "./drive.ts";
import { isViolated } from "./drive.ts";
import { rulesDriver } from "./drivers.ts";
import type { Rules } from "./rules.ts";
import { rulesOf, startedWith } from "./rules.ts";

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
/** Settings that failed the SLO in closed loop before the best so far is taken. Most fail early. */
const TRIALS = 40;
/** The HPA scales down to the most that it wanted in these last minutes. */
const STABILISATION = 5;
/** Over the largest working set that was sampled: the VPA's own safety margin. */
const MEMORY_MARGIN = 1.15;
/** By how much the floor is raised after a kill, and how it is rounded. */
const MEMORY_RAISE = 1.25;
const MEBIBYTE = 1_024 * 1_024;

export interface MeasuringOptions {
  /** Of worlds that no controller is scored in. */
  readonly seed: number;
  /** How much of the scene's load a setting is tried on. */
  readonly trialHours: number;
  /** Little at stake: one pod may be enough. Default "normal". */
  readonly stakes?: "low" | "normal";
}

interface Candidate {
  readonly rules: Rules;
  /** Its target and its memory were measured; until then they are the best that can be hoped for. */
  readonly isMeasured: boolean;
  /** What it would hold, in dollars a second. */
  readonly cost: number;
}

/**
 * The cheapest setting that meets the SLO in at least 97 of 100 steps without a kill, or, where none does, the one that came
 * nearest. Cheap is what the pods would hold on the scene's load. A setting that fails in closed loop gives way to ones with more
 * slack: more memory after a kill; else a lower target, or more pods at the least, which is what helps a workload that
 * hardly uses its CPU.
 */
export function measureRules(scene: Scene, options: MeasuringOptions): Rules {
  const leastReplicas = options.stakes === "low" ? bounds.replicas.min : Math.max(2, bounds.replicas.min);
  const hopeful: Candidate[] = [];
  const hope = (rules: Rules, isMeasured = true) => hopeful.push({ rules, isMeasured, cost: heldCost(scene, rules) });
  for (const size of SIZES) {
    const targetPercent = PERCENTS.at(-1) ?? LEAST_PERCENT;
    hope({ leastCpu: millicores(size), targetPercent, leastReplicas, leastMemory: bounds.memory.min }, false);
  }
  let best: { readonly rules: Rules; readonly lasted: number } | undefined;
  for (let trials = 0; trials < TRIALS; ) {
    hopeful.sort((one, other) => one.cost - other.cost);
    const next = hopeful.shift();
    if (next === undefined) break;
    const { rules, isMeasured } = next;
    if (!isMeasured) {
      // A size that fails at any load is not tried: days may pass until the VPA arrives at it.
      const borne = highestTarget(scene, rules.leastCpu, options.seed);
      if (borne !== undefined) hope({ ...rules, ...borne });
      continue;
    }
    const trial = tryInClosedLoop(scene, rules, options);
    if (trial.isKilled) {
      hope({ ...rules, leastMemory: wholeMebibytes(MEMORY_RAISE * rules.leastMemory) });
      continue;
    }
    if (trial.holds) return rules;
    trials += 1;
    if (best === undefined || trial.lasted > best.lasted) best = { rules, lasted: trial.lasted };
    const slacker = { ...rules, targetPercent: Math.round(0.75 * rules.targetPercent) };
    if (slacker.targetPercent >= LEAST_PERCENT) hope(slacker);
    const more = { ...rules, leastReplicas: 2 * rules.leastReplicas };
    if (more.leastReplicas <= bounds.replicas.max) hope(more);
  }
  return best?.rules ?? largest;
}

const largest: Rules = {
  leastCpu: bounds.cpu.max,
  targetPercent: LEAST_PERCENT,
  leastReplicas: 2,
  leastMemory: bounds.memory.max,
};

const wholeMebibytes = (amount: number): Bytes =>
  mebibytes(Math.ceil(Math.min(Math.max(amount, bounds.memory.min), bounds.memory.max) / MEBIBYTE));

/**
 * What the HPA would hold on the scene's load, in dollars a second: whole pods, each as full as the target allows, and no
 * fewer than were needed in the last five minutes. At the mean load alone a low target looks cheap that is dear at the peak.
 */
function heldCost(scene: Scene, rules: Rules): number {
  const { application, processor } = scene;
  const { perMinute } = pastOf(scene);
  const { leastCpu, targetPercent, leastReplicas, leastMemory } = rules;
  const perRequest = meanWork(application).cpu / processors[processor].speed;
  const perPod = leastCpu * (targetPercent / 100);
  let pods = 0;
  for (let minute = 0; minute < perMinute.length; minute++) {
    let rate = 0;
    for (let back = 0; back < STABILISATION; back++) rate = Math.max(rate, perMinute[minute - back] ?? 0);
    pods += Math.min(Math.max(Math.ceil((rate * perRequest) / perPod), leastReplicas), bounds.replicas.max);
  }
  pods /= perMinute.length;
  return costOf({ coreSeconds: (pods * leastCpu) / 1_000, byteSeconds: pods * leastMemory, disruptions: 0 });
}

/** The highest utilisation that met the SLO at a constant load, for pods of one size; undefined where none did. */
function highestTarget(
  scene: Scene,
  cpu: Millicores,
  seed: number,
): Pick<Rules, "targetPercent" | "leastMemory"> | undefined {
  const measured: SloMeasurement[] = [];
  let workingSet = 0;
  for (const percent of PERCENTS) {
    const point = measure(scene, { seed, cpu, percent });
    measured.push(point);
    // At a higher utilisation the SLO is met no better.
    if (point.preservation < REQUIRED) break;
    workingSet = Math.max(workingSet, point.workingSet);
  }
  const found = findHpaTarget(measured, REQUIRED);
  if (!found.ok) return undefined;
  return { targetPercent: found.value.percent, leastMemory: wholeMebibytes(MEMORY_MARGIN * workingSet) };
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
function measure(scene: Scene, { seed, cpu, percent }: Point): SloMeasurement & { readonly workingSet: number } {
  const perRequest = meanWork(scene.application).cpu / processors[scene.processor].speed;
  const rate = Math.min((((percent / 100) * cpu) / perRequest) * PODS, PODS * peakRate(pastOf(scene)));
  const load: Load = { ...scene.load, id: "constant", perMinute: Float64Array.of(rate) };
  const initial: Allocation = { replicas: PODS, cpu, memory: bounds.memory.max };
  const world = openWorld({ ...scene, load }, { seed, rung: "event", initial });
  world.advance(milliseconds(WORLD_START + SETTLE_MINUTES * MINUTE));
  world.truth(scene.workload);
  const { met, workingSet } = watch(scene, { world, steps: (COUNT_MINUTES * MINUTE) / STEP, forgivesKills: true });
  return { utilization: ratio(percent / 100), preservation: ratio(met), workingSet };
}

const peakRate = ({ perMinute }: Pick<Load, "perMinute">): number =>
  perMinute.reduce((most, rate) => Math.max(most, rate), 0);

/** Pods differ in speed: what one draw of them bears, the next one may not. */
const worldSeeds = (seed: number): readonly number[] => [seed, seed + 1_000_000];

/** Midnight of the past's day with the busiest hour, or of the day that comes again. */
function trialStart(scene: Scene): Ms {
  const { perMinute, from } = pastOf(scene);
  let start = 0;
  let most = 0;
  for (let day = 0; scene.pastDays !== undefined && day < scene.pastDays; day++) {
    for (let hour = day * 24; hour < (day + 1) * 24; hour++) {
      const rate = meanRate({ perMinute: perMinute.subarray(hour * 60, (hour + 1) * 60) });
      if (rate <= most) continue;
      most = rate;
      start = from + day * 24 * 60;
    }
  }
  return milliseconds(start * MINUTE);
}

interface Trial {
  readonly holds: boolean;
  readonly isKilled: boolean;
  /** Steps until it was clear that it does not hold, over the worlds that were tried: the longer, the better. */
  readonly lasted: number;
}

function tryInClosedLoop(plain: Scene, rules: Rules, { seed, trialHours }: MeasuringOptions): Trial {
  const steps = Math.round((trialHours * 60 * MINUTE) / STEP);
  const scene = startedWith(plain, rules);
  // Where there is no more memory to give, kills are not for the rules to prevent.
  const forgivesKills = rules.leastMemory >= bounds.memory.max;
  const start = trialStart(scene);
  let lasted = 0;
  for (const worldSeed of worldSeeds(seed)) {
    const world = openWorld(scene, { seed: worldSeed, rung: "event", start });
    const driver = rulesDriver(scene, rulesOf(scene, rules), start);
    const conduct = watch(scene, { world, driver, steps, forgivesKills });
    lasted += conduct.lasted;
    if (conduct.isKilled) return { holds: false, isKilled: true, lasted };
    if (conduct.met < REQUIRED) return { holds: false, isKilled: false, lasted };
  }
  return { holds: true, isKilled: false, lasted };
}

interface Watched {
  readonly world: ClusterWorld;
  readonly steps: number;
  readonly driver?: Driver;
  /** Otherwise the first kill is the end. */
  readonly forgivesKills: boolean;
}

interface Conduct {
  /** Share of the steps in which the SLO was met; too low to be required as soon as it cannot be reached any more. */
  readonly met: number;
  /** Steps until that was clear. */
  readonly lasted: number;
  readonly isKilled: boolean;
  /** The largest that a sample showed, in bytes. */
  readonly workingSet: number;
}

function watch({ workload, slo }: Scene, { world, driver, steps, forgivesKills }: Watched): Conduct {
  const forgiven = (1 - REQUIRED) * steps;
  let violations = 0;
  let lasted = 0;
  let isKilled = false;
  let workingSet = 0;
  while (lasted < steps && violations <= forgiven && !isKilled) {
    const have = world.allocation(workload);
    const reading = world.read(workload);
    workingSet = Math.max(workingSet, largestWorkingSet(reading));
    if (driver) world.apply(driver.decide({ reading, have, nodes: world.nodes(workload), now: world.now }));
    world.advance(milliseconds(world.now + STEP));
    const truth = world.truth(workload);
    if (isViolated(slo, truth)) violations += 1;
    isKilled = truth.oomKills > 0 && !forgivesKills;
    lasted += 1;
  }
  return { met: 1 - violations / steps, lasted, isKilled, workingSet };
}

const largestWorkingSet = ({ pods }: WorkloadReading): number =>
  pods.reduce((most, { memory }) => Math.max(most, memory ?? 0), 0);
