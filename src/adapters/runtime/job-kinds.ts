/** Looking up what a thread was asked for by name. */

import { CodedError, failure } from "../../base/index.ts";
import type { JobKinds, JobName, ModelKind, TaskKind } from "../../learn/tensor/index.ts";

export function findTask(kinds: JobKinds, { kind }: JobName): TaskKind {
  return find(kinds.tasks, kind, "task");
}

export function findModel(kinds: JobKinds, { kind }: JobName): ModelKind {
  return find(kinds.models, kind, "model");
}

function find<T>(registry: Readonly<Record<string, T>>, kind: string, what: string): T {
  const found = Object.hasOwn(registry, kind) ? registry[kind] : undefined;
  if (found) return found;
  throw new CodedError(
    failure(
      "threads.unknown-job",
      `no ${what} is registered under '${kind}'; the worker's entry knows ${Object.keys(registry).join(", ") || "none"}`,
    ),
  );
}
