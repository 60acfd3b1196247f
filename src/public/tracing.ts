/** `coxswain/tracing`: from spans to whole traces and their critical paths. */

export {
  assembleTraces,
  CriticalPathFinder,
  PathSignatures,
  printedCriticalPath,
  TracingCoordinator,
} from "../observe/tracing/index.ts";
