/** The control loop; start reading at loop.ts. */

export type { AgentSeatOptions } from "./agent-seat.ts";
export { agentSeat } from "./agent-seat.ts";
export type { TurnLimits } from "./io.ts";
export type { LoopConfig, LoopOptions, LoopStatus } from "./loop.ts";
export { ControlLoop } from "./loop.ts";
export type { DriveOptions, ServiceDecision } from "./mitigation/drive.ts";
export { ServicesDriver } from "./mitigation/drive.ts";
export type { FirmOptions, FirmStatus } from "./mitigation/firm-controller.ts";
export { FirmController } from "./mitigation/firm-controller.ts";
export type { OutboxStats } from "./outbox.ts";
export type {
  AgentEvent,
  AgentInput,
  AgentTick,
  EventSink,
  LoopAgent,
  LoopEvent,
  LoopHealth,
  NodeSource,
  PortName,
  Recollection,
  SavedStates,
  StateStore,
  StepCompleted,
  StepToRecord,
  Trainer,
  TrainingJob,
} from "./ports.ts";
export type { RecorderStats } from "./recorder.ts";
export type { SeatSpec, SeatStatus } from "./seat.ts";
export type { TrainingStats } from "./training-desk.ts";
export type { TurnPhase, TurnWatcher, WatchedTurn } from "./turn-watch.ts";
export { turnPhases } from "./turn-watch.ts";
