/**
 * One turn of one agent: look, decide, act, record, tell.
 * Owns: the order, and that nothing on the way can stop or delay anybody else. Not here: when (loop.ts), what to do
 * (the agent), the queues behind the ports (recorder.ts, outbox.ts, training-queue.ts).
 */
import type { NodeRoom, Setting } from "../../act/index.ts";
import type { EpisodeId, Ms, Result } from "../../base/index.ts";
import { err, failure, failureOf } from "../../base/index.ts";
import type { TaskReading } from "../index.ts";
import type { Deadline } from "./bounded-call.ts";
import type { LoopIo } from "./io.ts";
import { note, post } from "./io.ts";
import type { AgentInput, AgentTick, LoopHealth } from "./ports.ts";
import { beginRecall, restore, saveIfDue } from "./saved-state.ts";
import { clockJump } from "./schedule.ts";
import type { Slot } from "./slot.ts";
import { failureIn } from "./slot.ts";
import { beginWatched, endWatched, enter } from "./turn-watch.ts";

export async function takeTurn(slot: Slot, io: LoopIo): Promise<void> {
  slot.turns += 1;
  const watched = beginWatched(io.watcher, slot.spec);
  if (!slot.isRestored) {
    enter(watched, "restore");
    await restore(slot, io);
  }
  takeOverTraining(slot, io);
  enter(watched, "read");
  // In one function from here on: for every function that is waited for, all turns of the moment queue up once more.
  const asked = ask(slot, io);
  // One after the other, for none of them rejects; all have been asked by now.
  const reading = await asked.reading;
  const have = await asked.have;
  const nodes = asked.nodes === undefined ? "unlimited" : roomOnNodes(slot, io, await asked.nodes);
  asked.deadline.end();
  const seen = heard(slot, io, { reading, have, nodes });
  const at = seen.now;
  enter(watched, "tick");
  const tick = decide(slot, io, seen);
  if (tick === undefined) {
    endWatched(watched, undefined, null);
    return;
  }
  let applied: Result<Setting> | null = null;
  // Nothing to do is nothing to wait for.
  if (tick.action.kind !== "hold") {
    enter(watched, "actuate");
    const { action } = tick;
    const deadline = io.deadlines.start(io.limits.act, asked.deadline);
    applied = await slot.lanes.apply.call((signal) => io.actuator.apply(action, signal), deadline);
    deadline.end();
    note(slot, io, { port: "actuator", failure: failureIn(applied), lane: slot.lanes.apply });
  }
  enter(watched, "record");
  const done: Done = { tick, applied, at };
  record(slot, io, done);
  tell(slot, io, done);
  if (tick.hasForgotten) beginRecall(slot, io);
  beginTraining(slot, io);
  saveIfDue(slot, io, { isUrgent: tick.events.length > 0 });
  endWatched(watched, tick, applied);
}

interface Done {
  readonly tick: AgentTick;
  /** null when there was nothing to do. */
  readonly applied: Result<Setting> | null;
  readonly at: Ms;
}

interface Asked {
  readonly deadline: Deadline;
  readonly reading: Promise<Result<TaskReading>>;
  readonly have: Promise<Result<Setting>>;
  readonly nodes: Promise<Result<readonly NodeRoom[]>> | undefined;
}

/** Three questions at once, under one deadline; each may fail by itself. */
function ask(slot: Slot, io: LoopIo): Asked {
  const { workload } = slot.spec;
  const { lanes } = slot;
  const deadline = io.deadlines.start(io.limits.look);
  const source = io.nodes;
  return {
    deadline,
    reading: lanes.telemetry.call(
      (signal) => io.telemetry.read(workload, signal),
      deadline,
      (arrived) => decoded(slot, arrived),
    ),
    have: lanes.have.call((signal) => io.actuator.read(workload, signal), deadline),
    nodes: source && lanes.nodes.call((signal) => source.nodes(workload, signal), deadline),
  };
}

function heard(
  slot: Slot,
  io: LoopIo,
  { reading, have, nodes }: Pick<AgentInput, "reading" | "have" | "nodes">,
): AgentInput {
  note(slot, io, { port: "telemetry", failure: failureIn(reading), lane: slot.lanes.telemetry });
  note(slot, io, { port: "actuator", failure: failureIn(have), lane: slot.lanes.have });
  const clock = { now: io.clock.now(), monotonic: io.clock.monotonic() };
  const jump = slot.clock === undefined ? undefined : clockJump(slot.clock, clock, io.limits.clockTolerance);
  slot.clock = clock;
  if (jump !== undefined) post(slot, io, { kind: "clock-jumped", by: jump });
  return { reading, have, nodes, now: clock.now, health: healthOf(slot, jump) };
}

const wellness: LoopHealth = Object.freeze({});

function healthOf({ trainingFailure }: Slot, jump: Ms | undefined): LoopHealth {
  if (jump === undefined && trainingFailure === undefined) return wellness;
  return {
    ...(jump === undefined ? {} : { clockJump: jump }),
    ...(trainingFailure === undefined ? {} : { training: trainingFailure }),
  };
}

