/**
 * All requests of a world, as columns of typed arrays: one slot per attempt, reused when it is over.
 * Owns: taking and freeing slots, the columns. Not here: what happens to a request (request-flow.ts).
 */

/** What a slot is in the middle of. */
export const STATE = {
  free: 0,
  /** In a pod, without a thread. */
  queued: 1,
  /** In a pod, on the CPU or throttled. */
  running: 2,
  /** In a pod, waiting for something else than the CPU. */
  waiting: 3,
  /** At the client, until it tries again. */
  backoff: 4,
} as const;

const FIRST_CAPACITY = 128;
export const NOBODY = -1;

export class RequestPool {
  /** Numbers per slot in `work`: CPU and wait of each phase. */
  stride: number;
  state = new Uint8Array(FIRST_CAPACITY);
  /** Counts the uses of a slot, so that what was noted about an earlier one is known to be old. */
  generation = new Int32Array(FIRST_CAPACITY);
  workload = new Int32Array(FIRST_CAPACITY);
  program = new Int32Array(FIRST_CAPACITY);
  pod = new Int32Array(FIRST_CAPACITY);
  phase = new Int32Array(FIRST_CAPACITY);
  /** Attempts before this one. */
  tries = new Int32Array(FIRST_CAPACITY);
  /** 0 once the client has left: the pod works on, for nobody. */
  hasClient = new Uint8Array(FIRST_CAPACITY);
  /** When the client first asked, and when it asked this time. */
  firstAt = new Float64Array(FIRST_CAPACITY);
  attemptAt = new Float64Array(FIRST_CAPACITY);
  size = new Float64Array(FIRST_CAPACITY);
  /** Of the end of its wait. */
  ticket = new Float64Array(FIRST_CAPACITY);
  /** Neighbours in a pod's queue. */
  before = new Int32Array(FIRST_CAPACITY);
  behind = new Int32Array(FIRST_CAPACITY);
  work: Float64Array;
  #free = Int32Array.from({ length: FIRST_CAPACITY }, (_, i) => FIRST_CAPACITY - 1 - i);
  #freeCount = FIRST_CAPACITY;

  constructor(stride: number) {
    this.stride = stride;
    this.work = new Float64Array(FIRST_CAPACITY * stride);
  }

  get capacity(): number {
    return this.state.length;
  }

  take(): number {
    if (this.#freeCount === 0) this.#grow();
    return this.#free[--this.#freeCount]!;
  }

  release(slot: number): void {
    this.state[slot] = STATE.free;
    this.generation[slot]! += 1;
    this.#free[this.#freeCount++] = slot;
  }

  /** Requests of a workload that somebody waits for. Counted, not derived, so that conservation can be checked. */
  countClients(workload: number): number {
    let count = 0;
    for (let slot = 0; slot < this.capacity; slot++) {
      if (this.state[slot] !== STATE.free && this.hasClient[slot] === 1 && this.workload[slot] === workload) count++;
    }
    return count;
  }

  /** A second slot for the same request: its client tries again while the first attempt is still worked on. */
  takeCopy(of: number): number {
    const slot = this.take();
    this.workload[slot] = this.workload[of]!;
    this.program[slot] = this.program[of]!;
    this.tries[slot] = this.tries[of]!;
    this.firstAt[slot] = this.firstAt[of]!;
    this.size[slot] = this.size[of]!;
    this.work.copyWithin(slot * this.stride, of * this.stride, (of + 1) * this.stride);
    return slot;
  }

  /** Makes room for requests with more phases. */
  widen(stride: number): void {
    if (stride <= this.stride) return;
    const work = new Float64Array(this.capacity * stride);
    for (let slot = 0; slot < this.capacity; slot++)
      work.set(this.work.subarray(slot * this.stride, (slot + 1) * this.stride), slot * stride);
    this.stride = stride;
    this.work = work;
  }

  #grow(): void {
    const before = this.capacity;
    const capacity = before * 2;
    const wider = <T extends Uint8Array | Int32Array | Float64Array>(bigger: T, old: T): T => {
      bigger.set(old);
      return bigger;
    };
    const bytes = (old: Uint8Array<ArrayBuffer>) => wider(new Uint8Array(capacity), old);
    const integers = (old: Int32Array<ArrayBuffer>) => wider(new Int32Array(capacity), old);
    const numbers = (old: Float64Array<ArrayBuffer>) => wider(new Float64Array(capacity), old);
    this.state = bytes(this.state);
    this.hasClient = bytes(this.hasClient);
    this.generation = integers(this.generation);
    this.workload = integers(this.workload);
    this.program = integers(this.program);
    this.pod = integers(this.pod);
    this.phase = integers(this.phase);
    this.tries = integers(this.tries);
    this.before = integers(this.before);
    this.behind = integers(this.behind);
    this.firstAt = numbers(this.firstAt);
    this.attemptAt = numbers(this.attemptAt);
    this.size = numbers(this.size);
    this.ticket = numbers(this.ticket);
    this.work = wider(new Float64Array(capacity * this.stride), this.work);
    this.#free = new Int32Array(capacity);
    for (let slot = capacity - 1; slot >= before; slot--) this.#free[this.#freeCount++] = slot;
  }
}
