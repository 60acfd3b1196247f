/** `coxswain/store`: trajectories and traces, kept. */

export { openDuckdbStore, openTraceStore } from "../adapters/store/index.ts";
export type { Completion, TrajectoryRecord, TrajectoryStore } from "../learn/trajectory/index.ts";
