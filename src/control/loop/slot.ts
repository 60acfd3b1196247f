/**
 * One agent's place in the loop: what the loop remembers of it between turns.
 * Owns: its lanes to the ports, which ports are failing, its condition in figures.
 * Not here: a turn (turn.ts), the decisions (the agent itself).
 */
import type { AgentId, EpisodeId, Failure, Ms, Result, WorkloadId } from "../../base/index.ts";
import { Lane } from "./bounded-call.ts";
import type { AgentTick, LoopAgent, LoopEvent, PortName, StepNumber } from "./ports.ts";
import type { ClockReading } from "./schedule.ts";

export interface SlotSpec {
  readonly agent: AgentId;
  readonly workload: WorkloadId;
  /** Makes the agent as on its first day; saved state is loaded into it afterwards. */
  create(): LoopAgent;
}

export interface SlotStatus {
  readonly agent: AgentId;
  readonly workload: WorkloadId;
  readonly turns: number;
  /** Turns that were due while an earlier one was not over, or while the process slept. */
  readonly skipped: number;
  readonly crashes: number;
  /** Calls to ports that were given up and have not returned. */
  readonly abandoned: number;
  readonly last?: { readonly at: Ms } & Pick<AgentTick, "stage" | "who" | "why">;
  readonly failing: readonly { readonly port: PortName; readonly failure: Failure }[];
}

/** An event without the fields that every event of this slot shares. */
export type SlotEvent = LoopEvent extends infer E
  ? E extends LoopEvent
    ? Omit<E, "at" | "agent" | "workload">
    : never
  : never;

export class Slot {
  readonly spec: SlotSpec;
  agent: LoopAgent;
  readonly lanes = {
    telemetry: new Lane("the telemetry source"),
    have: new Lane("the actuator's read"),
    nodes: new Lane("the source of node capacities"),
    apply: new Lane("the actuator"),
    state: new Lane("the state store"),
  };
  /** Whether saved state was looked for; until then nothing is saved, so that nothing good is overwritten. */
  isRestored = false;
  clock: ClockReading | undefined;
  /** The step that waits for its reward, if the recorder took it. */
  pending: (StepNumber & { readonly id: EpisodeId }) | undefined;
  trainingFailure: Failure | undefined;
  /** While stored steps are looked for; under way when they are taking the place of others. */
  recall: { readonly isUnderWay: boolean } | undefined;
  /** The newest save, which is bounded in time like every call. */
  saving: Promise<void> | undefined;
  turns = 0;
  skipped = 0;
  crashes = 0;
  crashesInARow = 0;
  turnsSinceSave = 0;
  last: SlotStatus["last"];
  readonly #born: string;
  #lives = 0;
  readonly #standings = new Map<PortName, { failure: Failure; count: number }>();

  constructor(spec: SlotSpec, now: Ms) {
    this.spec = spec;
    this.#born = now.toString(36);
    this.agent = spec.create();
  }

  /**
   * Names this life's episodes apart from those of earlier ones: a restored agent counts its episodes from where its
   * saved state was, and steps recorded after that are in the store already.
   */
  get life(): string {
    return `${this.#born}-${this.#lives}`;
  }

  /** After the agent was made anew: nothing of the one before counts any more. */
  beginLife(): void {
    this.#lives += 1;
    this.isRestored = false;
    this.pending = undefined;
    this.trainingFailure = undefined;
    this.recall = undefined;
  }

  get isFirstLife(): boolean {
    return this.#lives === 0;
  }

  /** What there is to say about a port after it was used; nothing while it goes on as before. */
  standing(port: PortName, failure: Failure | undefined): SlotEvent | undefined {
    // Its world tells that it went and when it is back: nothing is wrong with the port.
    if (failure?.code === AWAY) return undefined;
    const before = this.#standings.get(port);
    if (failure === undefined) {
      if (before === undefined) return undefined;
      this.#standings.delete(port);
      return { kind: "port-recovered", port, failures: before.count };
    }
    this.#standings.set(port, { failure, count: (before?.count ?? 0) + 1 });
    return before?.failure.code === failure.code ? undefined : { kind: "port-failing", port, failure };
  }

  get status(): SlotStatus {
    const { turns, skipped, crashes, last } = this;
    const failing = [...this.#standings].map(([port, { failure }]) => ({ port, failure }));
    const abandoned = Object.values(this.lanes).reduce((sum, lane) => sum + lane.abandoned, 0);
    const { agent, workload } = this.spec;
    return { agent, workload, turns, skipped, crashes, abandoned, ...(last === undefined ? {} : { last }), failing };
  }
}

/** What a port answers for a workload that is known and not there now, such as a function that was taken down for a while. */
export const AWAY = "workload.away";

export const failureIn = (result: Result<unknown>): Failure | undefined => (result.ok ? undefined : result.failure);
