/**
 * Cells of response tables in memory that threads share: whoever runs one has run it for all.
 * Owns: finding and adding cells without waiting. Not here: what a cell is (cell.ts), which are asked for
 * (response-table.ts).
 *
 * A cell depends on its name alone, so it is all the same who wrote it. Whoever does not find one runs it himself: a cell
 * that is being written, or for which there was no room, costs time and changes nothing.
 */
import { CELL_SIZE } from "./cell.ts";

/** Room for almost a thousand cells of each of 200 applications: 108 MB, of which a system gives out what is written to. */
const PLACES = 2 ** 18;
/** Beyond this share the way to a free place becomes long. */
const FULL_SHARE = 0.75;

const EMPTY = 0;
const WRITING = 1;
const READY = 2;
/** Of a place: its state and two words of its name. */
const HEAD = 3;

/** A name in 64 bits: of a million cells two have the same one once in tens of millions of runs. */
export type CellName = readonly [number, number];

export class SharedCells {
  readonly #places: number;
  /** Places that are taken. */
  readonly #count: Int32Array;
  readonly #heads: Int32Array;
  readonly #cells: Float64Array;

  /** Over memory of `cellMemory()`, from any thread. */
  constructor(memory: SharedArrayBuffer) {
    this.#places = Math.floor((memory.byteLength - COUNT_BYTES) / PLACE_BYTES);
    this.#count = new Int32Array(memory, 0, 1);
    this.#cells = new Float64Array(memory, COUNT_BYTES, this.#places * CELL_SIZE);
    this.#heads = new Int32Array(memory, COUNT_BYTES + this.#cells.byteLength, this.#places * HEAD);
  }

  find(name: CellName): Float64Array | undefined {
    for (let place = this.#first(name), seen = 0; seen < this.#places; seen++, place = this.#next(place)) {
      const state = Atomics.load(this.#heads, place * HEAD);
      if (state === EMPTY) return undefined;
      if (state === READY && this.#isNamed(place, name))
        return this.#cells.slice(place * CELL_SIZE, (place + 1) * CELL_SIZE);
    }
    return undefined;
  }

  add(name: CellName, cell: Float64Array): void {
    if (Atomics.load(this.#count, 0) >= FULL_SHARE * this.#places) return;
    for (let place = this.#first(name), seen = 0; seen < this.#places; seen++, place = this.#next(place)) {
      const head = place * HEAD;
      const state = Atomics.compareExchange(this.#heads, head, EMPTY, WRITING);
      if (state === READY && this.#isNamed(place, name)) return;
      if (state !== EMPTY) continue;
      Atomics.add(this.#count, 0, 1);
      this.#heads[head + 1] = name[0];
      this.#heads[head + 2] = name[1];
      this.#cells.set(cell, place * CELL_SIZE);
      // Last: what was written before it is seen by whoever sees this.
      Atomics.store(this.#heads, head, READY);
      return;
    }
  }

  #first([word]: CellName): number {
    return (word >>> 0) % this.#places;
  }

  #next(place: number): number {
    return place + 1 === this.#places ? 0 : place + 1;
  }

  #isNamed(place: number, [first, second]: CellName): boolean {
    const head = place * HEAD;
    return this.#heads[head + 1] === first && this.#heads[head + 2] === second;
  }
}

/** A whole number of doubles, so that the cells behind it are aligned. */
const COUNT_BYTES = 8;
const PLACE_BYTES = CELL_SIZE * Float64Array.BYTES_PER_ELEMENT + HEAD * Int32Array.BYTES_PER_ELEMENT;

export function cellMemory({ places = PLACES }: { readonly places?: number } = {}): SharedArrayBuffer {
  return new SharedArrayBuffer(COUNT_BYTES + places * PLACE_BYTES);
}

/** Names the cells of one table: by a text for the table, then by number. */
export function cellNames(table: string): (cell: number) => CellName {
  let [first, second] = [0x9e3779b1, 0x85ebca6b];
  for (let i = 0; i < table.length; i++) {
    first = mixed(first ^ table.charCodeAt(i), 0xcc9e2d51);
    second = mixed(second ^ table.charCodeAt(i), 0x1b873593);
  }
  return (cell) => [mixed(first ^ cell, 0xc2b2ae35), mixed(second ^ cell, 0x27d4eb2f)];
}

/** One round of multiply and shift, as in MurmurHash3's finaliser. */
function mixed(word: number, by: number): number {
  const product = Math.imul(word ^ (word >>> 16), by);
  return (product ^ (product >>> 13)) | 0;
}
