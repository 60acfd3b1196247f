/**
 * A bounded queue between a producer that must not block and a consumer that may wait.
 * A full mailbox refuses and counts; it never grows and never drops what it accepted.
 */

interface Waiter<T> {
  readonly give: (item: T | undefined) => void;
}

export class Mailbox<T> {
  readonly #capacity: number;
  readonly #items: (T | undefined)[];
  #head = 0;
  #size = 0;
  #refused = 0;
  #closed = false;
  #waiters: Waiter<T>[] = [];

  constructor({ capacity }: { capacity: number }) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new RangeError(`a mailbox needs room for at least one item, got a capacity of ${capacity}`);
    }
    this.#capacity = capacity;
    this.#items = new Array<T | undefined>(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** How many offers were turned away since the beginning. */
  get refused(): number {
    return this.#refused;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** False when full or closed; the refusal is counted. */
  offer(item: T): boolean {
    if (this.#closed || this.#size >= this.#capacity) {
      this.#refused += 1;
      return false;
    }
    const waiter = this.#waiters.shift();
    if (waiter) {
      waiter.give(item);
      return true;
    }
    this.#items[(this.#head + this.#size) % this.#capacity] = item;
    this.#size += 1;
    return true;
  }

  /** The oldest item, or undefined when there is none now. */
  poll(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) % this.#capacity;
    this.#size -= 1;
    return item;
  }

  /** Waits for an item; resolves to undefined once the mailbox is closed and empty. */
  take(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#size > 0) return Promise.resolve(this.poll());
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiters = this.#waiters.filter((w) => w !== waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter<T> = {
        give: (item) => {
          signal?.removeEventListener("abort", onAbort);
          resolve(item);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** No further offers; what was accepted can still be taken. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.give(undefined);
    this.#waiters = [];
  }
}
