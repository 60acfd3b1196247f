export type { Clock } from "./clock.ts";
export { ManualClock } from "./clock.ts";
export type { Failure, Result } from "./failure.ts";
export { assertNever, CodedError, err, failure, failureOf, ok, unwrap } from "./failure.ts";
export type { AgentId, EpisodeId, RunId, WorkloadId } from "./ids.ts";
export { parseAgentId, parseEpisodeId, parseRunId, parseWorkloadId } from "./ids.ts";
export { Mailbox } from "./mailbox.ts";
export type { Limits, Resource } from "./resources.ts";
export { resources } from "./resources.ts";
export type { Rng, RngState } from "./rng.ts";
export { restoreRng, seededRng } from "./rng.ts";
export type { Bytes, Millicores, Ms, PerSecond, Ratio } from "./units.ts";
export {
  bytes,
  cores,
  kibibytes,
  mebibytes,
  millicores,
  milliseconds,
  minutes,
  perSecond,
  ratio,
  seconds,
} from "./units.ts";
