export { BatchingWriter } from "./batching-writer.ts";
export {
  bytesToVector,
  decodeCompletions,
  decodeRecords,
  decodeTransitions,
  encodeCompletions,
  encodeRecords,
  encodeTransitions,
  schemaMismatch,
  vectorToBytes,
} from "./codec.ts";
export { lineToRecord, recordToLine } from "./jsonl.ts";
export type { Completion, EpisodeEnd, TrajectoryRecord } from "./record.ts";
export {
  completed,
  conflictingAgent,
  conflictingCompletion,
  conflictingRecord,
  EPISODE_ENDS,
  isRepeat,
  isRepeatedCompletion,
  ownCopy,
  problemInCompletions,
  problemInRecords,
  RECORD_SCHEMA,
  throwIfProblem,
  unknownRecord,
} from "./record.ts";
export { compact } from "./retention.ts";
export { StepSet } from "./step-set.ts";
export type {
  AppendReceipt,
  CompleteReceipt,
  EpisodeQuery,
  EpisodeSummary,
  SampleQuery,
  StoreCounts,
  TrajectoryStore,
  Transition,
} from "./store.ts";
export {
  bestFirst,
  byId,
  checkedCount,
  closedStore,
  oldestFirst,
  summaryOf,
  transitionOf,
  worstFirst,
} from "./store.ts";
