/**
 * Pods sized by what their workload needs: the cheapest setting that a learned capacity model expects to keep the SLO.
 * Owns: learning from a reading, and the plan that follows. Pure: its memory is plain data. Not here: the model (knees.ts), the
 * load that is to come (forecast.ts), risk (caution.ts, sizing.ts), limits and pace (act's guard), who acts on it.
 *
 * It learns by watching, whoever acts. Until it has seen enough there is no plan, but where requests pile up.
 */
import type { Allocation } from "../../../../act/index.ts";
import type { Ms, Ratio } from "../../../../base/index.ts";
import { bytes, millicores, ratio } from "../../../../base/index.ts";
import type { Slo, WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { PodBounds } from "../limits.ts";
import type { Bursts } from "./bursts.ts";
import { burstsAfter, noBursts } from "./bursts.ts";
import type { Caution } from "./caution.ts";
import { cautionAfter, noCaution, worthOfMiss } from "./caution.ts";
import type { ConditionsMemory } from "./conditions.ts";
import {
  conditionsAfter,
  conditionsAt,
  conditionsOf,
  leastSizeAt,
  loadOf,
  noConditions,
  withWorkInDoubt,
  workPerRequest,
} from "./conditions.ts";
import type { Cure } from "./cure.ts";
import { cureAfter, isOver } from "./cure.ts";
import type { LoadMemory } from "./forecast.ts";
import { expectedLoad, loadNow, loadsAfter, loadsWith, mostLately, noLoads } from "./forecast.ts";
import type { Belief } from "./knees.ts";
import { capacityModel } from "./knees.ts";
import type { LoadHistory } from "./minutes.ts";
import type { Overload } from "./overload.ts";
import { arePodsDue, isGrowing, isHopeless, isLasting, isUncured, overloadAfter } from "./overload.ts";
import type { PodsKept } from "./pods-kept.ts";
import { keptUntil, podsAtFirst, podsFor, podsOfAtLeast } from "./pods-kept.ts";
import type { Points } from "./points.ts";
import { kneeOf, riskAt, strainAt } from "./points.ts";
import type { Knees, PriorModel } from "./prior.ts";
import { firstSightOf, kneesIn, likelihoodFrom } from "./prior.ts";
import { insuredSize } from "./sizing.ts";
import { LEAST_STRAIN, MOST_STRAIN, strainOf } from "./strain.ts";

export interface CapacityOptions {
  readonly slo: Slo;
  readonly bounds: PodBounds;
  /** The share of steps that may miss the SLO. */
  readonly allowed?: Ratio;
  /** Where one pod could take all requests there are two all the same, or none would be left when it fails. */
  readonly leastPods?: number;
  /** Loads from before it began; absent: none are known. */
  readonly history?: LoadHistory;
  /** What other workloads needed that looked like this one; absent: all knees are equally likely at first. */
  readonly prior?: PriorModel;
}

/** Plain data: it is saved. */
export interface CapacityMemory {
  readonly conditions: ConditionsMemory;
  readonly loads: LoadMemory;
  readonly belief: Belief;
  readonly bursts: Bursts;
  readonly caution: Caution;
  /** Latency in the first minutes, for SLOs that do not judge it: sum of logarithms, and of how many steps. */
  readonly usual: UsualLatency;
  /** The newest, from which nothing was learned yet. */
  readonly strain: { readonly at: Ms; readonly is: number } | null;
  /** CPU beyond what the load computes, in requests per second that it could compute. */
  readonly reserve: number;
  /** null until it first decided. */
  readonly pods: PodsKept | null;
  readonly overload: Overload | null;
  readonly cure: Cure | null;
  /** Since when every step has been missed. */
  readonly missedSince: Ms | null;
  readonly seenAt: Ms | null;
  readonly firstAt: Ms | null;
}

interface UsualLatency {
  readonly sum: number;
  readonly steps: number;
}

/** What is to be done, and what is expected of it. */
export interface CapacityPlan {
  readonly setting: Allocation;
  readonly rule: "need" | "idle" | "relief" | "held" | "no-cure";
  /** Requests per second that are expected, and by whom. */
  readonly load: number;
  readonly forecast: string;
  /** The logarithm of measured over allowed that is expected: 0 is right at the SLO. */
  readonly strain: number;
  /** The chance that a minute misses the SLO. */
  readonly risk: number;
}

export interface CapacityPlanner {
  readonly fresh: CapacityMemory;
  /** What is known after a reading, and the plan; null while too little was seen and nothing piles up. */
  step(memory: CapacityMemory, reading: WorkloadReading, now: Ms): PlannedStep;
  /** Whether requests have piled up for minutes, or every step was missed for longer, and whoever acted has not cured it. */
  isUncured(memory: CapacityMemory): boolean;
  /** The same question for any other size and number of pods, under the plan's load. */
  outlook(memory: CapacityMemory, asked: Pick<Allocation, "replicas" | "cpu"> & { readonly load: number }): Outlook;
  /** Of that the strain alone. */
  strainOf(memory: CapacityMemory, asked: Pick<Allocation, "replicas" | "cpu"> & { readonly load: number }): number;
  /** What is believed of the workload, for models of others that are like it. */
  knees(memory: CapacityMemory): Knees;
}

export interface PlannedStep {
  readonly memory: CapacityMemory;
  readonly plan: CapacityPlan | null;
}

export type Outlook = Pick<CapacityPlan, "strain" | "risk">;

/** Half of what may be missed at all: the other half is for what no model foresees. */
const ALLOWED = ratio(0.005);
const LEAST_PODS = 2;
/** The most pods are counted for what came within the hour: a pod takes a minute to start, and the hour's peak may return. */
const PODS_FOR = 60;
/** Steps of evidence before it acts: five minutes. */
const ENOUGH = 20;
/** Where a trusted forecaster expects silence, a quarter: two doublings from what is needed, as fast as the guard lets it grow. */
const IDLE = 0.25;
/** After a missed minute CPU is at least this many times what it had in that minute, whatever the model says. */
const RELIEF = 1.5;
/** That is, unless even the most would hardly lower the strain. */
const CURED = 0.05;
/**
 * What a miss is worth at most where sizes are chosen: four times the usual worth. How likely it is was learned from every minute
 * (bursts.ts), unlike how likely a forecast is wrong, which only misses tell.
 */
const MOST_WORTH = worthOfMiss({ level: 1.35 });
/** Load that is expected and seldom comes makes few misses: so many of them count at least, for a load that came may stay. */
const LEAST_NEAR = 0.3;
/** A request or two of a minute that fail are not for want of CPU that was given back. */
const BY_LITTLE = 0.03;
/** Where less than this share of CPU is used, what is missed for a moment is not for want of it. */
const BUSY = 0.3;
/** Whoever misses every step for so long does not know what the workload needs. */
const FAILING = 300_000;
const DAY = 86_400_000;
/** Closer than this is no change: a resize is not free. */
const NEAR = 0.04;
/** Times the most that a pod used: it is measured at moments, and a limit that is too small kills. */
const MEMORY_MARGIN = 1.4;
const MIB = 1_048_576;
const LEAST_MEMORY = 56 * MIB;

export function capacityPlanner(options: CapacityOptions): CapacityPlanner {
  const { bounds, slo, allowed = ALLOWED, prior } = options;
  const model = capacityModel({ cpu: bounds.cpu });
  const leastPods = Math.min(Math.max(options.leastPods ?? LEAST_PODS, bounds.replicas.min), bounds.replicas.max);

  function learned(before: CapacityMemory, reading: WorkloadReading, now: Ms): CapacityMemory {
    const conditions = conditionsAfter(before.conditions, reading, now);
    // The same measurements again say nothing new.
    if (reading.at === before.seenAt) return { ...before, conditions };
    const load = loadOf(reading);
    const loads =
      load === null ? before.loads : loadsAfter(before.loads, { load, reserve: before.reserve, at: reading.at });
    const strain = strainOf(slo, reading, usualOf(before));
    const { belief, bursts, reserve, pods, overload, cure = null } = before;
    // Written out, for a copy by spread takes as long as learning does.
    const told = {
      conditions,
      loads,
      belief,
      bursts,
      caution: strain === null ? before.caution : cautionAfter(before.caution, { isMissed: strain > 0, allowed }),
      usual: strain === null ? before.usual : usualAfter(before.usual, reading.latency),
      strain: strain === null ? null : { at: reading.at, is: strain },
      reserve,
      pods,
      overload,
      cure,
      missedSince: strain === null || strain > 0 ? (before.missedSince ?? (strain === null ? null : reading.at)) : null,
      seenAt: reading.at,
      firstAt: before.firstAt ?? reading.at,
    };
    // One step later, for only then it is known what load there was.
    const given = before.strain === null ? undefined : conditionsAt(conditions, before.strain.at);
    if (before.strain === null || given === undefined) return told;
    const minute = { conditions: given, work: workPerRequest(conditions) };
    const knee = kneeOf(model.pointsOf(belief), before.strain.is, minute);
    told.bursts = before.strain.is < MOST_STRAIN ? burstsAfter(bursts, knee) : bursts;
    told.belief = model.after(belief, before.strain.is, given);
    return told;
  }

  function planned(state: CapacityMemory, reading: WorkloadReading, now: Ms): PlannedStep {
    const worth = worthOfMiss(state.caution);
    const forecast = expectedLoad(state.loads, { now, worth, allowed });
    const load = Math.max(reading.offered ?? 0, loadNow(state.loads), forecast.load);
    const work = workPerRequest(state.conditions);
    const usual = model.pointsOf(state.belief);
    const points: Points = { each: usual.each, noise: usual.noise, bursts: { seen: state.bursts, work } };
    const { replicas, cpu: had } = reading.spec;
    const expected = strainAt(points, conditionsOf({ size: had, pods: Math.max(1, replicas), load, work }));
    const { overload, pods: before, cure, isGrown } = overloaded(state, { reading, now, expected });
    // A pod that goes takes its requests with it, and they would look like another overload.
    const pods = podsFor(usual, cure !== null && now < cure.until ? keptUntil(before, cure.until) : before, {
      now,
      need: { load: Math.max(load, mostLately(state.loads, now, PODS_FOR)), work },
      pods: { min: leastPods, max: bounds.replicas.max },
      cpu: bounds.cpu,
    });
    const sized = { load, work, worth: Math.min(worth, MOST_WORTH) * Math.max(LEAST_NEAR, forecast.near) };
    const { size } = insuredSize(points, pods.count, { need: sized, bounds: bounds.cpu });
    const isIdle = forecast.isTrusted && load === 0;
    const isMissed = state.strain !== null && state.strain.is > 0;
    const missed = isMissed ? leastSizeAt(state.conditions, state.strain.at) : undefined;
    const relief =
      // What has grown for so long in vain is not cured by more.
      missed === undefined || isHopeless(overload)
        ? 0
        : isGrown
          ? RELIEF * missed
          : reliefOf(points, missed, { load, work, pods: pods.count });
    const needed = isIdle ? IDLE * size : size;
    const isCured = cure === null || isOver(cure, { now, planned: needed * pods.count, cores: cure.cores });
    const held = isCured ? 0 : cure.cores / pods.count;
    const cpu = Math.max(needed, relief, held);
    const rule =
      cpu > needed
        ? relief >= held
          ? "relief"
          : "held"
        : isIdle
          ? "idle"
          : isMissed && relief === 0
            ? "no-cure"
            : "need";
    const setting: Allocation = {
      replicas: pods.count,
      cpu: millicores(unlessNear(wholeTens(inside(cpu, bounds.cpu)), reading.spec.cpu)),
      memory: bytes(unlessNear(inside(memoryFor(state, reading), bounds.memory), reading.spec.memory)),
    };
    const given = conditionsOf({ size: setting.cpu, pods: setting.replicas, load, work });
    return {
      plan: {
        setting,
        rule,
        load,
        forecast: forecast.by,
        strain: strainAt(points, given),
        risk: Math.min(1, riskAt(points, given)),
      },
      memory: {
        ...state,
        conditions: state.overload === null && overload !== null ? withWorkInDoubt(state.conditions) : state.conditions,
        loads: forecast.memory,
        pods,
        overload,
        cure: isCured ? null : cure,
        reserve: Math.max(0, (size * pods.count) / work - load),
      },
    };
  }

  interface Moment {
    readonly reading: WorkloadReading;
    readonly now: Ms;
    readonly expected: number;
  }

  /** Whether more piles up than was expected, the pods that there are for it, and what is held after it. */
  function overloaded(state: CapacityMemory, { reading, now, expected }: Moment) {
    const { replicas, cpu } = reading.spec;
    const pods = state.pods ?? podsAtFirst(Math.max(leastPods, replicas), now);
    const strain = state.strain?.is ?? null;
    const overload = overloadAfter(state.overload, { now, strain, expected });
    const isBusy = usedShare(reading) >= BUSY;
    const isGrown = isGrowing(overload, now) && (isBusy || isLasting(overload));
    const cure = cureAfter(state.cure, {
      now,
      have: replicas * cpu,
      isGrowing: isGrown,
      isHopeless: isHopeless(overload),
      isMissed: isBusy && strain !== null && strain > BY_LITTLE,
    });
    if (!isGrown || !arePodsDue(overload, now)) return { overload, pods, cure, isGrown };
    const more = podsOfAtLeast(pods, Math.min(2 * pods.count, bounds.replicas.max), now);
    return { overload: { ...overload, grownAt: now }, pods: more, cure, isGrown };
  }

  /**
   * Where requests pile up before anything was learned: whoever acts has not cured it, and a model that cannot learn from such minutes
   * will not say what would. CPU and pods grow from what there is; once it is cured, the model learns.
   */
  function withoutModel(state: CapacityMemory, reading: WorkloadReading, now: Ms): PlannedStep {
    const { spec } = reading;
    // Whoever acts may have more pods by now, or fewer.
    const found = { ...state, pods: podsAtFirst(Math.max(leastPods, spec.replicas), now) };
    const { overload, pods, cure, isGrown } = overloaded(found, { reading, now, expected: LEAST_STRAIN });
    const forecast = expectedLoad(state.loads, { now, worth: worthOfMiss(state.caution), allowed });
    const memory = { ...state, loads: forecast.memory, overload, cure };
    if (cure === null) return { memory, plan: null };
    const missed = isGrown && state.strain !== null ? (leastSizeAt(state.conditions, state.strain.at) ?? spec.cpu) : 0;
    const cpu = Math.max(RELIEF * missed, cure.cores / pods.count);
    return {
      plan: {
        setting: {
          replicas: pods.count,
          cpu: millicores(unlessNear(wholeTens(inside(cpu, bounds.cpu)), spec.cpu)),
          memory: bytes(unlessNear(inside(memoryFor(state, reading), bounds.memory), spec.memory)),
        },
        rule: isGrown ? "relief" : "held",
        load: Math.max(reading.offered ?? 0, loadNow(state.loads), forecast.load),
        forecast: forecast.by,
        strain: 0,
        risk: isGrown ? 1 : 0,
      },
      memory,
    };
  }

  /** 0 where more CPU is no cure. */
  function reliefOf(
    points: Points,
    missed: number,
    { load, work, pods }: { readonly load: number; readonly work: number; readonly pods: number },
  ): number {
    const strainOfSize = (size: number): number => strainAt(points, conditionsOf({ size, pods, load, work }));
    return strainOfSize(missed) - strainOfSize(bounds.cpu.max) > CURED ? RELIEF * missed : 0;
  }

  return {
    fresh: {
      conditions: noConditions,
      loads: options.history === undefined ? noLoads : loadsWith(options.history),
      belief: model.fresh,
      bursts: noBursts,
      caution: noCaution,
      usual: { sum: 0, steps: 0 },
      strain: null,
      reserve: 0,
      pods: null,
      overload: null,
      cure: null,
      missedSince: null,
      seenAt: null,
      firstAt: null,
    },
    step(before, reading, now) {
      const told = learned(before, reading, now);
      const isFirst = before.belief.steps < ENOUGH && told.belief.steps >= ENOUGH;
      const seen = prior && isFirst ? firstSightOf(told) : undefined;
      const memory =
        prior && seen ? { ...told, belief: model.leaning(told.belief, likelihoodFrom(prior, seen)) } : told;
      return memory.belief.steps >= ENOUGH ? planned(memory, reading, now) : withoutModel(memory, reading, now);
    },
    isUncured: ({ overload, strain, missedSince }) =>
      strain !== null && strain.is > 0 && (isUncured(overload) || strain.at - (missedSince ?? strain.at) >= FAILING),
    strainOf(memory, { replicas, cpu, load }) {
      const work = workPerRequest(memory.conditions);
      return strainAt(model.pointsOf(memory.belief), conditionsOf({ size: cpu, pods: replicas, load, work }));
    },
    outlook(memory, { replicas, cpu, load }) {
      const work = workPerRequest(memory.conditions);
      const points: Points = { ...model.pointsOf(memory.belief), bursts: { seen: memory.bursts, work } };
      const given = conditionsOf({ size: cpu, pods: replicas, load, work });
      return { strain: strainAt(points, given), risk: Math.min(1, riskAt(points, given)) };
    },
    knees: (memory) => kneesIn(model.pointsOf(memory.belief)),
  };
}

/** The share of their CPU that ready pods use; 1 where nobody measured it. */
function usedShare({ pods }: WorkloadReading): number {
  let [used, limit] = [0, 0];
  for (const { readyAt, cpu, cpuLimit } of pods) {
    if (readyAt === null || cpu === null) continue;
    used += cpu;
    limit += cpuLimit;
  }
  return limit > 0 ? used / limit : 1;
}

const usualOf = ({ usual }: { readonly usual: UsualLatency }): number | null =>
  usual.steps >= ENOUGH ? usual.sum / usual.steps : null;

const usualAfter = (usual: UsualLatency, latency: Ms | null): UsualLatency =>
  latency === null || usual.steps >= ENOUGH
    ? usual
    : { sum: usual.sum + Math.log(Math.max(latency, 1e-3)), steps: usual.steps + 1 };

const inside = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(Math.max(value, min), max);

const wholeTens = (value: number): number => Math.round(value / 10) * 10;

const unlessNear = (value: number, have: number): number => (Math.abs(value - have) <= NEAR * have ? have : value);

/**
 * A kill costs more than a day of memory, which is a fiftieth of the bill: until a whole day was seen there is no less of it
 * than there was.
 */
function memoryFor({ conditions, firstAt }: CapacityMemory, { at, spec }: WorkloadReading): number {
  const isDaySeen = firstAt !== null && at - firstAt >= DAY;
  const needed = Math.max(MEMORY_MARGIN * conditions.memoryPeak, LEAST_MEMORY, isDaySeen ? 0 : spec.memory);
  return Math.ceil(needed / MIB) * MIB;
}
