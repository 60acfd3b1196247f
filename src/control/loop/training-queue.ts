/**
 * Training beside the loop: at most one round per agent, at most as many at once as the trainer has slots.
 * Owns: who may train now, the time limit of a round, pauses after failures, results until the agent's next turn.
 * Not here: training (the Trainer port, on threads of its own), what is trained (the agent says).
 *
 * A result is only handed over when its agent asks in its own turn, so an agent never changes under its own tick.
 */
import type { AgentId, Clock, Ms, Result } from "../../base/index.ts";
import { minutes, seconds } from "../../base/index.ts";
import type { Deadline, Deadlines } from "./bounded-call.ts";
import { Lane } from "./bounded-call.ts";
import type { Trainer, TrainingJob } from "./ports.ts";

export interface TrainingQueueOptions {
  readonly trainer: Trainer;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly limit?: Ms;
  /** Pause of an agent after its first failed round; doubles with each further one, up to 32 times. */
  readonly pauseAfterFailure?: Ms;
}

export interface TrainingStats {
  readonly underWay: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Rounds that were not begun because every slot was taken. */
  readonly turnedAway: number;
}

interface Place {
  readonly lane: Lane;
  result: Result<unknown> | undefined;
  isUnderWay: boolean;
  failures: number;
  notBefore: number;
}

export class TrainingQueue {
  readonly #options: Required<TrainingQueueOptions>;
  readonly #places = new Map<AgentId, Place>();
  readonly #running = new Set<Promise<void>>();
  readonly #deadlines = new Set<Deadline>();
  #underWay = 0;
  #succeeded = 0;
  #failed = 0;
  #turnedAway = 0;

  constructor(options: TrainingQueueOptions) {
    this.#options = { limit: minutes(2), pauseAfterFailure: seconds(15), ...options };
  }

  get stats(): TrainingStats {
    return {
      underWay: this.#underWay,
      succeeded: this.#succeeded,
      failed: this.#failed,
      turnedAway: this.#turnedAway,
    };
  }

  /** Whether this agent could begin a round now; ask before making the job, which may cost something. */
  mayBegin(agent: AgentId): boolean {
    const place = this.#places.get(agent);
    if (place !== undefined) {
      const now = this.#options.clock.monotonic();
      if (place.isUnderWay || place.result !== undefined || place.lane.isBusyAt(now)) return false;
      if (now < place.notBefore) return false;
    }
    if (this.#underWay < this.#options.trainer.slots) return true;
    this.#turnedAway += 1;
    return false;
  }

  begin(job: TrainingJob): void {
    const place = this.#placeOf(job.agent);
    place.isUnderWay = true;
    this.#underWay += 1;
    const round = this.#train(job, place);
    this.#running.add(round);
    void round.finally(() => this.#running.delete(round));
  }

  /** The outcome of the agent's last round, once. */
  take(agent: AgentId): Result<unknown> | undefined {
    const place = this.#places.get(agent);
    const result = place?.result;
    if (place !== undefined) place.result = undefined;
    return result;
  }

  /** Counts against the agent what looked like a success: it could not take the outcome over. */
  refuse(agent: AgentId): void {
    this.#fail(this.#placeOf(agent));
    this.#succeeded -= 1;
  }

  laneOf(agent: AgentId): Lane | undefined {
    return this.#places.get(agent)?.lane;
  }

  forget(agent: AgentId): void {
    this.#places.delete(agent);
  }

  /** Gives up what is under way, and waits until that is known. */
  async close(): Promise<void> {
    for (const deadline of this.#deadlines) deadline.giveUp();
    await Promise.all(this.#running);
  }

  async #train(job: TrainingJob, place: Place): Promise<void> {
    const { trainer, deadlines, limit } = this.#options;
    const deadline = deadlines.start(limit);
    this.#deadlines.add(deadline);
    const result = await place.lane.call((signal) => trainer.train(job, signal), deadline);
    deadline.end();
    this.#deadlines.delete(deadline);
    place.isUnderWay = false;
    this.#underWay -= 1;
    place.result = result;
    if (result.ok) {
      this.#succeeded += 1;
      place.failures = 0;
    } else this.#fail(place);
  }

  #fail(place: Place): void {
    this.#failed += 1;
    const pause = this.#options.pauseAfterFailure * 2 ** Math.min(place.failures, 5);
    place.failures += 1;
    place.notBefore = this.#options.clock.monotonic() + pause;
  }

  #placeOf(agent: AgentId): Place {
    const known = this.#places.get(agent);
    if (known !== undefined) return known;
    const place: Place = {
      lane: new Lane("the trainer"),
      result: undefined,
      isUnderWay: false,
      failures: 0,
      notBefore: Number.NEGATIVE_INFINITY,
    };
    this.#places.set(agent, place);
    return place;
  }
}
