/** What every turn is handed: the ports behind their queues, and the limits that are kept with each. */
import type { Actuator } from "../../act/index.ts";
import type { Clock, Failure, Ms } from "../../base/index.ts";
import type { TelemetrySource } from "../../observe/telemetry/index.ts";
import type { Deadlines, Lane } from "./bounded-call.ts";
import { MOST_ABANDONED } from "./bounded-call.ts";
import type { Outbox } from "./outbox.ts";
import type { NodeSource, PortName, StateStore } from "./ports.ts";
import type { RecallQueue } from "./recall-queue.ts";
import type { Recorder } from "./recorder.ts";
import type { Slot, SlotEvent } from "./slot.ts";
import type { TrainingQueue } from "./training-queue.ts";
import type { TurnWatcher } from "./turn-watch.ts";

export interface TurnLimits {
  /** For telemetry, the current allocation and node capacities together. */
  readonly look: Ms;
  readonly act: Ms;
  readonly state: Ms;
  /** A wall clock that moves by more than this against the monotonic one has been set. */
  readonly clockTolerance: Ms;
  /** Turns between two saves of an agent; a transition saves at once. */
  readonly saveEvery: number;
  /** Crashes in a row after which an agent is made anew from its saved state. */
  readonly restartAfter: number;
}

export interface LoopIo {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly telemetry: TelemetrySource;
  readonly actuator: Actuator;
  readonly nodes?: NodeSource;
  readonly recorder: Recorder;
  readonly recalls: RecallQueue;
  readonly outbox: Outbox;
  readonly queue?: TrainingQueue;
  readonly state?: StateStore;
  readonly watcher?: TurnWatcher;
  readonly limits: TurnLimits;
}

export function post(slot: Slot, io: LoopIo, event: SlotEvent | undefined): void {
  if (event === undefined) return;
  const { agent, workload } = slot.spec;
  // Stamped in place, which is safe because every event is made for this call, and several times cheaper than a copy.
  io.outbox.post(Object.assign(event, { at: io.clock.now(), agent, workload }));
}

interface Use {
  readonly port: PortName;
  readonly failure: Failure | undefined;
  readonly lane?: Pick<Lane, "abandoned"> | undefined;
}

/** A port was used: says so where it began to fail, fails differently, or works again, and where a call was given up. */
export function note(slot: Slot, io: LoopIo, { port, failure, lane }: Use): void {
  post(slot, io, slot.standing(port, failure));
  if (failure?.code !== "loop.timeout" || lane === undefined) return;
  post(slot, io, { kind: "call-abandoned", port, out: lane.abandoned, most: MOST_ABANDONED });
}
