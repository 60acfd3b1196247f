/**
 * The most load that this minute and the next will bring, by the forecaster that has proved itself on this workload.
 * Owns: a few dozen simple forecasters, their records, choosing among them. Pure.
 * Not here: what the load needs (knees.ts).
 *
 * Each forecaster is "at least what came in the last h minutes", "what came p minutes ago, and now", or "what came around this
 * time yesterday, or after minutes like the last ones (alike.ts), and now". Everyone is asked in every step and judged by what
 * came, so that trying one out costs nothing. Of those that were judged for an hour the one is taken whose CPU and misses would have cost least, by the same rule as sizes (sizing.ts): ln(CPU) + worth · share of steps
 * in which more came. Before that the one that looks back longest is.
 */
import type { Ms } from "../../../../base/index.ts";
import type { Alike } from "./alike.ts";
import { MINUTES_BACK, mostAlike } from "./alike.ts";
import type { LoadHistory, Minutes } from "./minutes.ts";
import {
  GRAIN,
  loadsBefore,
  MINUTE,
  minutesAfter,
  minutesFrom,
  mostFrom,
  mostOfAll,
  mostOfLast,
  noMinutes,
} from "./minutes.ts";

/**
 * Plain data: it is saved. By forecaster where nothing else is said. A new one is written out name by name: it is made several
 * times in each step, and a copy by spread takes longer than what was changed in it.
 */
export interface LoadMemory {
  /** The most of each. */
  readonly minutes: Minutes;
  /** The load of the newest, and of the one before it. */
  readonly latest: number;
  readonly earlier: number;
  /** What was said lately, to be judged by what comes. */
  readonly said: readonly Said[];
  /** The share of steps in which more came. Begins high: trust is earned. */
  readonly wrong: readonly number[];
  /** The mean logarithm of the CPU that serves what it expects, in requests per second that this CPU could compute. */
  readonly level: readonly number[];
  /** The share of steps in which about as much came. Begins at 1. */
  readonly near: readonly number[];
  /** Steps that it was judged by. */
  readonly judged: readonly number[];
  /** What the days before say of this minute; null before anything was asked. */
  readonly days: DaysBefore | null;
}

interface DaysBefore {
  readonly minute: number;
  /** Where it went as it does now; null where no such day was seen. */
  readonly alike: Alike | null;
  /** The most around then, by forecaster; −1 where it is not known. */
  readonly most: readonly number[];
}

interface Said {
  readonly at: Ms;
  readonly loads: readonly number[];
}

interface LoadForecast {
  /** Requests per second. */
  readonly load: number;
  /** The share of steps in which about as much comes. */
  readonly near: number;
  /** Whether silence that is expected can be relied on. */
  readonly isTrusted: boolean;
  /** For people: `the last 60 min`, `1440 min ago`. */
  readonly by: string;
}

const LOOK_BACK = [1, 2, 5, 15, 60, 180] as const;
/** How often timers fire: minutes that divide an hour, hours, half days, days. */
const PERIODS = [5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 720, 1_440] as const;
/** One that repeats expects nothing more, or at least what came in the last minute, or in the last five: places in LOOK_BACK. */
const AND_NOW = [-1, 0, 2] as const;
const LONGEST = LOOK_BACK.length - 1;
/** The most of so many minutes before and after: around the same time yesterday, and where minutes were like the last ones. */
const AROUND = { yesterday: [15, 45], alike: [1, 3, 8] } as const;
/** These expect at least what came in the last minute, or in the last five. */
const AROUND_AND_NOW = [0, 2] as const;
const PERIODIC = LOOK_BACK.length + AND_NOW.length * PERIODS.length;
const AROUND_DAYS = [...AROUND.yesterday, ...AROUND.alike];
const COUNT = PERIODIC + AROUND_AND_NOW.length * AROUND_DAYS.length;
/** A resize in place takes effect within a step, and growing from idle takes a few steps under the guard: a minute is enough. */
const AHEAD = 1;
/** Periods up to an hour must have repeated once. */
const TWICE_UP_TO = 60;

const DAY_MINUTES = 1_440;
/** What a rate is a mean over. */
const RATE_WINDOW = 30_000;

/** Before anything was seen: wrong in one of a hundred steps, worth a hundred steps of proof. */
const START = { wrong: 0.01, steps: 100 } as const;
const STEPS_TO_TRUST = 240;
/** Requests per second: less CPU than this makes no difference. */
const LEAST_CPU = 0.1;
/** Half a day of steps of 15 s: what it got wrong before that is forgotten bit by bit. */
const REMEMBERED = 2_880;
/** A forecast is judged by what is measured 30 to 52 s later: the first that a decision made on it could serve. */
const JUDGED = { from: 30_000, to: 52_000 } as const;

