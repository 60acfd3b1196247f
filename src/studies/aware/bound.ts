/**
 * What could be won at all: the cheapest life of a clairvoyant that resizes pods in place, and the best that never moves.
 * Owns: schedules over a load that is known, the search for the cheapest that misses no more than it may.
 * Not here: what pods bear (capacity.ts), what is compared with it (the studies).
 *
 * It knows the load to come, the simulator and the very pods that it will get, and it passes no guard: only studies may use
 * it, and only to say how much is left. It keeps what everybody has to keep: at least two pods (or what `leastReplicas`
 * says), sizes within the bounds, the actuator's latency, and no pod that is killed for memory. It never changes the number
 * of pods on the way, so a method that does may come below it; in a world with start-up times that is not seen often.
 */
import type { Allocation } from "../../act/index.ts";
import { reconcile } from "../../act/index.ts";
import type { Bytes, Ms } from "../../base/index.ts";
import { millicores, milliseconds } from "../../base/index.ts";
import type { AutoscaleTask } from "../../control/tasks/pods/index.ts";
import type { Scene, WorldChoice } from "../../pretraining/index.ts";
import { bounds, openWorld, WORLD_START } from "../../pretraining/index.ts";
import type { Application } from "../../sim/index.ts";
import { costOf, rateAt } from "../../sim/index.ts";
import { type CapacityTable, cpuFor, measureCapacity, memoryFor } from "./capacity.ts";
import type { Driver, EpisodeTruth } from "./drive.ts";
import { driveEpisode } from "./drive.ts";
import type { EpisodeCount } from "./life.ts";

/** The software and its load from one episode on. */
export interface LifeVersion extends Pick<Scene, "application" | "load"> {
  readonly episode: number;
}

export interface BoundLife extends Pick<WorldChoice, "rung"> {
  /** With the SLO that holds for all of its versions. */
  readonly scene: Scene;
  readonly task: AutoscaleTask;
  /** Of the world in which the others are scored. */
  readonly seed: number;
  readonly episodes: number;
  readonly start?: Ms;
  /** Updates on the way, in order. */
  readonly versions?: readonly LifeVersion[];
  readonly leastReplicas?: number;
  /** How many pods are tried. */
  readonly counts?: readonly number[];
  readonly count?: EpisodeCount;
}

export interface BoundOutcome {
  readonly kind: Family["kind"];
  readonly truths: readonly EpisodeTruth[];
  readonly cost: number;
  readonly violations: number;
  readonly replicas: number;
  /** The schedule's factor over the load, or the millicores of the one that never moves. */
  readonly level: number;
}

const COUNTS: readonly number[] = [1, 2, 3, 4, 6, 8, 12];
/** Factors over the load, each an eighth more than the one before: 0.25 to 2.4. */
const FACTORS: readonly number[] = Array.from({ length: 20 }, (_, i) => 0.25 * 1.127 ** i);
/** The 13th, 1.05: where many searches on tuning seeds ended. */
const USUAL_FACTOR = 12;
/** Pods are measured up to this many times the highest rate; beyond it the largest size that was measured is taken. */
const MEASURED_TIMES = 1.7;
const CONSTANT_SIZES: readonly number[] = [
  100, 150, 200, 250, 300, 400, 500, 600, 700, 850, 1_000, 1_250, 1_500, 1_750, 2_000, 2_500, 3_000, 3_500, 4_000,
];
/** The SLO's window looks back for a minute, and so does the schedule; ahead for as long as a resize and two steps take. */
const BACK = 60_000;
const AHEAD = 30_000;
const LOOK_STEP = 15_000;
/** What is tried after a kill. More does not help pods that drown in requests. */
const MORE_MEMORY: readonly number[] = [1, 1.25, 1.6, 2];
/** What is tried with the cheapest plan, as long as nothing is killed and no more is missed. */
const LESS_MEMORY = 0.8;
/** Not where memory is less of the bill than this: a whole life would be played for a percent. */
const WORTH_LESS_MEMORY = 0.05;

/** Plans of one number of pods, from the cheapest to the dearest. */
interface Family {
  readonly kind: "schedule" | "constant";
  readonly replicas: number;
  readonly levels: readonly number[];
  /** Which of them is tried first. */
  readonly guess: number;
  /** Expected of each level, to leave out what cannot be cheaper than what was found. */
  readonly costs: readonly number[];
  /** Millicores at a moment. */
  cpuAt(level: number, now: Ms): number;
  readonly workingSet: number;
}

interface Played {
  readonly memory: Bytes;
  readonly truths: readonly EpisodeTruth[];
  readonly violations: number;
  readonly isWhole: boolean;
}

interface Found {
  readonly family: Family;
  readonly level: number;
  readonly played: Played;
  readonly cost: number;
}

const costOfAll = ({ truths }: Played): number => truths.reduce((sum, { cost }) => sum + cost, 0);

