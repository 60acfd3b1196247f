/** Branded identifiers, so that an episode cannot be passed where an agent is meant. */

import type { Result } from "./failure.ts";
import { err, failure, ok } from "./failure.ts";

declare const idOf: unique symbol;
type Id<K extends string> = string & { readonly [idOf]: K };

/** A learner that manages one thing. */
export type AgentId = Id<"agent">;
/** One run from a reset to its end. */
export type EpisodeId = Id<"episode">;
/** One training or study run; its seed, config and commit are recorded under it. */
export type RunId = Id<"run">;
/** The thing whose resources are managed: a deployment, a service, a function. */
export type WorkloadId = Id<"workload">;

// Ids appear in file names, metric labels and URLs: letters, digits and a few safe marks, nothing to escape.
const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;

function parse<T extends string>(kind: string, text: string): Result<T> {
  if (pattern.test(text)) return ok(text as T);
  return err(
    failure(
      "id.invalid",
      `the ${kind} id '${text.slice(0, 40)}' is not usable: use 1 to 128 letters, digits, '.', '_' or '-', beginning and ending with a letter or digit`,
    ),
  );
}

export const parseAgentId = (text: string): Result<AgentId> => parse("agent", text);
export const parseEpisodeId = (text: string): Result<EpisodeId> => parse("episode", text);
export const parseRunId = (text: string): Result<RunId> => parse("run", text);
export const parseWorkloadId = (text: string): Result<WorkloadId> => parse("workload", text);
