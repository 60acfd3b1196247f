/** The control loop; start reading at loop.ts. */

export { fallbackAgent } from "./fallback-agent.ts";
export type { LoopOptions, LoopStatus } from "./loop.ts";
export { ControlLoop } from "./loop.ts";
export { loopAgent } from "./loop-agent.ts";
export type {
  AgentInput,
  AgentTick,
  EventSink,
  LoopAgent,
  LoopEvent,
  NodeSource,
  PortName,
  Recollection,
  SavedStates,
  StateStore,
  Trainer,
  TrainingJob,
} from "./ports.ts";
export { AWAY } from "./slot.ts";
export type { TurnPhase, TurnWatcher, WatchedTurn } from "./turn-watch.ts";
