/**
 * When clients give up, in the order they will.
 * Owns: a ring of (request, deadline). All requests of a workload wait equally long, so the ring is in order by itself
 * and needs no heap; where an update shortens the wait, the later ones give up no earlier than those before them.
 * An entry is old when its slot has been used for something else since: its generation tells.
 */
export class Deadlines {
  #head = 0;
  #size = 0;
  #at = new Float64Array(64);
  #slot = new Int32Array(64);
  #generation = new Int32Array(64);
  #last = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#size;
  }

  get firstAt(): number {
    return this.#at[this.#head]!;
  }

  get firstSlot(): number {
    return this.#slot[this.#head]!;
  }

  get firstGeneration(): number {
    return this.#generation[this.#head]!;
  }

  add(at: number, slot: number, generation: number): void {
    if (this.#size === this.#at.length) this.#grow();
    const place = (this.#head + this.#size++) & (this.#at.length - 1);
    if (at > this.#last) this.#last = at;
    this.#at[place] = this.#last;
    this.#slot[place] = slot;
    this.#generation[place] = generation;
  }

  dropFirst(): void {
    this.#head = (this.#head + 1) & (this.#at.length - 1);
    this.#size--;
  }

  #grow(): void {
    const old = this.#at.length;
    const [at, slot, generation] = [new Float64Array(old * 2), new Int32Array(old * 2), new Int32Array(old * 2)];
    for (let i = 0; i < this.#size; i++) {
      const place = (this.#head + i) & (old - 1);
      at[i] = this.#at[place]!;
      slot[i] = this.#slot[place]!;
      generation[i] = this.#generation[place]!;
    }
    this.#at = at;
    this.#slot = slot;
    this.#generation = generation;
    this.#head = 0;
  }
}