const forAll = (value: number): readonly number[] => Object.freeze(new Array<number>(COUNT).fill(value));

export const noLoads: LoadMemory = Object.freeze({
  minutes: noMinutes,
  latest: 0,
  earlier: 0,
  said: [],
  wrong: forAll(START.wrong),
  level: forAll(0),
  near: forAll(1),
  judged: forAll(0),
  days: null,
});

interface MeasuredLoad {
  readonly load: number;
  /** CPU that is given beyond what a load computes, in requests per second that it could compute. */
  readonly reserve: number;
  readonly at: Ms;
}

/** A load that was measured. */
export function loadsAfter(memory: LoadMemory, measured: MeasuredLoad): LoadMemory {
  const { load, reserve, at } = measured;
  // A mean over the edge of a burst belongs to its side of the edge.
  const isRising = load > memory.latest;
  const minute = Math.max(0, Math.floor((isRising ? at : at - RATE_WINDOW) / MINUTE));
  const { newest } = memory.minutes;
  // A clock that went back: what was kept is of other minutes.
  if (newest !== null && minute < newest - 1) return loadsAfter(noLoads, measured);
  const minutes = minutesAfter(memory.minutes, minute, Math.ceil(load * GRAIN));
  const said: Said[] = [];
  for (const one of memory.said) if (one.at >= at - JUDGED.to) said.push(one);
  const { wrong, level, near, judged, days } = memory;
  const next = { minutes, latest: load, earlier: memory.latest, said, wrong, level, near, judged, days };
  const due = said[0];
  return due !== undefined && due.at <= at - JUDGED.from ? judge(next, due.loads, { load, reserve }) : next;
}

/**
 * A memory that knows the minutes before it began, as a metrics store can tell them. Whom to trust is not known from it: how wrong a
 * forecaster is depends on how much there is beyond the load, and that is not in a history.
 */
export function loadsWith(history: LoadHistory): LoadMemory {
  const latest = history.perMinute.at(-1) ?? 0;
  return { ...noLoads, minutes: minutesFrom(history), latest, earlier: latest };
}

/** This share of what was said is about as much. */
const NEAR = 0.8;

/** So much of the reserve may be used up: waiting then grows by about as much as is left below the SLO. */
const SPARE = 0.15;

/** More than was said, by more than chance; silence is silence. */
const isMore = (load: number, said: number, spare: number): boolean =>
  said === 0 ? load > 0 : load > said + Math.max(SPARE * said, spare) + noiseOf(said);

/** Two deviations of the rate of random arrivals over half a minute. */
const noiseOf = (load: number): number => 2 * Math.sqrt(Math.max(load, 0.2) / 30);

function judge(
  memory: LoadMemory,
  said: readonly number[],
  { load, reserve }: Pick<MeasuredLoad, "load" | "reserve">,
): LoadMemory {
  const wrong = memory.wrong.slice();
  const level = memory.level.slice();
  const near = memory.near.slice();
  const judged = memory.judged.slice();
  let before = -1;
  let isWrong = 0;
  let isNear = 0;
  let cpu = 0;
  for (let i = 0; i < COUNT; i++) {
    const one = said[i] as number;
    if (one < 0) continue;
    // Many say the same, mostly neighbours.
    if (one !== before) {
      const told = one / GRAIN;
      isWrong = isMore(load, told, SPARE * reserve) ? 1 : 0;
      isNear = load > NEAR * told ? 1 : 0;
      cpu = Math.log(Math.max(told + reserve, LEAST_CPU));
      before = one;
    }
    const steps = (judged[i] as number) + 1;
    judged[i] = Math.min(steps, REMEMBERED);
    const remembered = Math.min(steps + START.steps, REMEMBERED);
    wrong[i] = (wrong[i] as number) + (isWrong - (wrong[i] as number)) / remembered;
    near[i] = (near[i] as number) + (isNear - (near[i] as number)) / remembered;
    level[i] = (level[i] as number) + (cpu - (level[i] as number)) / Math.min(steps, REMEMBERED);
  }
  const { minutes, latest, earlier, said: saidLately, days } = memory;
  return { minutes, latest, earlier, said: saidLately, wrong, level, near, judged, days };
}

interface Asked {
  readonly now: Ms;
  /** Of a missed step, in steps of CPU. */
  readonly worth: number;
  /** The share of steps that may be missed. */
  readonly allowed: number;
}

