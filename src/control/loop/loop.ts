/**
 * START READING HERE. The control loop: many agents in one process, each with its own turn, none in another's way.
 * Owns: turns (staggered, by the monotonic clock), starting, stopping in good order, the loop's condition in figures.
 * Not here: a turn itself (turn.ts), the ports (ports.ts), what an agent decides (control/lifecycle).
 *
 * A turn walks one sample from telemetry to actuation:
 *   read → parse → agent.tick → actuate → record (and complete the step before) → events → perhaps training, saving.
 * Everything that may be slow is bounded by a deadline or runs beside the turns: telemetry and actuator hold up only
 * their own agent, and only until its deadline; store, events, training and state hold up nobody.
 */
import type { Actuator } from "../../act/index.ts";
import type { AgentId, Clock, Failure, Ms, Result } from "../../base/index.ts";
import { err, failure, milliseconds, ok, seconds } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import type { TelemetrySource } from "../../observe/telemetry/index.ts";
import { Deadlines } from "./bounded-call.ts";
import type { LoopIo, TurnLimits } from "./io.ts";
import { post } from "./io.ts";
import type { OutboxStats } from "./outbox.ts";
import { Outbox } from "./outbox.ts";
import type { EventSink, NodeSource, StateStore, Trainer } from "./ports.ts";
import { RecallQueue } from "./recall-queue.ts";
import type { RecorderStats } from "./recorder.ts";
import { Recorder } from "./recorder.ts";
import { saveLast } from "./saved-state.ts";
import type { Turns } from "./schedule.ts";
import { nextTurn, phaseOf } from "./schedule.ts";
import type { SlotSpec, SlotStatus } from "./slot.ts";
import { Slot } from "./slot.ts";
import type { TrainingStats } from "./training-queue.ts";
import { TrainingQueue } from "./training-queue.ts";
import { takeTurn } from "./turn.ts";
import type { TurnWatcher } from "./turn-watch.ts";

export interface LoopOptions {
  readonly clock: Clock;
  readonly telemetry: TelemetrySource;
  readonly actuator: Actuator;
  readonly nodes?: NodeSource;
  readonly store: TrajectoryStore;
  readonly events: EventSink;
  readonly trainer?: Trainer;
  readonly state?: StateStore;
  /** Sees every turn and its phases, for traces and timings. */
  readonly watcher?: TurnWatcher;
  readonly config?: Partial<LoopConfig>;
}

export interface LoopConfig extends TurnLimits {
  /** The control step: every agent has one turn in it. */
  readonly period: Ms;
  /** How long a round of training may take. */
  readonly training: Ms;
  /** How long an agent's stored steps may be read after a restart. */
  readonly recall: Ms;
  /** Steps and rewards that may wait for the store. */
  readonly recorderCapacity: number;
  readonly eventCapacity: number;
  /** How long stopping may take after the last turn, for the store, the sink and the state together. */
  readonly stop: Ms;
}

const defaults: LoopConfig = {
  period: seconds(15),
  look: seconds(3),
  act: seconds(5),
  state: seconds(5),
  training: seconds(120),
  recall: seconds(30),
  clockTolerance: seconds(2),
  saveEvery: 20,
  restartAfter: 3,
  recorderCapacity: 65_536,
  eventCapacity: 8_192,
  stop: seconds(10),
};

export interface LoopStatus {
  readonly agents: readonly SlotStatus[];
  readonly recorder: RecorderStats;
  readonly events: OutboxStats;
  readonly training: TrainingStats | null;
}

/** Ids of episodes are made of the agent's, the life's and a number, and have to fit an id's 128 characters. */
const MAX_AGENT_ID = 80;

