/**
 * Rates from counters that only grow, as a metrics server takes them: between two points of the past.
 * Owns: the points that the window needs.
 */
export class CounterHistory {
  readonly #window: number;
  readonly #at: number[] = [];
  readonly #values: (readonly number[])[] = [];

  constructor(window: number) {
    this.#window = window;
  }

  add(at: number, values: readonly number[]): void {
    this.#at.push(at);
    this.#values.push(values);
    // One point at or before the window's old end is enough.
    while (this.#at.length > 2 && (this.#at[1] as number) <= at - this.#window) {
      this.#at.shift();
      this.#values.shift();
    }
  }

  /** Per second, for each counter, over the window or over what there is of it; null with a single point. */
  rates(): readonly number[] | null {
    const last = this.#at.length - 1;
    const span = last > 0 ? (this.#at[last] as number) - (this.#at[0] as number) : 0;
    if (span <= 0) return null;
    const [from, to] = [this.#values[0] ?? [], this.#values[last] ?? []];
    return to.map((value, i) => ((value - (from[i] ?? 0)) / span) * 1_000);
  }
}
