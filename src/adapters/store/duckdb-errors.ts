/**
 * What DuckDB and the file system say, as coded failures.
 * DuckDB reports errors as text only, so the text is read here and nowhere else; tests provoke each case for real.
 * Node words the same system errors in lower case.
 */

import type { Failure } from "../../base/index.ts";
import { CodedError, failure } from "../../base/index.ts";

export interface FailedCall {
  readonly path: string;
  readonly doing: string;
  /** A trajectory store unless said. */
  readonly what?: string;
}

export function storeFailure(thrown: unknown, { path, doing, what = "trajectory store" }: FailedCall): CodedError {
  if (thrown instanceof CodedError) return thrown;
  return new CodedError(
    read(thrown instanceof Error ? thrown.message : String(thrown), { path, doing, what, cause: thrown }),
  );
}

interface Context {
  readonly path: string;
  readonly doing: string;
  readonly what: string;
  readonly cause: unknown;
}

function read(text: string, { path, doing, what, cause }: Context): Failure {
  if (text.includes("Could not set lock on file")) {
    const owner = /held in (.+?) \(PID (\d+)\)/.exec(text);
    return lockedStore({ path, what, owner: owner ? `process ${owner[2]} (${owner[1]})` : "another process" });
  }
  if (/No space left on device|Disk quota exceeded|File too large/i.test(text)) {
    return failure(
      "store.disk-full",
      `there is no space left to ${doing} the ${what} ${path}; the records of this call were not stored, free some space and repeat it`,
      { cause },
    );
  }
  if (/Permission denied|Read-only file system|read-only mode/i.test(text)) {
    return failure(
      "store.read-only",
      `the ${what} ${path} cannot be written because its folder or file is read-only; give write permission or choose another place`,
      { cause },
    );
  }
  if (
    /not a valid DuckDB database file|[Cc]orrupt|Could not read enough bytes|checksum|deserializ|Failure while replaying WAL/i.test(
      text,
    )
  ) {
    return failure(
      "store.corrupt",
      `the ${what} ${path} is damaged or not a store at all; move it away and restore a copy, or import an export into a new one`,
      { cause },
    );
  }
  if (/No such file or directory|Is a directory|Not a directory/i.test(text)) {
    return failure(
      "store.path",
      `the ${what} ${path} cannot be opened: its folder is missing or it is a folder itself; check the path`,
      {
        cause,
      },
    );
  }
  if (text.includes("has been invalidated")) {
    return failure(
      "store.failed",
      `the ${what} ${path} stopped after a fatal error of its database; close it and open it again, what was acknowledged is safe`,
      { cause },
    );
  }
  return failure("store.io", `could not ${doing} the ${what} ${path}; the database's own words are in the cause`, {
    cause,
  });
}

export function lockedStore({ path, what, owner }: { path: string; what: string; owner: string }): Failure {
  // Not marked as worth retrying: an owner keeps its store for as long as it lives.
  return failure(
    "store.locked",
    `the ${what} ${path} is owned by ${owner}; only one process opens it, so stop that one or reach it through its remote store port`,
  );
}
