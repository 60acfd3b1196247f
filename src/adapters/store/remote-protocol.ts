/**
 * What the remote store's two ends agree on.
 * Batches travel as the bytes of learn/trajectory's codec, questions and receipts as JSON. A scan is a stream of frames
 * (u32 little-endian length, then a batch of records) closed by an empty frame, so a broken stream cannot look complete;
 * when the store fails on the way, the last frame is FAILURE_FRAME and the failure as JSON.
 */

import * as z from "zod";
import { parseAgentId, parseEpisodeId } from "../../base/index.ts";

export const PREFIX = "/v1/trajectories";
export const BINARY = "application/octet-stream";
/** A browser page cannot send this without asking the server first, and this server never consents. */
export const GUARD_HEADER = "x-coxswain-store";
export const FAILURE_FRAME = 0xffffffff;
/** Some 250,000 transitions of the usual size. */
export const DEFAULT_BODY_LIMIT = 32 * 1_048_576;

const agent = z.string().transform((text, context) => {
  const parsed = parseAgentId(text);
  if (parsed.ok) return parsed.value;
  context.addIssue({ code: "custom", message: parsed.failure.message });
  return z.NEVER;
});
const episode = z.string().transform((text, context) => {
  const parsed = parseEpisodeId(text);
  if (parsed.ok) return parsed.value;
  context.addIssue({ code: "custom", message: parsed.failure.message });
  return z.NEVER;
});
const count = z.number();

export const EpisodesQuery = z.strictObject({
  order: z.enum(["top", "bottom", "oldest"]),
  count,
  agent: agent.optional(),
});
export const RecentQuery = z.strictObject({ agent, count });
export const SampleRequest = z.strictObject({ count, seed: z.int().nonnegative(), agent: agent.optional() });
export const EpisodeRequest = z.strictObject({ episode });
export const ForgetRequest = z.strictObject({ episodes: z.array(episode) });

export const FailureBody = z.object({ code: z.string(), message: z.string(), retry: z.boolean() });
export const AppendReceiptBody = z.object({ added: z.number(), repeated: z.number() });
export const CompleteReceiptBody = z.object({ completed: z.number(), repeated: z.number() });
export const RewardsBody = z.array(z.number());
export const EpisodeIdsBody = z.array(episode);
export const CountsBody = z.object({ episodes: z.number(), records: z.number(), pending: z.number() });
export const ForgetBody = z.object({ forgotten: z.number() });
export const SummariesBody = z.array(
  z.object({
    episode,
    agent,
    steps: z.number(),
    return: z.number(),
    end: z.enum(["no", "terminated", "truncated"]),
    startedAt: z.number(),
    endedAt: z.number(),
  }),
);
