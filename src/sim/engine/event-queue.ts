/**
 * The event queue under every event world: what happens next.
 * Owns: order by time (first scheduled first, among equals), cancelling and moving by ticket.
 * Not here: what an event means. A world gives each a kind and a subject, both integers, and looks them up itself.
 *
 * A four-ary heap on typed arrays: nothing is allocated per event. A ticket is a slot and its generation, so that a
 * ticket of an event that has happened never touches the one that took its slot.
 */

/** Names one scheduled event; 0 never does. */
export type Ticket = number;

const FIRST_CAPACITY = 64;
/** Slots in a ticket's lower part; the generation above it stays exact up to 2^53. */
const SLOTS = 2 ** 22;

export class EventQueue {
  /** Of the event that `pop` took last. */
  at = Number.NEGATIVE_INFINITY;
  kind = 0;
  subject = 0;

  #size = 0;
  #order = 0;
  #capacity = FIRST_CAPACITY;
  /** By place in the heap: the time beside the slot, so that most comparisons need no second look-up. */
  #heapAt = new Float64Array(FIRST_CAPACITY);
  #heapSlot = new Int32Array(FIRST_CAPACITY);
  /** By slot. A place of -1 is a free slot. */
  #place = new Int32Array(FIRST_CAPACITY).fill(-1);
  #orderOf = new Float64Array(FIRST_CAPACITY);
  #generation = new Float64Array(FIRST_CAPACITY).fill(1);
  #kindOf = new Int32Array(FIRST_CAPACITY);
  #subjectOf = new Int32Array(FIRST_CAPACITY);
  #free = Int32Array.from({ length: FIRST_CAPACITY }, (_, i) => i);

  get size(): number {
    return this.#size;
  }

  /** When the next event happens; infinity when there is none. */
  get nextAt(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#heapAt[0]!;
  }

  /** An event at a time that is not before the last one popped. */
  schedule(at: number, kind: number, subject: number): Ticket {
    // Written so that NaN is refused as well.
    if (!(at >= this.at)) throw new RangeError(`an event of kind ${kind} at ${at} lies before the present ${this.at}`);
    if (this.#size === this.#capacity) this.#grow();
    const slot = this.#free[this.#size]!;
    this.#kindOf[slot] = kind;
    this.#subjectOf[slot] = subject;
    this.#orderOf[slot] = this.#order++;
    this.#rise(this.#size++, at, slot);
    return this.#generation[slot]! * SLOTS + slot;
  }

  isPending(ticket: Ticket): boolean {
    return this.#slotOf(ticket) >= 0;
  }

  /** False when it has happened already, or was cancelled before. */
  cancel(ticket: Ticket): boolean {
    const slot = this.#slotOf(ticket);
    if (slot < 0) return false;
    this.#remove(this.#place[slot]!);
    return true;
  }

  /** Gives a pending event another time, as if it had been scheduled now. False when it is no longer pending. */
  move(ticket: Ticket, at: number): boolean {
    const slot = this.#slotOf(ticket);
    if (slot < 0) return false;
    if (!(at >= this.at)) throw new RangeError(`an event cannot be moved to ${at}, before the present ${this.at}`);
    const place = this.#place[slot]!;
    this.#orderOf[slot] = this.#order++;
    // Its order is now the latest, so that with an unchanged time it can only sink.
    if (at < this.#heapAt[place]!) this.#rise(place, at, slot);
    else this.#sink(place, at, slot);
    return true;
  }

  /** Takes the next event into `at`, `kind` and `subject`; false when there is none. */
  pop(): boolean {
    if (this.#size === 0) return false;
    const slot = this.#heapSlot[0]!;
    this.at = this.#heapAt[0]!;
    this.kind = this.#kindOf[slot]!;
    this.subject = this.#subjectOf[slot]!;
    this.#remove(0);
    return true;
  }

  #slotOf(ticket: Ticket): number {
    const generation = Math.floor(ticket / SLOTS);
    const slot = ticket - generation * SLOTS;
    return slot < this.#capacity && this.#generation[slot] === generation ? slot : -1;
  }

  #remove(place: number): void {
    const slot = this.#heapSlot[place]!;
    this.#place[slot] = -1;
    this.#generation[slot]! += 1;
    const last = --this.#size;
    this.#free[last] = slot;
    if (place === last) return;
    const at = this.#heapAt[last]!;
    const moved = this.#heapSlot[last]!;
    if (this.#isBefore(at, moved, place)) this.#rise(place, at, moved);
    else this.#sink(place, at, moved);
  }

  /** Whether an event would come before the parent of a place. */
  #isBefore(at: number, slot: number, place: number): boolean {
    if (place === 0) return false;
    const parent = (place - 1) >> 2;
    const parentAt = this.#heapAt[parent]!;
    return at < parentAt || (at === parentAt && this.#orderOf[slot]! < this.#orderOf[this.#heapSlot[parent]!]!);
  }

  #rise(from: number, at: number, slot: number): void {
    const heapAt = this.#heapAt;
    const heapSlot = this.#heapSlot;
    let place = from;
    while (this.#isBefore(at, slot, place)) {
      const parent = (place - 1) >> 2;
      const above = heapSlot[parent]!;
      heapAt[place] = heapAt[parent]!;
      heapSlot[place] = above;
      this.#place[above] = place;
      place = parent;
    }
    heapAt[place] = at;
    heapSlot[place] = slot;
    this.#place[slot] = place;
  }

  #sink(from: number, at: number, slot: number): void {
    const heapAt = this.#heapAt;
    const heapSlot = this.#heapSlot;
    const orderOf = this.#orderOf;
    const size = this.#size;
    const order = orderOf[slot]!;
    let place = from;
    for (;;) {
      const first = 4 * place + 1;
      if (first >= size) break;
      const end = first + 4 < size ? first + 4 : size;
      let best = first;
      let bestAt = heapAt[first]!;
      for (let child = first + 1; child < end; child++) {
        const childAt = heapAt[child]!;
        if (childAt < bestAt || (childAt === bestAt && orderOf[heapSlot[child]!]! < orderOf[heapSlot[best]!]!)) {
          best = child;
          bestAt = childAt;
        }
      }
      const below = heapSlot[best]!;
      if (at < bestAt || (at === bestAt && order < orderOf[below]!)) break;
      heapAt[place] = bestAt;
      heapSlot[place] = below;
      this.#place[below] = place;
      place = best;
    }
    heapAt[place] = at;
    heapSlot[place] = slot;
    this.#place[slot] = place;
  }

  #grow(): void {
    const before = this.#capacity;
    const capacity = before * 2;
    if (capacity > SLOTS) throw new RangeError(`more than ${SLOTS} events are scheduled: the world never ends them`);
    const copied = <T extends Float64Array | Int32Array>(bigger: T, old: T): T => {
      bigger.set(old);
      return bigger;
    };
    this.#heapAt = copied(new Float64Array(capacity), this.#heapAt);
    this.#heapSlot = copied(new Int32Array(capacity), this.#heapSlot);
    this.#place = copied(new Int32Array(capacity).fill(-1), this.#place);
    this.#orderOf = copied(new Float64Array(capacity), this.#orderOf);
    this.#generation = copied(new Float64Array(capacity).fill(1), this.#generation);
    this.#kindOf = copied(new Int32Array(capacity), this.#kindOf);
    this.#subjectOf = copied(new Int32Array(capacity), this.#subjectOf);
    this.#free = copied(new Int32Array(capacity), this.#free);
    for (let slot = before; slot < capacity; slot++) this.#free[slot] = slot;
    this.#capacity = capacity;
  }
}
