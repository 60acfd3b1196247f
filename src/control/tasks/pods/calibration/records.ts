/**
 * What is kept of a workload to calibrate a model of it: one line per minute, two days of them.
 * Owns: which figures, their grain, how long they are kept. Pure: plain data, saved with the agent. Not here: what follows from
 * them (calibrate.ts), the planner's own memory, which these are read off (capacity/).
 *
 * The planner keeps the most load of each minute of one day, and what was given in the last minutes only. A model needs
 * both beside one another, and for longer: what there was, what came, and how near the SLO it was.
 */
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import { conditionsAt, workPerRequest } from "../capacity/conditions.ts";
import type { CapacityMemory } from "../capacity/planner.ts";

/** An hour as columns, a place per minute that was seen. */
export interface HourRecord {
  /** Hours since the clock's beginning. */
  readonly hour: number;
  /** Of the hour, 0 to 59. */
  readonly minute: readonly number[];
  /** Requests per second, in hundredths: the mean, and the most of half a minute. */
  readonly load: readonly number[];
  readonly peak: readonly number[];
  /** Ready pods, and the smallest size in millicores. */
  readonly pods: readonly number[];
  readonly size: readonly number[];
  /** The least that requests left over of it, in millicores. */
  readonly free: readonly number[];
  /** In thousandths; null where it says nothing of what was given. */
  readonly strain: readonly (number | null)[];
  /** Of each hundred readings, those that missed the SLO. */
  readonly missed: readonly number[];
  /** Millicore-seconds of a request, in hundredths. */
  readonly work: readonly number[];
  /** MiB: the most that a pod used, and what it had. */
  readonly memory: { readonly used: number; readonly given: number };
}

/** Plain data: it is saved. */
export interface Records {
  /** Oldest first. */
  readonly hours: readonly HourRecord[];
  /** Readings of the minute that is not over. */
  readonly open: { readonly readings: number; readonly missed: number };
}

export const noRecords: Records = Object.freeze({ hours: [], open: { readings: 0, missed: 0 } });

/** Two days: one to choose by, one to be judged by. */
const KEPT_HOURS = 48;
const MINUTE = 60_000;
const HOUR_MINUTES = 60;
const MIB = 1_048_576;
/** Of loads, work and strain. */
const GRAIN = { load: 100, work: 100, strain: 1_000 } as const;

interface Looked {
  /** The planner's memory before and after this reading. */
  readonly before: CapacityMemory;
  readonly after: CapacityMemory;
  readonly reading: WorkloadReading;
}

/** A reading was learned from: a minute that is over with it is written down. */
export function recordsAfter(records: Records, { before, after, reading }: Looked): Records {
  const end = before.seenAt;
  if (end === null || reading.at === end) return end === null ? counted(records, after) : records;
  const minute = Math.floor(end / MINUTE);
  const now = Math.floor(reading.at / MINUTE);
  // A clock that went back: what was kept is of other minutes.
  if (now < minute) return counted(noRecords, after);
  if (now === minute) return counted(records, after);
  const line = lineOf(records, { before, after, end });
  const hours = line === undefined ? records.hours : withLine(records.hours, minute, { line, reading });
  return counted({ hours, open: noRecords.open }, after);
}

const counted = ({ hours, open }: Records, { strain }: CapacityMemory): Records => ({
  hours,
  open: {
    readings: open.readings + 1,
    missed: open.missed + (strain !== null && strain.is > 0 ? 1 : 0),
  },
});

/** A minute before it is known which one. */
type Line = Omit<Minute, "at">;

function lineOf(
  { open }: Records,
  { before, after, end }: Pick<Looked, "before" | "after"> & { readonly end: number },
): Line | undefined {
  let [sum, peak, count] = [0, 0, 0];
  let [pods, size] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const one of after.conditions.given) {
    if (one.at > end - MINUTE && one.at <= end && one.load !== null) {
      sum += one.load;
      peak = Math.max(peak, one.load);
      count += 1;
    }
    if (one.now > end - MINUTE && one.now <= end) {
      pods = Math.min(pods, one.pods);
      size = Math.min(size, one.size);
    }
  }
  if (count === 0 || size === Number.POSITIVE_INFINITY) return undefined;
  const work = workPerRequest(after.conditions);
  const given = before.strain?.at === end ? conditionsAt(after.conditions, before.strain.at) : undefined;
  return {
    load: Math.round((GRAIN.load * sum) / count),
    peak: Math.round(GRAIN.load * peak),
    pods,
    size: Math.round(given?.size ?? size),
    free: Math.round(given?.free ?? size - (peak * work) / pods),
    strain: given === undefined || before.strain === null ? null : Math.round(GRAIN.strain * before.strain.is),
    missed: Math.round((100 * open.missed) / Math.max(1, open.readings)),
    work: Math.round(GRAIN.work * work),
  };
}

function withLine(
  hours: readonly HourRecord[],
  minute: number,
  { line, reading }: { readonly line: Line; readonly reading: WorkloadReading },
): readonly HourRecord[] {
  const hour = Math.floor(minute / HOUR_MINUTES);
  const last = hours.at(-1);
  const isOpen = last?.hour === hour;
  const before = isOpen ? last : empty(hour);
  let used = before.memory.used;
  for (const { memory } of reading.pods) if (memory !== null) used = Math.max(used, Math.ceil(memory / MIB));
  const next: HourRecord = {
    hour,
    minute: [...before.minute, minute % HOUR_MINUTES],
    load: [...before.load, line.load],
    peak: [...before.peak, line.peak],
    pods: [...before.pods, line.pods],
    size: [...before.size, line.size],
    free: [...before.free, line.free],
    strain: [...before.strain, line.strain],
    missed: [...before.missed, line.missed],
    work: [...before.work, line.work],
    memory: { used, given: Math.round(reading.spec.memory / MIB) },
  };
  const others = isOpen ? hours.slice(0, -1) : hours.filter((one) => one.hour > hour - KEPT_HOURS && one.hour < hour);
  return [...others, next];
}

const empty = (hour: number): HourRecord => ({
  hour,
  minute: [],
  load: [],
  peak: [],
  pods: [],
  size: [],
  free: [],
  strain: [],
  missed: [],
  work: [],
  memory: { used: 0, given: 0 },
});

/** A minute as it was, in the units of the capacity model. */
export interface Minute {
  /** Since the clock's beginning. */
  readonly at: number;
  readonly load: number;
  readonly peak: number;
  readonly pods: number;
  readonly size: number;
  readonly free: number;
  readonly strain: number | null;
  /** Share of its steps that missed the SLO. */
  readonly missed: number;
  readonly work: number;
}

/** All minutes that were seen, oldest first. */
export function minutesOf({ hours }: Records): readonly Minute[] {
  return hours.flatMap((one) =>
    one.minute.map((minute, i): Minute => {
      const strain = one.strain[i] ?? null;
      return {
        at: one.hour * HOUR_MINUTES + minute,
        load: (one.load[i] as number) / GRAIN.load,
        peak: (one.peak[i] as number) / GRAIN.load,
        pods: one.pods[i] as number,
        size: one.size[i] as number,
        free: one.free[i] as number,
        strain: strain === null ? null : strain / GRAIN.strain,
        missed: (one.missed[i] as number) / 100,
        work: (one.work[i] as number) / GRAIN.work,
      };
    }),
  );
}
