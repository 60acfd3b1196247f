/**
 * Ids of functions and the names of OpenWhisk's actions, one for the other and back.
 * Owns: the translation. An action outside a package has its own name, `resize`; one within has both with a dot between,
 * `images.resize`. So names that have a dot themselves, and those with blanks or `@`, have no id and cannot be managed.
 */
import type { WorkloadId } from "../../base/index.ts";
import { parseWorkloadId } from "../../base/index.ts";

/** Undefined where the name has no id. */
export function workloadOf(parts: readonly string[]): WorkloadId | undefined {
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => part === "" || part.includes("."))) return undefined;
  const id = parseWorkloadId(parts.join("."));
  return id.ok ? id.value : undefined;
}

/** As it stands in a URL: `images/resize`. Undefined where it cannot be the id of an action. */
export function actionPath(workload: WorkloadId): string | undefined {
  const parts = workload.split(".");
  return workloadOf(parts) === workload ? parts.map(encodeURIComponent).join("/") : undefined;
}