function memoryShare(played: Played): number {
  const byteSeconds = played.truths.reduce((sum, { memoryLimit }) => sum + memoryLimit, 0);
  return costOf({ coreSeconds: 0, byteSeconds, disruptions: 0 }) / costOfAll(played);
}

/** Searches one life; what was played once is remembered, so that a second limit costs little. */
export class BoundSearch {
  readonly #life: BoundLife;
  /** Plays are given up beyond this many misses: the largest limit that will be asked about. */
  readonly #mostViolations: number;
  readonly #tables = new Map<Application, Map<string, CapacityTable>>();
  readonly #families = new Map<string, Family>();
  readonly #played = new Map<string, Played>();

  constructor(life: BoundLife, mostViolations: number) {
    this.#life = life;
    this.#mostViolations = mostViolations;
  }

  /** The cheapest schedule with at most so many misses; undefined where none was found. */
  schedule(limit: number): BoundOutcome | undefined {
    return this.#cheapest(limit, "schedule");
  }

  /** The cheapest allocation that never changes, with at most so many misses. */
  constant(limit: number): BoundOutcome | undefined {
    return this.#cheapest(limit, "constant");
  }

  #counts(): readonly number[] {
    const { leastReplicas = 2, counts = COUNTS } = this.#life;
    return counts.filter((count) => count >= leastReplicas);
  }

  #family(kind: Family["kind"], replicas: number): Family {
    const key = `${kind} of ${replicas}`;
    const known = this.#families.get(key);
    if (known !== undefined) return known;
    const family = kind === "schedule" ? this.#scheduleFamily(replicas) : this.#constantFamily(replicas);
    this.#families.set(key, family);
    return family;
  }

  /** From few pods to many. Cost has one valley over their number: when two more were no better, more are not either. */
  #cheapest(limit: number, kind: Family["kind"]): BoundOutcome | undefined {
    let best: Found | undefined;
    let worse = 0;
    for (const replicas of this.#counts()) {
      const found = this.#lowest(this.#family(kind, replicas), limit, best?.cost ?? Number.POSITIVE_INFINITY);
      if (found !== undefined && (best === undefined || found.cost < best.cost)) {
        best = found;
        worse = 0;
      } else if (best !== undefined) worse += 1;
      if (worse >= 2) break;
    }
    return best && this.#leanest(best, limit);
  }

  /**
   * The first level that holds: one that gives more misses no more. Levels that cost too much are left out; where the dearest
   * of the rest does not hold, none does. Then by halving, which begins where most schedules end.
   */
  #lowest(family: Family, limit: number, dearest: number): Found | undefined {
    const levels = family.levels.filter((_, i) => (family.costs[i] as number) < dearest);
    let found: Found | undefined;
    let low = 0;
    let high = levels.length;
    const isLimited = dearest < Number.POSITIVE_INFINITY;
    let next = isLimited ? high - 1 : Math.min(high - 1, family.guess);
    while (low < high) {
      const level = levels[next] as number;
      const played = this.#play(family, level);
      if (played.isWhole && played.violations <= limit) {
        found = { family, level, played, cost: costOfAll(played) };
        high = next;
      } else low = next + 1;
      next = Math.floor((low + high) / 2);
    }
    return found;
  }

  /** The same with as little memory as it bears. */
  #leanest({ family, level, played }: Found, limit: number): BoundOutcome {
    let best = played;
    while (memoryShare(best) > WORTH_LESS_MEMORY) {
      const memory = Math.max(bounds.memory.min, Math.ceil(LESS_MEMORY * best.memory)) as Bytes;
      if (memory >= best.memory) break;
      const key = JSON.stringify([family.kind, family.replicas, level, memory]);
      const leaner = this.#played.get(key) ?? this.#playOnce(family, level, memory);
      this.#played.set(key, leaner);
      if (!leaner.isWhole || leaner.violations > limit || costOfAll(leaner) >= costOfAll(best)) break;
      best = leaner;
    }
    const { truths, violations } = best;
    return { kind: family.kind, truths, cost: costOfAll(best), violations, replicas: family.replicas, level };
  }

  #play(family: Family, level: number): Played {
    const key = JSON.stringify([family.kind, family.replicas, level]);
    const known = this.#played.get(key);
    if (known !== undefined) return known;
    let played: Played = { memory: bounds.memory.max, truths: [], violations: 0, isWhole: false };
    for (const times of MORE_MEMORY) {
      const memory = memoryFor(family.workingSet, times);
      played = this.#playOnce(family, level, memory);
      const isKilled = played.truths.some(({ oomKills }) => oomKills > 0);
      if (!isKilled || memory >= bounds.memory.max) break;
    }
    this.#played.set(key, played);
    return played;
  }

  #playOnce({ replicas, cpuAt }: Family, level: number, memory: Bytes): Played {
    const { scene, task, rung, seed, episodes, start = WORLD_START, versions = [], count } = this.#life;
    const at = (now: Ms): Allocation => ({ replicas, cpu: millicores(cpuAt(level, now)), memory });
    const world = openWorld(scene, { seed, rung, start, initial: at(start) });
    const driver: Driver = {
      stage: "bound",
      decide: ({ have, now }) => reconcile(scene.workload, { setting: at(now) }, have),
    };
    const truths: EpisodeTruth[] = [];
    let violations = 0;
    for (let episode = 0; episode < episodes; episode++) {
      for (const { episode: from, application, load } of versions)
        if (from === episode) world.update(scene.workload, { application, load });
      const truth = driveEpisode({ scene, world, driver, task });
      count?.next();
      truths.push(truth);
      violations += truth.violations;
      const isKilled = truth.oomKills > 0 && memory < bounds.memory.max;
      if (violations > this.#mostViolations || isKilled) return { memory, truths, violations, isWhole: false };
    }
    return { memory, truths, violations, isWhole: true };
  }

  #scheduleFamily(replicas: number): Family {
    const phases = this.#phases();
    const tables = phases.map(({ scene }) => this.#table(scene, replicas));
    const cpuAt = (factor: number, now: Ms): number => {
      let most = 0;
      for (let moment = now - BACK; moment <= now + AHEAD; moment += LOOK_STEP) {
        const phase = phaseAt(phases, moment);
        const { load } = (phases[phase] as Phase).scene;
        const rate = factor * rateAt(load, Math.max(moment, this.#life.start ?? WORLD_START));
        most = Math.max(most, cpuFor(tables[phase] as CapacityTable, rate));
      }
      return most;
    };
    return {
      kind: "schedule",
      replicas,
      levels: FACTORS,
      guess: USUAL_FACTOR,
      cpuAt,
      costs: FACTORS.map((factor) => this.#expectedCost(replicas, (now) => cpuAt(factor, now))),
      workingSet: this.#workingSet(tables),
    };
  }

  #constantFamily(replicas: number): Family {
    const tables = this.#phases().map(({ scene }) => this.#table(scene, replicas));
    return {
      kind: "constant",
      replicas,
      levels: CONSTANT_SIZES,
      guess: this.#sizeForPeak(tables),
      cpuAt: (cpu) => cpu,
      costs: CONSTANT_SIZES.map((cpu) => this.#expectedCost(replicas, () => cpu)),
      workingSet: this.#workingSet(tables),
    };
  }

  /** The first size that bears the highest rate of all versions. */
  #sizeForPeak(tables: readonly CapacityTable[]): number {
    const scenes = this.#phases().map(({ scene }) => scene);
    const needed = Math.max(...tables.map((table, i) => cpuFor(table, highestRate(scenes[i] as Scene))));
    return Math.max(
      0,
      CONSTANT_SIZES.findIndex((size) => size >= needed),
    );
  }

  /** What somebody would have begun with, where no size kept the SLO at any rate. */
  #workingSet(tables: readonly CapacityTable[]): number {
    return Math.max(...tables.map(({ workingSet }) => workingSet)) || this.#life.scene.initial.memory;
  }

  /** Of the cores alone: memory is the same for all levels, and disruptions there are none. */
  #expectedCost(replicas: number, cpuAt: (now: Ms) => number): number {
    const { task, episodes, start = WORLD_START } = this.#life;
    let millicoreSteps = 0;
    for (let step = 0; step < episodes * task.episodeSteps; step++)
      millicoreSteps += cpuAt(milliseconds(start + step * task.controlStep));
    const coreSeconds = (replicas * millicoreSteps * task.controlStep) / 1_000_000;
    return costOf({ coreSeconds, byteSeconds: 0, disruptions: 0 });
  }

  #phases(): readonly Phase[] {
    const { scene, task, start = WORLD_START, versions = [] } = this.#life;
    const episode = task.episodeSteps * task.controlStep;
    return [
      { from: Number.NEGATIVE_INFINITY, scene },
      ...versions.map(({ episode: number, application, load }) => ({
        from: start + number * episode,
        scene: { ...scene, application, load },
      })),
    ];
  }

  #table(scene: Scene, replicas: number): CapacityTable {
    const peakRate = highestRate(scene);
    const mostRate = peakRate * MEASURED_TIMES;
    const { seed, rung } = this.#life;
    const tables = this.#tables.get(scene.application) ?? new Map<string, CapacityTable>();
    const key = `${replicas} to ${mostRate}`;
    const table = tables.get(key) ?? measureCapacity(scene, { seed, rung, replicas, mostRate, peakRate });
    this.#tables.set(scene.application, tables.set(key, table));
    return table;
  }
}

interface Phase {
  readonly from: number;
  readonly scene: Scene;
}

const highestRate = ({ load }: Scene): number => load.perMinute.reduce((most, rate) => Math.max(most, rate), 0);

function phaseAt(phases: readonly Phase[], moment: number): number {
  let found = 0;
  while (found + 1 < phases.length && (phases[found + 1] as Phase).from <= moment) found++;
  return found;
}
