/**
 * What every operation usually does, and what it does now: how long it works, whom it calls, how long the ways are.
 * Owns: the counts of the window and of calm times, and how far apart the two are, per instance.
 * Not here: reading spans (span-marks.ts), which traces are in the window (trace-window.ts), what a deviation means (svm.ts).
 *
 * Every figure is a difference of two distributions less what chance makes of as few samples, so that an operation that was
 * seen ten times does not deviate by having been seen ten times. It is not weighed by milliseconds: a defect takes none.
 */
import { BUCKETS, CALL_MARK, type MarkNames, SPAN_MARK, type SpanMarks } from "./span-marks.ts";

/** Each from 0, as ever, to 1, never as before. */
export interface Deviation {
  /** Its operations take longer, or less long, by themselves than they used to, beyond what all instances do. */
  slower: number;
  faster: number;
  /** The ways to it, and from it to others, take longer. */
  slowTo: number;
  slowFrom: number;
  /** Its operations call others than they used to, or fail, and none that they call does so more. */
  changed: number;
  /** Callers stop after having called it, where they used to go on. */
  stops: number;
}

export const noDeviation: Deviation = { slower: 0, faster: 0, slowTo: 0, slowFrom: 0, changed: 0, stops: 0 };

interface Counts {
  n: number;
  readonly times: Float64Array;
  readonly shapes: Map<number, { count: number; readonly last: number }>;
}

interface Habit {
  readonly now: Counts;
  readonly normal: Counts;
}

/** So many of an operation in calm times are remembered; beyond, all count half. */
const MEMORY = 4_000;
/** Fewer say nothing, now or before. */
const LEAST = 10;
/** Shapes of one operation that are told apart. */
const MOST_SHAPES = 256;
/** By how many standard deviations chance is allowed for. */
const ALLOWANCE = 2;

export class Habits {
  readonly #names: MarkNames;
  readonly #operations: Habit[] = [];
  readonly #calls: Habit[] = [];

  constructor(names: MarkNames) {
    this.#names = names;
  }

  clear(): void {
    this.#operations.length = 0;
    this.#calls.length = 0;
  }

  enter(marks: SpanMarks): void {
    this.#count(marks, "now", 1);
  }

  /** What leaves the window, and whether it is part of the normal from then on. */
  leave(marks: SpanMarks, { isCalm }: { readonly isCalm: boolean }): void {
    this.#count(marks, "now", -1);
    if (isCalm) this.#count(marks, "normal", 1);
  }

  /** Of every instance in the window. */
  deviations(): ReadonlyMap<string, Deviation> {
    const found = new Map<string, Deviation>();
    const of = (instance: string): Deviation => {
      let deviation = found.get(instance);
      if (deviation === undefined) {
        deviation = { ...noDeviation };
        found.set(instance, deviation);
      }
      return deviation;
    };
    const { operations } = this.#names;
    for (const [id, habit] of this.#operations.entries()) {
      const name = operations[id];
      if (habit === undefined || name === undefined || habit.now.n === 0) continue;
      const own = of(name.instance);
      if (!isKnown(habit)) continue;
      const shift = shiftOf(habit);
      own.slower = Math.max(own.slower, shift);
      own.faster = Math.max(own.faster, -shift);
      own.changed = Math.max(own.changed, changeOf(habit));
      for (const [last, rise] of stopsIn(habit)) {
        const callee = operations[last];
        if (callee === undefined || callee.instance === name.instance) continue;
        const stopped = of(callee.instance);
        stopped.stops = Math.max(stopped.stops, rise);
      }
    }
    this.#addWays(of);
    this.#blameDeepest(found);
    removeCommon(found);
    return found;
  }

  /** A slow wire is slow for most calls at that end, so the middle one counts. */
  #addWays(of: (instance: string) => Deviation): void {
    const [to, from] = [new Map<string, Shift[]>(), new Map<string, Shift[]>()];
    for (const [id, habit] of this.#calls.entries()) {
      const pair = this.#names.pairs[id];
      if (habit === undefined || pair === undefined || !isKnown(habit)) continue;
      const shift = { shift: Math.max(0, shiftOf(habit)), calls: habit.now.n };
      append(to, pair.callee, shift);
      append(from, pair.caller, shift);
    }
    for (const [instance, shifts] of to) of(instance).slowTo = middleOf(shifts);
    for (const [instance, shifts] of from) of(instance).slowFrom = middleOf(shifts);
  }

  /** Who is called by one that changed, and has itself changed as much, is why the other did. */
  #blameDeepest(found: ReadonlyMap<string, Deviation>): void {
    const before = new Map([...found].map(([instance, { changed }]) => [instance, changed]));
    for (const [id, pair] of this.#names.pairs.entries()) {
      const calls = this.#calls[id];
      if (pair === undefined || calls === undefined || calls.now.n + calls.normal.n === 0) continue;
      const [caller, callee] = [found.get(pair.caller), before.get(pair.callee) ?? 0];
      if (caller !== undefined)
        caller.changed = Math.min(caller.changed, Math.max(0, (before.get(pair.caller) ?? 0) - callee));
    }
  }

  #count({ spans, calls }: SpanMarks, period: "now" | "normal", by: 1 | -1): void {
    for (let k = 0; k < spans.length; k += SPAN_MARK) {
      const id = spans[k]!;
      if (id === 0) continue;
      const counts = habitAt(this.#operations, id)[period];
      counts.n += by;
      if (spans[k + 1]! >= 0) counts.times[spans[k + 1]!]! += by;
      countShape(counts, spans[k + 2]!, { last: spans[k + 3]!, by });
      if (counts.n > MEMORY && period === "normal") halve(counts);
    }
    for (let k = 0; k < calls.length; k += CALL_MARK) {
      const id = calls[k]!;
      if (id === 0) continue;
      const counts = habitAt(this.#calls, id)[period];
      counts.n += by;
      counts.times[calls[k + 1]!]! += by;
      if (counts.n > MEMORY && period === "normal") halve(counts);
    }
  }
}

