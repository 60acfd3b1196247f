/**
 * Five shapes of a load over its minutes.
 * Owns: drawing relative rates. Not here: which shape a load has and its mean (load-generate.ts), the ranges
 * (load-calibration.ts).
 */
import type { Rng } from "../../../base/index.ts";
import type { Load } from "./load.ts";
import { type LoadShape, type Range, shapeRanges } from "./load-calibration.ts";

const DAY = 1_440;

export interface ShapeOptions {
  readonly minutes: number;
  readonly level: Load["level"];
}

/** Rates without a scale: not negative, not all zero. */
export function drawShape(shape: LoadShape, rng: Rng, options: ShapeOptions): Float64Array {
  switch (shape) {
    case "steady":
      return steady(rng, options);
    case "periodic":
      return periodic(rng, options);
    case "on-off":
      return onOff(rng, options);
    case "diurnal":
      return diurnal(rng, options);
    case "bursty":
      return bursty(rng, options);
  }
}

export function within(rng: Rng, { low, high }: Range): number {
  return low + (high - low) * rng.next();
}

export function withinLog(rng: Rng, { low, high }: Range): number {
  return low * (high / low) ** rng.next();
}

function steady(rng: Rng, { minutes }: ShapeOptions): Float64Array {
  const ranges = shapeRanges.steady;
  const noise = noiseFrom(rng, { sigma: withinLog(rng, ranges.noise), memory: within(rng, ranges.memory) });
  const swing = swingFrom(rng, withinLog(rng, ranges.swing));
  return Float64Array.from({ length: minutes }, (_, minute) => swing(minute) * noise());
}

function periodic(rng: Rng, { minutes }: ShapeOptions): Float64Array {
  const ranges = shapeRanges.periodic;
  const period = ranges.periods[rng.int(ranges.periods.length)] as number;
  const busy = rng.int(period);
  const floor = rng.next() < ranges.silent ? 0 : within(rng, ranges.floor);
  const noise = noiseFrom(rng, { sigma: withinLog(rng, ranges.noise), memory: 0 });
  const swing = swingFrom(rng, withinLog(rng, ranges.swing));
  return Float64Array.from(
    { length: minutes },
    (_, minute) => (minute % period === busy ? 1 : floor) * swing(minute) * noise(),
  );
}

function onOff(rng: Rng, { minutes, level }: ShapeOptions): Float64Array {
  const ranges = shapeRanges["on-off"];
  const cycle = withinLog(rng, ranges.cycle[level]);
  const busy = withinLog(rng, ranges.busy[level]);
  const spread = within(rng, ranges.spell);
  const noise = noiseFrom(rng, { sigma: within(rng, ranges.noise), memory: within(rng, ranges.memory) });
  const rates = new Float64Array(minutes);
  // Starts somewhere in a cycle, so that the first minute is no special one.
  let on = rng.next() < busy;
  let minute = 0;
  let anything = false;
  while (minute < minutes) {
    const length = Math.max(1, Math.round(-Math.log(1 - rng.next()) * cycle * (on ? busy : 1 - busy)));
    const height = on ? Math.exp(spread * rng.normal()) : 0;
    const end = Math.min(minutes, minute + length);
    for (; minute < end; minute++) rates[minute] = on ? height * noise() : 0;
    anything ||= on;
    on = !on;
  }
  if (!anything) {
    const start = rng.int(minutes);
    rates.fill(1, start, Math.ceil(start + cycle * busy));
  }
  return rates;
}

function diurnal(rng: Rng, { minutes }: ShapeOptions): Float64Array {
  const ranges = shapeRanges.diurnal;
  const floor = within(rng, ranges.floor);
  const sharpness = within(rng, ranges.sharpness);
  const noon = rng.int(DAY);
  const weekend = within(rng, ranges.weekend);
  const noise = noiseFrom(rng, { sigma: within(rng, ranges.noise), memory: within(rng, ranges.memory) });
  const spike = spikesFrom(rng, { perDay: within(rng, ranges.spikes), height: within(rng, ranges.height) });
  return Float64Array.from({ length: minutes }, (_, minute) => {
    const bump = (0.5 + 0.5 * Math.cos((2 * Math.PI * (minute - noon)) / DAY)) ** sharpness;
    const workday = Math.floor(minute / DAY) % 7 < 5 ? 1 : weekend;
    return (floor + (1 - floor) * 2 * bump) * workday * noise() * spike();
  });
}

function bursty(rng: Rng, { minutes }: ShapeOptions): Float64Array {
  const ranges = shapeRanges.bursty;
  const noise = noiseFrom(rng, { sigma: within(rng, ranges.noise), memory: within(rng, ranges.memory) });
  const spike = spikesFrom(rng, { perDay: within(rng, ranges.spikes), height: withinLog(rng, ranges.height) });
  const swing = swingFrom(rng, withinLog(rng, ranges.swing));
  return Float64Array.from({ length: minutes }, (_, minute) => swing(minute) * noise() * spike());
}

/** Lognormal of median 1 whose logarithm remembers the minute before. */
function noiseFrom(rng: Rng, { sigma, memory }: { sigma: number; memory: number }): () => number {
  const innovation = sigma * Math.sqrt(1 - memory * memory);
  let state = sigma * rng.normal();
  return () => {
    state = memory * state + innovation * rng.normal();
    return Math.exp(state);
  };
}

function swingFrom(rng: Rng, amplitude: number): (minute: number) => number {
  const phase = 2 * Math.PI * rng.next();
  return (minute) => 1 + amplitude * Math.sin((2 * Math.PI * minute) / DAY + phase);
}

/** Single minutes at random, each of its own height around the given one. */
function spikesFrom(rng: Rng, { perDay, height }: { perDay: number; height: number }): () => number {
  return () => (rng.next() < perDay / DAY ? 1 + (height - 1) * -Math.log(1 - rng.next()) : 1);
}
