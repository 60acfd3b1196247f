/**
 * One turn of one agent: look, decide, act, record, tell.
 * Owns: the order, and that nothing on the way can stop or delay anybody else. Not here: when (loop.ts), what to do
 * (the agent), the queues behind the ports (recorder.ts, outbox.ts, training-desk.ts).
 */
import type { Allocation, NodeRoom } from "../../act/index.ts";
import type { EpisodeId, Ms, Result } from "../../base/index.ts";
import { err, failure, failureOf } from "../../base/index.ts";
import type { WorkloadReading } from "../../observe/telemetry/index.ts";
import { parseReading } from "../../observe/telemetry/index.ts";
import type { Deadline } from "./bounded-call.ts";
import type { LoopIo } from "./io.ts";
import { note, post } from "./io.ts";
import type { AgentInput, AgentTick, LoopHealth } from "./ports.ts";
import { beginRecall, restore, saveIfDue } from "./saved-state.ts";
import { clockJump } from "./schedule.ts";
import type { Seat } from "./seat.ts";
import { failureIn } from "./seat.ts";
import { beginWatched, endWatched, enter } from "./turn-watch.ts";

export async function takeTurn(seat: Seat, io: LoopIo): Promise<void> {
  seat.turns += 1;
  const watched = beginWatched(io.watcher, seat.spec);
  if (!seat.isRestored) {
    enter(watched, "restore");
    await restore(seat, io);
  }
  takeOverTraining(seat, io);
  enter(watched, "read");
  // In one function from here on: for every function that is waited for, all turns of the moment queue up once more.
  const asked = ask(seat, io);
  // One after the other, for none of them rejects; all have been asked by now.
  const reading = await asked.reading;
  const have = await asked.have;
  const nodes = asked.nodes === undefined ? "unlimited" : roomOnNodes(seat, io, await asked.nodes);
  asked.deadline.end();
  const seen = heard(seat, io, { reading, have, nodes });
  const at = seen.now;
  enter(watched, "tick");
  const tick = decide(seat, io, seen);
  if (tick === undefined) {
    endWatched(watched, undefined, null);
    return;
  }
  let applied: Result<Allocation> | null = null;
  // Nothing to do is nothing to wait for.
  if (tick.action.kind !== "hold") {
    enter(watched, "actuate");
    const { action } = tick;
    const deadline = io.deadlines.start(io.limits.act, asked.deadline);
    applied = await seat.lanes.apply.call((signal) => io.actuator.apply(action, signal), deadline);
    deadline.end();
    note(seat, io, { port: "actuator", failure: failureIn(applied), lane: seat.lanes.apply });
  }
  enter(watched, "record");
  const done: Done = { tick, applied, at };
  record(seat, io, done);
  tell(seat, io, done);
  if (tick.hasForgotten) beginRecall(seat, io);
  beginTraining(seat, io);
  saveIfDue(seat, io, { isUrgent: tick.events.length > 0 });
  endWatched(watched, tick, applied);
}

interface Done {
  readonly tick: AgentTick;
  /** null when there was nothing to do. */
  readonly applied: Result<Allocation> | null;
  readonly at: Ms;
}

interface Asked {
  readonly deadline: Deadline;
  readonly reading: Promise<Result<WorkloadReading>>;
  readonly have: Promise<Result<Allocation>>;
  readonly nodes: Promise<Result<readonly NodeRoom[]>> | undefined;
}

/** Three questions at once, under one deadline; each may fail by itself. */
function ask(seat: Seat, io: LoopIo): Asked {
  const { workload } = seat.spec;
  const { lanes } = seat;
  const deadline = io.deadlines.start(io.limits.look);
  const source = io.nodes;
  return {
    deadline,
    reading: lanes.telemetry.call(
      (signal) => io.telemetry.read(workload, signal),
      deadline,
      (arrived) => decoded(seat, arrived),
    ),
    have: lanes.have.call((signal) => io.actuator.read(workload, signal), deadline),
    nodes: source && lanes.nodes.call((signal) => source.nodes(workload, signal), deadline),
  };
}

function heard(
  seat: Seat,
  io: LoopIo,
  { reading, have, nodes }: Pick<AgentInput, "reading" | "have" | "nodes">,
): AgentInput {
  note(seat, io, { port: "telemetry", failure: failureIn(reading), lane: seat.lanes.telemetry });
  note(seat, io, { port: "actuator", failure: failureIn(have), lane: seat.lanes.have });
  const clock = { now: io.clock.now(), monotonic: io.clock.monotonic() };
  const jump = seat.clock === undefined ? undefined : clockJump(seat.clock, clock, io.limits.clockTolerance);
  seat.clock = clock;
  if (jump !== undefined) post(seat, io, { kind: "clock-jumped", by: jump });
  return { reading, have, nodes, now: clock.now, health: healthOf(seat, jump) };
}

const wellness: LoopHealth = Object.freeze({});

function healthOf({ trainingFailure }: Seat, jump: Ms | undefined): LoopHealth {
  if (jump === undefined && trainingFailure === undefined) return wellness;
  return {
    ...(jump === undefined ? {} : { clockJump: jump }),
    ...(trainingFailure === undefined ? {} : { training: trainingFailure }),
  };
}

