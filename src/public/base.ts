/** `coxswain/base`: units, ids, results, clocks and chance, which the other entries are written in. */

export type {
  AgentId,
  Bytes,
  Clock,
  EpisodeId,
  Failure,
  Mode,
  Ms,
  Reason,
  Resource,
  Result,
  Rng,
  WorkloadId,
} from "../base/index.ts";
export {
  err,
  failure,
  failureOf,
  ManualClock,
  mebibytes,
  millicores,
  milliseconds,
  ok,
  parseAgentId,
  parseEpisodeId,
  parseWorkloadId,
  seconds,
  seededRng,
  unwrap,
} from "../base/index.ts";
