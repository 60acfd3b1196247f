/**
 * Rates from counters that only grow, as a metrics server takes them: between two points of the past.
 * Owns: the points that the window needs. Every pod has one of these and is scraped every few seconds of a world's time,
 * so points lie in one flat list that is used again, and neither adding nor asking makes anything new.
 */
export class CounterHistory {
  readonly #window: number;
  /** Point by point: when, and the value of each counter. */
  readonly #points: number[] = [];
  #count = 0;
  readonly #rates: number[] = [];

  constructor(window: number) {
    this.#window = window;
  }

  /** As many values every time; they are copied. */
  add(at: number, values: ArrayLike<number>): void {
    const points = this.#points;
    const size = values.length + 1;
    let place = this.#count++ * size;
    points[place++] = at;
    for (let i = 0; i < values.length; i++) points[place++] = values[i]!;
    // One point at or before the window's old end is enough.
    while (this.#count > 2 && points[size]! <= at - this.#window) {
      this.#count--;
      for (let i = 0; i < this.#count * size; i++) points[i] = points[i + size]!;
    }
    if (this.#rates.length !== values.length) this.#rates.length = values.length;
  }

  /**
   * Per second, for each counter, over the window or over what there is of it; null with a single point. The list is
   * used again: it says this until the next point is added.
   */
  rates(): readonly number[] | null {
    const points = this.#points;
    const rates = this.#rates;
    const last = (this.#count - 1) * (rates.length + 1);
    const span = last > 0 ? points[last]! - points[0]! : 0;
    if (span <= 0) return null;
    for (let i = 0; i < rates.length; i++) rates[i] = ((points[last + 1 + i]! - points[1 + i]!) / span) * 1_000;
    return rates;
  }
}
