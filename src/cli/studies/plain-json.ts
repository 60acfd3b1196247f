/** A result as it will be after a trip to the disk, so that fresh and resumed runs report the same. */

import { CodedError, failure } from "../../base/index.ts";

export function plainJson(value: unknown): unknown {
  check(value, "result");
  return JSON.parse(JSON.stringify(value));
}

/** JSON would turn these into null or drop them without a word. */
function check(value: unknown, path: string): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw refuse(path, String(value));
  if (value === undefined || typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    throw refuse(path, typeof value);
  }
  if (ArrayBuffer.isView(value) || value instanceof Map || value instanceof Set || value instanceof Date) {
    throw refuse(path, value.constructor.name);
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, child] of Object.entries(value)) check(child, `${path}.${key}`);
  }
}

function refuse(path: string, found: string): CodedError {
  return new CodedError(
    failure(
      "study.not-json",
      `a study's ${path} is ${found}, which JSON cannot keep; return plain finite numbers, texts, lists and objects`,
    ),
  );
}
