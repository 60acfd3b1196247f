/** Share of the newest proposals that the guard had to correct. Owns: the window. */

export class TripRate {
  readonly #size: number;
  #newest: boolean[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  add(isTrip: boolean): void {
    this.#newest.push(isTrip);
    if (this.#newest.length > this.#size) this.#newest.shift();
  }

  /** 0 until a quarter of the window is known: one trip out of two says nothing. */
  get rate(): number {
    const { length } = this.#newest;
    return length * 4 < this.#size ? 0 : this.#newest.filter(Boolean).length / length;
  }

  state(): readonly boolean[] {
    return this.#newest;
  }

  restore(state: readonly boolean[]): void {
    this.#newest = state.slice(-this.#size);
  }
}
