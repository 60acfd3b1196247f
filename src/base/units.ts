/**
 * Branded quantities: a bare number has no unit, so `wait(30)` does not compile and `wait(seconds(30))` does.
 * Arithmetic drops the brand; wrap again where the result gets its name.
 */

declare const unit: unique symbol;
type Quantity<U extends string> = number & { readonly [unit]: U };

/** A duration or an instant (since the Unix epoch) in milliseconds. */
export type Ms = Quantity<"ms">;
/** Thousandths of a processor core. */
export type Millicores = Quantity<"millicores">;
export type Bytes = Quantity<"bytes">;
/** Requests, steps or records per second. */
export type PerSecond = Quantity<"per-second">;
/** A share: 0 is none, 1 is all; utilisation may exceed 1. */
export type Ratio = Quantity<"ratio">;

export const milliseconds = (n: number): Ms => n as Ms;
export const seconds = (n: number): Ms => (n * 1_000) as Ms;
export const minutes = (n: number): Ms => (n * 60_000) as Ms;

export const millicores = (n: number): Millicores => n as Millicores;
export const cores = (n: number): Millicores => (n * 1_000) as Millicores;

export const bytes = (n: number): Bytes => n as Bytes;
export const kibibytes = (n: number): Bytes => (n * 1_024) as Bytes;
export const mebibytes = (n: number): Bytes => (n * 1_048_576) as Bytes;

export const perSecond = (n: number): PerSecond => n as PerSecond;
export const ratio = (n: number): Ratio => n as Ratio;