/** Adapters parse what they receive; a source that hands over something else must not get as far as the agent. */
function decoded(slot: Slot, arrived: Result<unknown>): Result<TaskReading> {
  if (!arrived.ok) return arrived;
  const reading = slot.agent.parse(arrived.value);
  if (!reading.ok || reading.value.workload === slot.spec.workload) return reading;
  return err(
    failure(
      "loop.wrong-workload",
      `the telemetry source answered for ${reading.value.workload} when asked for ${slot.spec.workload}; the reading is not used, so check the source's labels`,
    ),
  );
}

/** Where nobody knows the nodes' room, nothing may grow: an empty list has room for nothing more. */
function roomOnNodes(slot: Slot, io: LoopIo, found: Result<readonly NodeRoom[]>): readonly NodeRoom[] {
  note(slot, io, { port: "nodes", failure: failureIn(found), lane: slot.lanes.nodes });
  return found.ok ? found.value : [];
}

function decide(slot: Slot, io: LoopIo, input: AgentInput): AgentTick | undefined {
  try {
    const tick = slot.agent.tick(input);
    slot.crashesInARow = 0;
    slot.last = { at: input.now, stage: tick.stage, who: tick.who, why: tick.why };
    return tick;
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    const known = failureOf(cause);
    const crash = failure(
      "loop.agent-crashed",
      `the agent of ${slot.spec.workload} threw in its turn, so its workload stays as it is: ${words.slice(0, 200)}`,
      { retry: true, cause: known ?? cause },
    );
    slot.crashes += 1;
    slot.crashesInARow += 1;
    post(slot, io, { kind: "crashed", failure: crash, inARow: slot.crashesInARow });
    if (slot.crashesInARow % io.limits.restartAfter === 0) makeAnew(slot, io);
    return undefined;
  }
}

/** What crashed again and again is not mended by another try: begin from the saved state, in the next turn. */
function makeAnew(slot: Slot, io: LoopIo): void {
  try {
    const fresh = slot.spec.create();
    slot.agent.dispose();
    slot.agent = fresh;
  } catch (cause) {
    const why = failure("loop.agent-unmakeable", "an agent that crashed could not be made anew; see the cause", {
      cause,
    });
    post(slot, io, { kind: "crashed", failure: why, inARow: slot.crashesInARow });
    return;
  }
  io.queue?.take(slot.spec.agent);
  slot.beginLife();
}

function record(slot: Slot, io: LoopIo, { tick, applied, at }: Done): void {
  const { completed, step } = tick;
  const { pending } = slot;
  if (completed !== undefined && pending?.episode === completed.episode && pending.step === completed.step) {
    const { reward, end, finalObs } = completed;
    io.recorder.complete({
      episode: pending.id,
      step: pending.step,
      reward,
      end,
      ...(finalObs === undefined ? {} : { finalObs }),
    });
    slot.pending = undefined;
  }
  // Even where nothing was recorded the agent must hear what came of its action: it learns from what was done.
  const executed = applied === null ? undefined : slot.agent.acted(applied).executed;
  if (step === undefined) return;
  const id = `${slot.spec.agent}.${slot.life}.${step.episode}` as EpisodeId;
  const { agent } = slot.spec;
  const { obs, proposed, logProb, actorContext, criticContext } = step;
  const isTaken = io.recorder.append({
    episode: id,
    agent,
    step: step.step,
    at,
    obs,
    proposed,
    executed: executed ?? step.executed,
    logProb,
    reward: null,
    end: "no",
    ...(actorContext ? { actorContext } : {}),
    ...(criticContext ? { criticContext } : {}),
  });
  slot.pending = isTaken ? { episode: step.episode, step: step.step, id } : undefined;
}

function tell(slot: Slot, io: LoopIo, { tick, applied }: Done): void {
  for (const event of tick.events) post(slot, io, { kind: "agent", event });
  post(slot, io, { kind: "decision", tick, applied });
}

function takeOverTraining(slot: Slot, io: LoopIo): void {
  const outcome = io.queue?.take(slot.spec.agent);
  if (outcome === undefined) return;
  const adopted = outcome.ok ? attemptAdoption(slot, outcome.value) : outcome;
  if (outcome.ok && !adopted.ok) io.queue?.refuse(slot.spec.agent);
  slot.trainingFailure = failureIn(adopted);
  note(slot, io, { port: "trainer", failure: slot.trainingFailure, lane: io.queue?.laneOf(slot.spec.agent) });
}

function attemptAdoption(slot: Slot, outcome: unknown): Result<void> {
  try {
    return slot.agent.adopt(outcome);
  } catch (cause) {
    return err(
      failureOf(cause) ??
        failure("loop.adoption", "an agent threw while it took over what the trainer made; see the cause", { cause }),
    );
  }
}

function beginTraining(slot: Slot, io: LoopIo): void {
  const { queue } = io;
  if (queue === undefined || slot.recall?.isUnderWay || !queue.mayBegin(slot.spec.agent)) return;
  try {
    const job = slot.agent.training();
    if (job !== undefined) queue.begin({ ...job, agent: slot.spec.agent });
  } catch (cause) {
    const why =
      failureOf(cause) ??
      failure("loop.job", "an agent threw while it made work for the trainer; see the cause", { cause });
    slot.trainingFailure = why;
    note(slot, io, { port: "trainer", failure: why });
  }
}
