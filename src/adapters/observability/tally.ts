/** Counts by label values, of which there are never more than so many: whoever writes the values must not fill a database. */

const PLAIN = /^[a-z][a-z0-9-]{0,47}$/;
const SEPARATOR = "\u0000";

export class Tally {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor({ most }: { readonly most: number }) {
    this.#most = most;
  }

  /** Values are words such as `telemetry-stale`; sentences, and words beyond the limit, are counted as `other`. */
  add(...values: readonly string[]): void {
    const key = values.map((value) => (PLAIN.test(value) ? value : "other")).join(SEPARATOR);
    const kept =
      this.#counts.has(key) || this.#counts.size < this.#most ? key : values.map(() => "other").join(SEPARATOR);
    this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + 1);
  }

  *entries(): Generator<readonly [values: readonly string[], count: number]> {
    for (const [key, count] of this.#counts) yield [key.split(SEPARATOR), count];
  }
}