interface Driven {
  readonly slot: Slot;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class ControlLoop {
  readonly #config: LoopConfig;
  readonly #io: LoopIo;
  readonly #driven = new Map<AgentId, Driven>();
  readonly #start: Ms;
  #added = 0;
  #isStopped = false;

  constructor({ clock, store, events, trainer, config, ...ports }: LoopOptions) {
    this.#config = { ...defaults, ...config };
    const { period, training, recall, recorderCapacity, eventCapacity } = this.#config;
    if (!(period > 0)) throw new RangeError(`a loop's period is more than 0 ms, not ${period}`);
    const deadlines = new Deadlines(clock);
    const queue =
      trainer === undefined ? {} : { queue: new TrainingQueue({ trainer, clock, deadlines, limit: training }) };
    const recorder = new Recorder({
      store,
      clock,
      capacity: recorderCapacity,
      onFailure: (why, { episode }) => this.#storeUsed(episode, why),
    });
    const outbox = new Outbox({ sink: events, deadlines, capacity: eventCapacity });
    const recalls = new RecallQueue({ store, clock, deadlines, limit: recall });
    this.#io = { clock, deadlines, recorder, recalls, outbox, ...queue, ...ports, limits: this.#config };
    this.#start = clock.monotonic();
  }

  get status(): LoopStatus {
    return {
      agents: [...this.#driven.values()].map(({ slot }) => slot.status),
      recorder: this.#io.recorder.stats,
      events: this.#io.outbox.stats,
      training: this.#io.queue?.stats ?? null,
    };
  }

  /** Gives an agent its turns from now on. */
  add(spec: SlotSpec): Result<void> {
    const problem = this.#problemOf(spec);
    if (problem !== undefined) return err(problem);
    const { period } = this.#config;
    const slot = new Slot(spec, this.#io.clock.now());
    const stop = new AbortController();
    const turns = { start: this.#start, phase: phaseOf(this.#added++, period), period };
    this.#driven.set(spec.agent, { slot, stop, ended: this.#drive(slot, turns, stop.signal) });
    return ok(undefined);
  }

  /** Ends an agent's turns; resolves when the one under way is over and its state is saved. */
  async remove(agent: AgentId): Promise<void> {
    const driven = this.#driven.get(agent);
    if (driven === undefined) return;
    driven.stop.abort();
    await driven.ended;
    this.#driven.delete(agent);
    driven.slot.recall = undefined;
    this.#io.queue?.forget(agent);
    driven.slot.agent.dispose();
  }

  /** No new turns; those under way end, states are saved, records and events are delivered, all within the limit. */
  async stop(): Promise<LoopStatus> {
    this.#isStopped = true;
    const driven = [...this.#driven.values()];
    for (const { stop } of driven) stop.abort();
    await Promise.all(driven.map(({ ended }) => ended));
    await Promise.all([this.#io.queue?.close(), this.#io.recalls.close()]);
    const deadline = this.#io.deadlines.start(this.#config.stop);
    await Promise.race([this.#io.recorder.close(), deadline.expired]);
    await Promise.race([this.#io.outbox.close(), deadline.expired]);
    deadline.end();
    this.#io.deadlines.close();
    const { status } = this;
    for (const { slot } of driven) slot.agent.dispose();
    this.#driven.clear();
    return status;
  }

  #problemOf({ agent }: SlotSpec): Failure | undefined {
    if (this.#isStopped)
      return failure("loop.stopped", `agent ${agent} cannot be added to a loop that was stopped; start a new loop`);
    if (this.#driven.has(agent))
      return failure("loop.duplicate-agent", `there is an agent ${agent} in the loop already; remove it first`);
    if (agent.length > MAX_AGENT_ID)
      return failure(
        "loop.agent-id",
        `the id of agent ${agent.slice(0, 40)}… has ${agent.length} characters; ids of its episodes are made from it, so use at most ${MAX_AGENT_ID}`,
      );
    return undefined;
  }

  async #drive(slot: Slot, turns: Turns, signal: AbortSignal): Promise<void> {
    const { clock } = this.#io;
    let last = nextTurn(turns, clock.monotonic(), -1).number - 1;
    for (;;) {
      const now = clock.monotonic();
      const turn = nextTurn(turns, now, last);
      this.#noteSkipped(slot, turn.number - last - 1);
      last = turn.number;
      try {
        await clock.sleep(milliseconds(turn.due - now), signal);
      } catch {
        break;
      }
      await takeTurn(slot, this.#io);
      if (signal.aborted) break;
    }
    await saveLast(slot, this.#io);
  }

  #noteSkipped(slot: Slot, ticks: number): void {
    if (ticks <= 0) return;
    slot.skipped += ticks;
    post(slot, this.#io, { kind: "skipped", ticks });
  }

  #storeUsed(episode: string, why: Failure | undefined): void {
    const driven = this.#driven.get(agentOf(episode));
    if (driven !== undefined) post(driven.slot, this.#io, driven.slot.standing("store", why));
  }
}

const agentOf = (episode: string): AgentId => episode.replace(/\.[^.]*\.[^.]*$/, "") as AgentId;
