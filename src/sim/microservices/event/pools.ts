/**
 * Calls and requests that are under way, in arrays that are used again.
 * Owns: taking and giving back. Not here: what happens to them (call-flow.ts).
 */

const FIRST_ROOM = 256;

/** Grown copies keep what was there. */
const grown = <T extends Float64Array | Int32Array | Uint8Array>(bigger: T, old: T): T => {
  bigger.set(old);
  return bigger;
};

export const FAILED = 1;
export const BACKGROUND = 2;
/** It has done its stages and puts the answer together. */
export const CLOSING = 4;

export class CallPool {
  node = new Int32Array(FIRST_ROOM);
  /** The call that waits for it; -1: the client, or nobody. */
  parent = new Int32Array(FIRST_ROOM);
  request = new Int32Array(FIRST_ROOM);
  container = new Int32Array(FIRST_ROOM);
  stage = new Int32Array(FIRST_ROOM);
  /** Calls of its stage that have not come back. */
  pending = new Int32Array(FIRST_ROOM);
  flags = new Uint8Array(FIRST_ROOM);
  arrivedAt = new Float64Array(FIRST_ROOM);
  /** Work that is left for after its stages. */
  rest = new Float64Array(FIRST_ROOM);
  /** Numbers of its span and of its parent's; 0: not traced, or none. */
  span = new Float64Array(FIRST_ROOM);
  parentSpan = new Float64Array(FIRST_ROOM);
  #free: number[] = [];
  #next = 0;

  take(): number {
    const reused = this.#free.pop();
    if (reused !== undefined) return reused;
    if (this.#next === this.node.length) this.#grow();
    return this.#next++;
  }

  giveBack(call: number): void {
    this.#free.push(call);
  }

  get underWay(): number {
    return this.#next - this.#free.length;
  }

  #grow(): void {
    const room = this.node.length * 2;
    this.node = grown(new Int32Array(room), this.node);
    this.parent = grown(new Int32Array(room), this.parent);
    this.request = grown(new Int32Array(room), this.request);
    this.container = grown(new Int32Array(room), this.container);
    this.stage = grown(new Int32Array(room), this.stage);
    this.pending = grown(new Int32Array(room), this.pending);
    this.flags = grown(new Uint8Array(room), this.flags);
    this.arrivedAt = grown(new Float64Array(room), this.arrivedAt);
    this.rest = grown(new Float64Array(room), this.rest);
    this.span = grown(new Float64Array(room), this.span);
    this.parentSpan = grown(new Float64Array(room), this.parentSpan);
  }
}

export class RequestPool {
  type = new Int32Array(FIRST_ROOM);
  arrivedAt = new Float64Array(FIRST_ROOM);
  seed = new Int32Array(FIRST_ROOM);
  /** 0: not traced. */
  trace = new Float64Array(FIRST_ROOM);
  /** Calls that belong to it; the slot is free when there are none. */
  calls = new Int32Array(FIRST_ROOM);
  hasEnded = new Uint8Array(FIRST_ROOM);
  generation = new Int32Array(FIRST_ROOM);
  #free: number[] = [];
  #next = 0;

  take(): number {
    let slot = this.#free.pop();
    if (slot === undefined) {
      if (this.#next === this.type.length) this.#grow();
      slot = this.#next++;
    }
    this.calls[slot] = 0;
    this.hasEnded[slot] = 0;
    return slot;
  }

  /** Of a type, those whose client still waits. */
  countOpen(type: number): number {
    let open = 0;
    for (let slot = 0; slot < this.#next; slot++)
      if (this.calls[slot]! > 0 && this.hasEnded[slot] === 0 && this.type[slot] === type) open++;
    return open;
  }

  release(slot: number): void {
    if (--this.calls[slot]! > 0) return;
    this.generation[slot]! += 1;
    this.#free.push(slot);
  }

  #grow(): void {
    const room = this.type.length * 2;
    this.type = grown(new Int32Array(room), this.type);
    this.arrivedAt = grown(new Float64Array(room), this.arrivedAt);
    this.seed = grown(new Int32Array(room), this.seed);
    this.trace = grown(new Float64Array(room), this.trace);
    this.calls = grown(new Int32Array(room), this.calls);
    this.hasEnded = grown(new Uint8Array(room), this.hasEnded);
    this.generation = grown(new Int32Array(room), this.generation);
  }
}