/** What is expected, and the memory that knows what was said. */
export function expectedLoad(
  memory: LoadMemory,
  { now, worth, allowed }: Asked,
): LoadForecast & { readonly memory: LoadMemory } {
  const minute = Math.floor(now / MINUTE);
  const known = withDays(memory, minute);
  const loads = saidBy(known, minute);
  const { minutes, latest, earlier, wrong, level, near, judged } = memory;
  let chosen = LONGEST;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < COUNT; i++) {
    if ((loads[i] as number) < 0 || (judged[i] as number) < STEPS_TO_TRUST) continue;
    const loss = (level[i] as number) + worth * (wrong[i] as number);
    if (loss >= least) continue;
    chosen = i;
    least = loss;
  }
  const said = memory.said.slice();
  said.push({ at: now, loads });
  return {
    load: Math.max(0, loads[chosen] ?? 0) / GRAIN,
    isTrusted: (judged[chosen] as number) >= STEPS_TO_TRUST && (wrong[chosen] as number) <= allowed,
    near: near[chosen] as number,
    by: nameOf(chosen),
    memory: { minutes, latest, earlier, said, wrong, level, near, judged, days: known.days },
  };
}

// Room to work in.
const before = new Float64Array(MINUTES_BACK);

/** With what the days before say, looked for once a minute. */
function withDays(memory: LoadMemory, minute: number): LoadMemory {
  if (memory.days?.minute === minute) return memory;
  loadsBefore(memory.minutes, minute, before);
  const alike = mostAlike(before, minute);
  const most = AROUND_DAYS.map((around, i) => {
    const isAlike = i >= AROUND.yesterday.length;
    if (isAlike && alike === null) return -1;
    const [ago, times] = isAlike && alike !== null ? [alike.ago, alike.times] : [DAY_MINUTES, 1];
    const most = mostFrom(memory.minutes, minute - ago - around, minute - ago + AHEAD + around);
    return most < 0 ? -1 : Math.ceil(times * most);
  });
  return { ...memory, days: { minute, alike, most } };
}

function nameOf(forecaster: number): string {
  if (forecaster <= LONGEST) return `the last ${LOOK_BACK[forecaster]} min`;
  if (forecaster < PERIODIC) return `${PERIODS[Math.floor((forecaster - LONGEST - 1) / AND_NOW.length)]} min ago`;
  const around = Math.floor((forecaster - PERIODIC) / AROUND_AND_NOW.length);
  return `${around < AROUND.yesterday.length ? "yesterday" : "a day like this"} ± ${AROUND_DAYS[around]} min`;
}

const NOBODY = new Array<number>(COUNT).fill(-1);

/** −1 where a forecaster has not seen that far back. */
function saidBy(memory: LoadMemory, minute: number): number[] {
  const loads = NOBODY.slice();
  mostOfLast(memory.minutes, minute, { lengths: LOOK_BACK, loads });
  let i = LOOK_BACK.length;
  for (const period of PERIODS) {
    const ago = mostAgo(memory, minute, period);
    for (const place of AND_NOW) {
      if (ago >= 0) loads[i] = Math.max(ago, place < 0 ? 0 : (loads[place] as number));
      i += 1;
    }
  }
  for (const most of memory.days?.most ?? [])
    for (const place of AROUND_AND_NOW) {
      if (most >= 0) loads[i] = Math.max(most, loads[place] as number);
      i += 1;
    }
  return loads;
}

/**
 * The load of just now. A rate is a mean over two steps: where it rises beyond chance, the newer one of them was higher by as much
 * again. That is believed up to the most that ever came.
 */
export function loadNow(memory: LoadMemory): number {
  const { latest, earlier, minutes } = memory;
  const rise = latest - earlier - noiseOf(latest);
  if (rise <= 0) return latest;
  const risen = latest + rise;
  return Math.max(latest, Math.min(risen, mostOfAll(minutes, Math.floor(risen * GRAIN) + 1) / GRAIN));
}

/** The most of the last minutes. */
export function mostLately({ minutes }: LoadMemory, now: Ms, length: number): number {
  const loads = [0];
  mostOfLast(minutes, Math.floor(now / MINUTE), { lengths: [length], loads });
  return (loads[0] as number) / GRAIN;
}

/** The most of this minute and the next ones a period ago. */
function mostAgo({ minutes }: LoadMemory, minute: number, period: number): number {
  let most = -1;
  for (let times = 1; times <= (period <= TWICE_UP_TO ? 2 : 1); times++) {
    const load = mostFrom(minutes, minute - times * period, minute + AHEAD - times * period);
    if (load < 0) return -1;
    if (load > most) most = load;
  }
  return most;
}
