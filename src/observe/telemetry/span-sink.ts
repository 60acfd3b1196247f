/**
 * The port through which spans go from a receiver to whoever puts traces together: in this process, or in another one
 * that owns the store, so that any number of receivers can stand in front of one owner.
 */
import type { Ms } from "../../base/index.ts";
import type { NameTable } from "./name-table.ts";
import type { SpanColumns } from "./span-columns.ts";

export interface SpanSink {
  /** The table whose numbers batches carry. */
  readonly names: NameTable;
  /** Takes a batch or refuses it as a whole, at once. The batch is the caller's again when this returns. */
  offer(batch: SpanColumns): SpanOffer;
}

export type SpanOffer =
  | {
      readonly kind: "taken";
      /** Spans of the batch that will not be used, and why: for the sender. */
      readonly unused: number;
      readonly why: string;
    }
  /** No room now: the sender is asked to come back. */
  | { readonly kind: "busy"; readonly retryAfter: Ms };