const noCounts = (): Counts => ({ n: 0, times: new Float64Array(BUCKETS), shapes: new Map() });

function habitAt(list: Habit[], id: number): Habit {
  let habit = list[id];
  if (habit === undefined) {
    habit = { now: noCounts(), normal: noCounts() };
    list[id] = habit;
  }
  return habit;
}

function countShape(
  { shapes }: Counts,
  shape: number,
  { last, by }: { readonly last: number; readonly by: number },
): void {
  const entry = shapes.get(shape);
  if (entry === undefined) {
    if (by > 0 && shapes.size < MOST_SHAPES) shapes.set(shape, { count: by, last });
    return;
  }
  entry.count += by;
  if (entry.count <= 0) shapes.delete(shape);
}

function halve(counts: Counts): void {
  counts.n /= 2;
  for (let k = 0; k < BUCKETS; k++) counts.times[k]! /= 2;
  for (const [shape, entry] of counts.shapes) {
    entry.count /= 2;
    if (entry.count < 0.1) counts.shapes.delete(shape);
  }
}

const isKnown = ({ now, normal }: Habit): boolean => now.n >= LEAST && normal.n >= LEAST;

/** The chance that now is longer less the chance that it is shorter, drawn to 0 by what chance allows (Cliff's delta). */
function shiftOf({ now, normal }: Habit): number {
  let [n, m, below, sum] = [0, 0, 0, 0];
  for (let k = 0; k < BUCKETS; k++) {
    n += now.times[k]!;
    m += normal.times[k]!;
  }
  if (n < LEAST || m < LEAST) return 0;
  for (let k = 0; k < BUCKETS; k++) {
    const above = m - below - normal.times[k]!;
    sum += now.times[k]! * (below - above);
    below += normal.times[k]!;
  }
  return beyondChance(sum / (n * m), Math.sqrt((1 / n + 1 / m) / 3));
}

/** Half of the sum of differences between the shares of shapes. */
function changeOf({ now, normal }: Habit): number {
  let [sum, kinds] = [0, now.shapes.size];
  for (const [shape, { count }] of now.shapes)
    sum += Math.abs(count / now.n - (normal.shapes.get(shape)?.count ?? 0) / normal.n);
  for (const [shape, { count }] of normal.shapes) {
    if (now.shapes.has(shape)) continue;
    sum += count / normal.n;
    kinds += 1;
  }
  return Math.max(0, beyondChance(sum / 2, 0.4 * Math.sqrt((kinds - 1) * (1 / now.n + 1 / normal.n))));
}

/** Operations that are the last to be called more often than before, and by how much. */
function stopsIn({ now, normal }: Habit): readonly (readonly [number, number])[] {
  const rises = new Map<number, number>();
  for (const { count, last } of now.shapes.values()) rises.set(last, (rises.get(last) ?? 0) + count / now.n);
  for (const { count, last } of normal.shapes.values()) rises.set(last, (rises.get(last) ?? 0) - count / normal.n);
  const spread = Math.sqrt(0.25 * (1 / now.n + 1 / normal.n));
  return [...rises].map(([last, rise]) => [last, Math.max(0, beyondChance(rise, spread))] as const);
}

const beyondChance = (value: number, spread: number): number =>
  Math.sign(value) * Math.max(0, Math.abs(value) - ALLOWANCE * spread);

interface Shift {
  readonly shift: number;
  readonly calls: number;
}

const append = (lists: Map<string, Shift[]>, end: string, shift: Shift): void => {
  const list = lists.get(end);
  if (list === undefined) lists.set(end, [shift]);
  else list.push(shift);
};

function middleOf(list: readonly Shift[]): number {
  const all = list.reduce((sum, { calls }) => sum + calls, 0);
  let below = 0;
  for (const { shift, calls } of [...list].sort((a, b) => a.shift - b.shift)) {
    below += calls;
    if (2 * below >= all) return shift;
  }
  return 0;
}

/** What the middle instance has, all have: load, the hour, a busy network. */
function removeCommon(found: ReadonlyMap<string, Deviation>): void {
  for (const what of ["slower", "faster", "slowTo", "slowFrom"] as const) {
    const sorted = [...found.values()].map((deviation) => deviation[what]).sort((a, b) => a - b);
    const common = sorted[(sorted.length - 1) >> 1] ?? 0;
    for (const deviation of found.values()) deviation[what] = Math.max(0, deviation[what] - common);
  }
}
