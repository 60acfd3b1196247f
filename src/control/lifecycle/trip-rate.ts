/** Share of the newest proposals that the guard had to correct. Owns: the window. */

export class TripRate {
  readonly #size: number;
  #newest: boolean[] = [];
  /** How many of the newest are trips: asked twice in every tick. */
  #trips = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(isTrip: boolean): void {
    this.#newest.push(isTrip);
    if (isTrip) this.#trips += 1;
    if (this.#newest.length > this.#size && this.#newest.shift()) this.#trips -= 1;
  }

  /** 0 until a quarter of the window is known: one trip out of two says nothing. */
  get rate(): number {
    const { length } = this.#newest;
    return length * 4 < this.#size ? 0 : this.#trips / length;
  }

  state(): readonly boolean[] {
    return this.#newest;
  }

  restore(state: readonly boolean[]): void {
    this.#newest = state.slice(-this.#size);
    this.#trips = this.#newest.filter(Boolean).length;
  }
}
