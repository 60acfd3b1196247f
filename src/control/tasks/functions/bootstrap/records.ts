/**
 * What is kept of a function to fit a simulator of it: one row per control step, two hours of them.
 * Owns: which figures, their grain, how long they are kept. Pure: plain data, saved with the agent. Not here: what follows from
 * them (fit.ts). Whoever acted: what a container does with a call does not depend on who asked for it.
 */
import type { FunctionReading } from "../../../../observe/telemetry/index.ts";
import type { FunctionSetting } from "../action.ts";

/** A step as it was measured; rates per second, times in ms, use as parts of what was granted. */
export interface RecordedStep {
  /** Seconds. */
  readonly at: number;
  readonly offered: number;
  readonly completed: number;
  readonly failed: number;
  readonly latency: number | null;
  readonly execution: number | null;
  readonly waiting: number | null;
  readonly coldStart: number | null;
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly ready: number;
  readonly setting: FunctionSetting;
  readonly kills: number;
}

/** Rounded, in the order of `RecordedStep`; use in thousandths, rates in hundredths. */
type Row = readonly (number | null)[];

/** Plain data: it is saved. Full blocks are shared between memories, so that a step copies little. */
export interface FunctionRecords {
  readonly blocks: readonly (readonly Row[])[];
}

export const noFunctionRecords: FunctionRecords = Object.freeze({ blocks: [] });

const BLOCK = 60;
const BLOCKS = 12;

export function recordsAfter(records: FunctionRecords, reading: FunctionReading): FunctionRecords {
  const row = rowOf(reading);
  const { blocks } = records;
  const open = blocks.at(-1) ?? [];
  const newest = open.at(-1)?.[0] ?? null;
  // A reading that was seen already; after a clock that went back what was kept is of other times.
  if (newest === row[0]) return records;
  if (newest !== null && newest > (row[0] as number)) return { blocks: [[row]] };
  if (open.length > 0 && open.length < BLOCK) return { blocks: [...blocks.slice(0, -1), [...open, row]] };
  return { blocks: [...blocks.slice(-(BLOCKS - 1)), [row]] };
}

const thousandths = (value: number | null): number | null => (value === null ? null : Math.round(1_000 * value));
const whole = (value: number | null): number | null => (value === null ? null : Math.round(value));

function rowOf({ at, setting, use, ready, kills, ...reading }: FunctionReading): Row {
  const { shares, memory, containers } = setting;
  return [
    Math.round(at / 1_000),
    Math.round(100 * (reading.offered ?? 0)),
    Math.round(100 * (reading.completed ?? 0)),
    Math.round(100 * (reading.failed ?? 0)),
    whole(reading.latency),
    whole(reading.execution),
    whole(reading.waiting),
    whole(reading.coldStart),
    thousandths(use.cpu),
    thousandths(use.memory),
    ready,
    shares,
    memory,
    containers,
    kills,
  ];
}

/** Oldest first. */
export function stepsOf({ blocks }: FunctionRecords): readonly RecordedStep[] {
  return blocks.flatMap((block) => block.map(stepOf));
}

function stepOf(row: Row): RecordedStep {
  const number = (column: number): number => row[column] ?? 0;
  const share = (column: number): number | null => {
    const value = row[column] ?? null;
    return value === null ? null : value / 1_000;
  };
  return {
    at: number(0),
    offered: number(1) / 100,
    completed: number(2) / 100,
    failed: number(3) / 100,
    latency: row[4] ?? null,
    execution: row[5] ?? null,
    waiting: row[6] ?? null,
    coldStart: row[7] ?? null,
    cpu: share(8),
    memory: share(9),
    ready: number(10),
    setting: { shares: number(11), memory: number(12), containers: number(13) },
    kills: number(14),
  };
}

/** How many there are, and when the newest was: cheap, since it is asked after every tick. */
export function extentOf({ blocks }: FunctionRecords): { readonly count: number; readonly newest: number } {
  const last = blocks.at(-1) ?? [];
  return { count: Math.max(0, blocks.length - 1) * BLOCK + last.length, newest: last.at(-1)?.[0] ?? 0 };
}
