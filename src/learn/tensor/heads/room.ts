/**
 * Doubles for the heads to work in, so that an exponential is computed once and nothing is allocated per call.
 * It holds nothing between calls: every head writes before it reads.
 */

let room = new Float64Array(64);

/** At least `count` doubles, with anything in them. */
export function doubles(count: number): Float64Array {
  if (room.length < count) room = new Float64Array(2 * count);
  return room;
}
