/**
 * Expected failures are values; bugs throw.
 * Owns: the shape of a coded failure, `Result`, and the one exception that carries a failure across a boundary
 * where a value cannot travel (promises of third parties, the CLI's edge).
 * Not here: the codes themselves. Each is written where it arises and listed in docs/guide/failures.md (checked in CI).
 */

export interface Failure<C extends string = string> {
  /** Stable and dotted, for machines: `checkpoint.corrupt`. Never shared by two causes. */
  readonly code: C;
  /** One sentence for people: what failed, what was found, what to do. No secrets, no payloads. */
  readonly message: string;
  /** Whether the same call may succeed later without anyone changing anything. */
  readonly retry: boolean;
  readonly cause?: unknown;
}

export type Result<T, F extends Failure = Failure> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: F };

export function failure<C extends string>(
  code: C,
  message: string,
  { retry = false, cause }: { retry?: boolean; cause?: unknown } = {},
): Failure<C> {
  return cause === undefined ? { code, message, retry } : { code, message, retry, cause };
}

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <F extends Failure>(f: F): { readonly ok: false; readonly failure: F } => ({
  ok: false,
  failure: f,
});

/** A failure on its way through code that can only throw. */
export class CodedError extends Error {
  readonly failure: Failure;

  constructor(f: Failure) {
    super(f.message, f.cause === undefined ? undefined : { cause: f.cause });
    this.name = "CodedError";
    this.failure = f;
  }

  get code(): string {
    return this.failure.code;
  }
}

/** The value, or the failure thrown: for callers that have no better answer than to stop. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new CodedError(result.failure);
}

/** The failure inside an unknown thrown thing, if there is one. */
export function failureOf(thrown: unknown): Failure | undefined {
  return thrown instanceof CodedError ? thrown.failure : undefined;
}

/** Closes a switch over a union: a new member makes the call a compile error. */
export function assertNever(value: never): never {
  throw new Error(`unreachable case: ${JSON.stringify(value)}`);
}
