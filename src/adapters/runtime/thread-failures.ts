/** What can happen to threads, in one place: pools and shard groups say it with the same codes. */

import { CodedError, failure } from "../../base/index.ts";

export function threadLost(what: string, why: string, cause?: unknown): CodedError {
  const text = `${what} was lost: ${why}; try again, with fewer threads if memory is short`;
  return new CodedError(failure("threads.worker-lost", text, { retry: true, cause }));
}

export function threadsClosed(): CodedError {
  return new CodedError(
    failure("threads.closed", "the threads were closed while work was asked of them; open a new pool"),
  );
}
