/**
 * Attribute bytes of spans that wait, in pages that are given back as a whole.
 * Owns: a bounded piece of memory and who still needs which page. Bytes for which there is no room are not kept; the span
 * is, and the loss is counted by the caller.
 */

export const PAGE = 32_768;

export class AttributeArena {
  bytes = new Uint8Array(PAGE);
  readonly #mostPages: number;
  /** Ranges in use per page. */
  #users: Int32Array;
  #free: number[] = [];
  #pages = 1;
  #current = 0;
  #used = 0;

  constructor(mostBytes: number) {
    this.#mostPages = Math.max(1, Math.floor(mostBytes / PAGE));
    this.#users = new Int32Array(this.#mostPages);
  }

  /** Where the copy lies; -1 when there is no room for it. */
  put(source: Uint8Array, from: number, to: number): number {
    const size = to - from;
    if (size > PAGE) return -1;
    if (this.#used + size > PAGE && !this.#turnPage()) return -1;
    const at = this.#current * PAGE + this.#used;
    this.bytes.set(source.subarray(from, to), at);
    this.#used += size;
    this.#users[this.#current]! += 1;
    return at;
  }

  release(at: number): void {
    const page = Math.floor(at / PAGE);
    this.#users[page]! -= 1;
    if (this.#users[page] === 0 && page !== this.#current) this.#free.push(page);
  }

  #turnPage(): boolean {
    if (this.#users[this.#current] === 0) {
      this.#used = 0;
      return true;
    }
    const free = this.#free.pop();
    if (free !== undefined) this.#current = free;
    else if (this.#pages < this.#mostPages) {
      this.#current = this.#pages++;
      if (this.#pages * PAGE > this.bytes.length) {
        const pages = Math.min(this.#mostPages, 2 * this.#pages);
        const larger = new Uint8Array(pages * PAGE);
        larger.set(this.bytes);
        this.bytes = larger;
      }
    } else return false;
    this.#used = 0;
    return true;
  }
}
