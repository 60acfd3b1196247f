/** From spans to traces to critical paths. Start reading at assembler.ts, then critical-path.ts. */
export type { AssemblerCounts } from "./assembler.ts";
export { TraceAssembler } from "./assembler.ts";
export type { AssemblerLimits } from "./assembler-limits.ts";
export { defaultAssemblerLimits } from "./assembler-limits.ts";
export type { CollectedTraces, CoordinatorOptions } from "./coordinator.ts";
export { TracingCoordinator } from "./coordinator.ts";
export type { CriticalPath, CriticalPathOptions, PathSegment } from "./critical-path.ts";
export { CriticalPathFinder, criticalPath } from "./critical-path.ts";
export type { ExecutionHistory, HistoryEdge, HistoryVertex } from "./execution-history.ts";
export { executionHistory } from "./execution-history.ts";
export type { PathChange, PathChangesOptions } from "./path-changes.ts";
export { PathChanges } from "./path-changes.ts";
export type {
  FoundPath,
  ObservedPath,
  PathAggregate,
  PathSignaturesOptions,
  PathStep,
  RequestType,
} from "./path-signatures.ts";
export { PathSignatures } from "./path-signatures.ts";
export type {
  CriticalTime,
  PathOfWindow,
  PathWindow,
  PathWindowsOptions,
  RequestsOfWindow,
} from "./path-windows.ts";
export { PathWindows } from "./path-windows.ts";
export { printedCriticalPath, printedPath } from "./printed-path.ts";
export type { Interval, PairVerdict, Relations, RelationTrackerOptions } from "./relations.ts";
export { RelationTracker, relationOf } from "./relations.ts";
export type { WholeTraces } from "./whole-traces.ts";
export { assembleTraces } from "./whole-traces.ts";
