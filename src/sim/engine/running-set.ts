/**
 * Requests that share a server (the CPU of a pod, the cores of an invoker), by the virtual time at which they will be done.
 * Owns: a small binary heap; ties go to the one that began first, so that equal requests leave in order.
 */
const FIRST_ROOM = 16;
const NO_ENDS = new Float64Array(0);
const NO_REQUESTS = new Int32Array(0);

export class RunningSet {
  size = 0;
  #order = 0;
  // Room is made when the first one comes: in the fluid rung pods come and go and nobody is ever in here.
  #ends = NO_ENDS;
  #orders = NO_ENDS;
  #requests = NO_REQUESTS;

  /** The virtual time at which the next one is done. */
  get nextEnd(): number {
    return this.#ends[0]!;
  }

  add(end: number, request: number): void {
    if (this.size === this.#ends.length) this.#grow();
    const ends = this.#ends;
    let place = this.size++;
    // A newcomer never passes an equal, so its order needs no look while it rises.
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (ends[parent]! <= end) break;
      this.#copy(parent, place);
      place = parent;
    }
    ends[place] = end;
    this.#orders[place] = this.#order++;
    this.#requests[place] = request;
  }

  /** The one whose turn it is to leave. */
  takeNext(): number {
    const taken = this.#requests[0]!;
    const last = --this.size;
    if (last > 0) this.#sink(last);
    return taken;
  }

  clear(): void {
    this.size = 0;
  }

  /** Puts what stands at a place beyond the end where it belongs, from the top down. */
  #sink(from: number): void {
    const ends = this.#ends;
    const orders = this.#orders;
    const end = ends[from]!;
    const order = orders[from]!;
    const request = this.#requests[from]!;
    const size = this.size;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      const right = child + 1;
      if (
        right < size &&
        (ends[right]! < ends[child]! || (ends[right]! === ends[child]! && orders[right]! < orders[child]!))
      )
        child = right;
      if (end < ends[child]! || (end === ends[child]! && order < orders[child]!)) break;
      this.#copy(child, place);
      place = child;
    }
    ends[place] = end;
    orders[place] = order;
    this.#requests[place] = request;
  }

  #copy(from: number, to: number): void {
    this.#ends[to] = this.#ends[from]!;
    this.#orders[to] = this.#orders[from]!;
    this.#requests[to] = this.#requests[from]!;
  }

  #grow(): void {
    const room = Math.max(FIRST_ROOM, this.#ends.length * 2);
    const [ends, orders, requests] = [new Float64Array(room), new Float64Array(room), new Int32Array(room)];
    ends.set(this.#ends);
    orders.set(this.#orders);
    requests.set(this.#requests);
    this.#ends = ends;
    this.#orders = orders;
    this.#requests = requests;
  }
}
