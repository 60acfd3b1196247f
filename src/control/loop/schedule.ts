/**
 * When each agent's turn is, and whether the wall clock can be believed.
 * Turns follow the monotonic clock: a wall clock that is set does not bunch ticks or leave any out.
 */
import type { Ms } from "../../base/index.ts";

/** Multiples of the golden ratio fall evenly, however many there are: agents may come and go without moving others. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Where in the period the agent of this number takes its turn. */
export function phaseOf(number: number, period: Ms): Ms {
  const share = number * GOLDEN;
  return ((share - Math.floor(share)) * period) as Ms;
}

export interface Turns {
  readonly start: Ms;
  readonly phase: Ms;
  readonly period: Ms;
}

export interface Turn {
  readonly due: Ms;
  /** Which turn it is, from 0; turns that were missed are not made up for. */
  readonly number: number;
}

/** The first turn at or after the moment that is later than the last one. */
export function nextTurn({ start, phase, period }: Turns, now: Ms, last: number): Turn {
  const first = start + phase;
  const number = Math.max(last + 1, Math.ceil((now - first) / period));
  return { due: (first + number * period) as Ms, number };
}

export interface ClockReading {
  readonly now: Ms;
  readonly monotonic: Ms;
}

/** By how much the wall clock was moved between two looks; undefined when it ran as the monotonic one did. */
export function clockJump(before: ClockReading, after: ClockReading, tolerance: Ms): Ms | undefined {
  const jump = after.now - before.now - (after.monotonic - before.monotonic);
  // NaN is a jump too: a clock that says nothing cannot be believed.
  return Math.abs(jump) <= tolerance ? undefined : (jump as Ms);
}
