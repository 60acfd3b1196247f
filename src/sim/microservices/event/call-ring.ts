/** Calls that wait for a thread, first come first served: a ring that grows. */
export class CallRing {
  size = 0;
  #head = 0;
  #calls = new Int32Array(8);

  push(call: number): void {
    if (this.size === this.#calls.length) this.#grow();
    this.#calls[(this.#head + this.size++) & (this.#calls.length - 1)] = call;
  }

  shift(): number {
    const call = this.#calls[this.#head]!;
    this.#head = (this.#head + 1) & (this.#calls.length - 1);
    this.size--;
    return call;
  }

  #grow(): void {
    const old = this.#calls;
    const calls = new Int32Array(old.length * 2);
    for (let i = 0; i < this.size; i++) calls[i] = old[(this.#head + i) & (old.length - 1)]!;
    this.#calls = calls;
    this.#head = 0;
  }
}
