/** From spans to traces to critical paths. Start reading at assembler.ts, then critical-path.ts. */
export { TraceAssembler } from "./assembler.ts";
export { defaultAssemblerLimits } from "./assembler-limits.ts";
export type { CollectedTraces } from "./coordinator.ts";
export { TracingCoordinator } from "./coordinator.ts";
export { CriticalPathFinder } from "./critical-path.ts";
export type { FoundPath, PathAggregate } from "./path-signatures.ts";
export { PathSignatures } from "./path-signatures.ts";
export { PathWindows } from "./path-windows.ts";
export { printedCriticalPath, printedPath } from "./printed-path.ts";
export { RelationTracker } from "./relations.ts";
export type { WholeTraces } from "./whole-traces.ts";
export { assembleTraces } from "./whole-traces.ts";
