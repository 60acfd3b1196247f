/**
 * The most load of each of the last minutes: two days of them.
 * Owns: keeping them, what was kept before an agent began, and the most of a stretch. Pure. Not here: what is made of it
 * (forecast.ts, alike.ts).
 */
import type { Ms } from "../../../../base/index.ts";
import { MINUTES_BACK } from "./alike.ts";

/** Plain data: it is saved. */
export interface Minutes {
  /** In hundredths of a request per second, by hour and minute, modulo the hours that are kept; −1 where nobody looked. */
  readonly hours: readonly (readonly number[])[];
  /** Of the first and the newest reading. */
  readonly first: number | null;
  readonly newest: number | null;
}

/** What was measured before an agent began: requests per second, minute by minute, the last of them before `until`. */
export interface LoadHistory {
  readonly perMinute: readonly number[];
  readonly until: Ms;
}

/** Loads are kept in hundredths of a request per second. */
export const GRAIN = 100;
export const MINUTE = 60_000;
const HOUR = 60;
const HOURS = Math.ceil(MINUTES_BACK / HOUR) + 1;
const KEPT = HOURS * HOUR;
const UNKNOWN: readonly number[] = Object.freeze(new Array<number>(HOUR).fill(-1));

export const noMinutes: Minutes = Object.freeze({
  hours: Object.freeze(new Array<readonly number[]>(HOURS).fill(UNKNOWN)),
  first: null,
  newest: null,
});

/** Minutes may be before the clock's first, where there is a history from before an agent began. */
const slotOf = (minute: number): number => ((minute % KEPT) + KEPT) % KEPT;
const inSlot = (hours: Minutes["hours"], slot: number): number =>
  (hours[Math.floor(slot / HOUR)] as readonly number[])[slot % HOUR] as number;

/** With a load of this minute, of which the most is kept. */
export function minutesAfter(minutes: Minutes, minute: number, load: number): Minutes {
  const { first, newest } = minutes;
  const slot = slotOf(minute);
  const isKnown = newest !== null && newest >= minute;
  if (isKnown && inSlot(minutes.hours, slot) >= load) return minutes;
  const hours = minutes.hours.slice();
  const put = (at: number, value: number): void => {
    const hour = Math.floor(at / HOUR);
    const next = (hours[hour] as readonly number[]).slice();
    next[at % HOUR] = value;
    hours[hour] = next;
  };
  // Minutes in which nobody looked are not those of two days ago.
  if (newest !== null) for (let m = newest + 1; m < Math.min(minute, newest + 1 + KEPT); m++) put(slotOf(m), -1);
  put(slot, load);
  return { hours, first: first ?? minute, newest: Math.max(newest ?? minute, minute) };
}

/** As a metrics store can tell them. */
export function minutesFrom({ perMinute, until }: LoadHistory): Minutes {
  const known = perMinute.slice(-KEPT);
  if (known.length === 0) return noMinutes;
  const newest = Math.floor(until / MINUTE) - 1;
  const first = newest - known.length + 1;
  const hours = noMinutes.hours.map((hour) => hour.slice());
  for (const [i, load] of known.entries()) {
    const slot = slotOf(first + i);
    (hours[Math.floor(slot / HOUR)] as number[])[slot % HOUR] = Math.ceil(load * GRAIN);
  }
  return { hours, first, newest };
}

/** −1 where nobody looked, or it is too long ago. */
export function loadIn({ hours, first, newest }: Minutes, minute: number): number {
  if (first === null || newest === null || minute < first || minute > newest || minute <= newest - KEPT) return -1;
  return inSlot(hours, slotOf(minute));
}

/** Of the minutes before one, the newest last, as many as there is room for; −1 as above. */
export function loadsBefore({ hours, first, newest }: Minutes, minute: number, into: Float64Array): void {
  into.fill(-1);
  if (first === null || newest === null) return;
  const start = minute - into.length;
  const end = Math.min(minute - 1, newest);
  // Hour by hour: minute by minute each would be looked up.
  for (let at = Math.max(start, first, newest - KEPT + 1); at <= end; ) {
    const slot = slotOf(at);
    const hour = hours[Math.floor(slot / HOUR)] as readonly number[];
    const place = slot % HOUR;
    const count = Math.min(HOUR - place, end - at + 1);
    for (let k = 0; k < count; k++) into[at - start + k] = hour[place + k] as number;
    at += count;
  }
}

/** From one minute to another, both included; −1 where one of them is not known. */
export function mostFrom(minutes: Minutes, from: number, to: number): number {
  const { hours, first, newest } = minutes;
  if (first === null || newest === null || from < first || to > newest || from <= newest - KEPT) return -1;
  let most = -1;
  let slot = slotOf(from);
  for (let at = from; at <= to; at++) {
    const load = inSlot(hours, slot);
    if (load < 0) return -1;
    if (load > most) most = load;
    slot = slot === KEPT - 1 ? 0 : slot + 1;
  }
  return most;
}

/** The most that ever came, as far as is known; once that is `enough` nothing more of it is looked at. */
export function mostOfAll({ hours }: Minutes, enough: number): number {
  let most = 0;
  for (const hour of hours)
    for (let place = 0; place < HOUR; place++) {
      const load = hour[place] as number;
      if (load > most) most = load;
      if (most >= enough) return most;
    }
  return most;
}

/** The most of the last so many minutes, for each of these lengths in rising order, into a list; minutes in which nobody looked are left out. */
export function mostOfLast(
  minutes: Minutes,
  minute: number,
  into: { lengths: readonly number[]; loads: number[] },
): void {
  const { hours, first, newest } = minutes;
  const { lengths, loads } = into;
  // Later is not measured yet, and earlier is too long ago.
  let at = newest === null ? -1 : Math.min(minute, newest);
  const earliest = first === null || newest === null ? 0 : Math.max(first, newest - KEPT + 1);
  let most = 0;
  let slot = slotOf(at);
  for (let i = 0; i < lengths.length; i++) {
    const end = Math.max(earliest, minute - (lengths[i] as number));
    for (; at >= end; at--) {
      const load = inSlot(hours, slot);
      if (load > most) most = load;
      slot = slot === 0 ? KEPT - 1 : slot - 1;
    }
    loads[i] = most;
  }
}