/** Adapters parse what they receive; a source that hands over something else must not get as far as the agent. */
function decoded(seat: Seat, arrived: Result<unknown>): Result<WorkloadReading> {
  if (!arrived.ok) return arrived;
  const reading = parseReading(arrived.value);
  if (!reading.ok || reading.value.workload === seat.spec.workload) return reading;
  return err(
    failure(
      "loop.wrong-workload",
      `the telemetry source answered for ${reading.value.workload} when asked for ${seat.spec.workload}; the reading is not used, so check the source's labels`,
    ),
  );
}

/** Where nobody knows the nodes' room, nothing may grow: an empty list has room for nothing more. */
function roomOnNodes(seat: Seat, io: LoopIo, found: Result<readonly NodeRoom[]>): readonly NodeRoom[] {
  note(seat, io, { port: "nodes", failure: failureIn(found), lane: seat.lanes.nodes });
  return found.ok ? found.value : [];
}

function decide(seat: Seat, io: LoopIo, input: AgentInput): AgentTick | undefined {
  try {
    const tick = seat.agent.tick(input);
    seat.crashesInARow = 0;
    seat.last = { at: input.now, stage: tick.stage, who: tick.who, why: tick.why };
    return tick;
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    const known = failureOf(cause);
    const crash = failure(
      "loop.agent-crashed",
      `the agent of ${seat.spec.workload} threw in its turn, so its workload stays as it is: ${words.slice(0, 200)}`,
      { retry: true, cause: known ?? cause },
    );
    seat.crashes += 1;
    seat.crashesInARow += 1;
    post(seat, io, { kind: "crashed", failure: crash, inARow: seat.crashesInARow });
    if (seat.crashesInARow % io.limits.restartAfter === 0) makeAnew(seat, io);
    return undefined;
  }
}

/** What crashed again and again is not mended by another try: begin from the saved state, in the next turn. */
function makeAnew(seat: Seat, io: LoopIo): void {
  try {
    const fresh = seat.spec.create();
    seat.agent.dispose();
    seat.agent = fresh;
  } catch (cause) {
    const why = failure("loop.agent-unmakeable", "an agent that crashed could not be made anew; see the cause", {
      cause,
    });
    post(seat, io, { kind: "crashed", failure: why, inARow: seat.crashesInARow });
    return;
  }
  io.desk?.take(seat.spec.agent);
  seat.beginLife();
}

function record(seat: Seat, io: LoopIo, { tick, applied, at }: Done): void {
  const { completed, step } = tick;
  const { pending } = seat;
  if (completed !== undefined && pending?.episode === completed.episode && pending.step === completed.step) {
    const { reward, end, finalObs } = completed;
    io.recorder.complete({
      episode: pending.id,
      step: pending.step,
      reward,
      end,
      ...(finalObs === undefined ? {} : { finalObs }),
    });
    seat.pending = undefined;
  }
  // Even where nothing was recorded the agent must hear what came of its action: it learns from what was done.
  const executed = applied === null ? undefined : seat.agent.acted(applied).executed;
  if (step === undefined) return;
  const id = `${seat.spec.agent}.${seat.life}.${step.episode}` as EpisodeId;
  const { agent } = seat.spec;
  const { obs, proposed, logProb } = step;
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
  });
  seat.pending = isTaken ? { episode: step.episode, step: step.step, id } : undefined;
}

function tell(seat: Seat, io: LoopIo, { tick, applied }: Done): void {
  for (const event of tick.events) post(seat, io, { kind: "agent", event });
  post(seat, io, { kind: "decision", tick, applied });
}

function takeOverTraining(seat: Seat, io: LoopIo): void {
  const outcome = io.desk?.take(seat.spec.agent);
  if (outcome === undefined) return;
  const adopted = outcome.ok ? attemptAdoption(seat, outcome.value) : outcome;
  if (outcome.ok && !adopted.ok) io.desk?.refuse(seat.spec.agent);
  seat.trainingFailure = failureIn(adopted);
  note(seat, io, { port: "trainer", failure: seat.trainingFailure, lane: io.desk?.laneOf(seat.spec.agent) });
}

function attemptAdoption(seat: Seat, outcome: unknown): Result<void> {
  try {
    return seat.agent.adopt(outcome);
  } catch (cause) {
    return err(
      failureOf(cause) ??
        failure("loop.adoption", "an agent threw while it took over what the trainer made; see the cause", { cause }),
    );
  }
}

function beginTraining(seat: Seat, io: LoopIo): void {
  const { desk } = io;
  if (desk === undefined || seat.recall?.isUnderWay || !desk.mayBegin(seat.spec.agent)) return;
  try {
    const job = seat.agent.training();
    if (job !== undefined) desk.begin({ ...job, agent: seat.spec.agent });
  } catch (cause) {
    const why =
      failureOf(cause) ??
      failure("loop.job", "an agent threw while it made work for the trainer; see the cause", { cause });
    seat.trainingFailure = why;
    note(seat, io, { port: "trainer", failure: why });
  }
}
