/**
 * Why a span was not used, counted.
 * Owns: the list of reasons and the counter. Not here: the decisions (adapters/otlp for what a format cannot say,
 * observe/tracing for what an assembler will not hold).
 */

export const SPAN_DROP_REASONS = [
  /** An id that is missing, all zero, or of another length than its format has. */
  "invalid-id",
  /** A name that is no UTF-8, or a field of another type than its format has. */
  "invalid-field",
  /** It ends before it starts, or its times are no numbers. */
  "negative-duration",
  /** It starts later than any clock error explains. */
  "future",
  /** Its trace was sealed already: what was decided on it is not rewritten. */
  "late",
  /** The same trace and span id came before. */
  "duplicate",
  /** It is its own ancestor. */
  "cycle",
  /** Its trace holds as many spans as a trace may. */
  "trace-too-large",
  /** There was no room: the oldest traces were sealed, and still too many are open. */
  "no-room",
] as const;
export type SpanDropReason = (typeof SPAN_DROP_REASONS)[number];

export class SpanDrops {
  readonly #counts: Record<SpanDropReason, number>;

  constructor() {
    this.#counts = Object.fromEntries(SPAN_DROP_REASONS.map((reason) => [reason, 0])) as Record<SpanDropReason, number>;
  }

  add(reason: SpanDropReason, count = 1): void {
    this.#counts[reason] += count;
  }

  of(reason: SpanDropReason): number {
    return this.#counts[reason];
  }

  get total(): number {
    return SPAN_DROP_REASONS.reduce((sum, reason) => sum + this.#counts[reason], 0);
  }

  /** A copy, for reports. */
  counts(): Readonly<Record<SpanDropReason, number>> {
    return { ...this.#counts };
  }

  merge(other: SpanDrops): void {
    for (const reason of SPAN_DROP_REASONS) this.#counts[reason] += other.#counts[reason];
  }

  /** For the sender of a batch: "3 negative-duration, 1 invalid-id"; empty when nothing was dropped. */
  sentence(): string {
    return SPAN_DROP_REASONS.filter((reason) => this.#counts[reason] > 0)
      .map((reason) => `${this.#counts[reason]} ${reason}`)
      .join(", ");
  }
}
