/**
 * Agents that start again get their past back from the trajectory store, beside the turns.
 * Owns: who is served now, the time it may take, small portions, and what is said about it.
 * Not here: which steps those are (stored-steps.ts), the replay they go to (the agent's).
 *
 * Nothing waits for it: an agent begins with what its saved state has, and a store that is slow, down or damaged leaves it
 * with that. Few are served at once and in small portions, so that a thousand agents that start together do not hold up
 * each other's turns.
 */
import type { Clock, Failure, Ms } from "../../base/index.ts";
import { failure, failureOf, minutes, ok, seconds } from "../../base/index.ts";
import type { TrajectoryStore, Transition } from "../../learn/trajectory/index.ts";
import type { Deadline, Deadlines } from "./bounded-call.ts";
import { Lane } from "./bounded-call.ts";
import type { LoopAgent, Recollection } from "./ports.ts";
import type { Slot, SlotEvent } from "./slot.ts";
import { newestStoredSteps, SkippedSteps } from "./stored-steps.ts";

export interface RecallQueueOptions {
  readonly store: Pick<TrajectoryStore, "recentEpisodes" | "episode">;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** How long reading one agent's steps may take. */
  readonly limit?: Ms;
}

/** Agents that are read for at the same time. */
const SLOTS = 2;
/** Steps handed over at once: some tenths of a millisecond, which is as long as another's turn may wait. */
const PORTION = 256;
/** A store that did not answer one agent is not asked for the next ones before this. */
const LEAVE_ALONE = minutes(1);

interface Job {
  readonly slot: Slot;
  readonly agent: LoopAgent;
  readonly into: Recollection;
  isUnderWay: boolean;
  tell(event: SlotEvent): void;
}

export class RecallQueue {
  readonly #options: Required<RecallQueueOptions>;
  readonly #waiting: Job[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #deadlines = new Set<Deadline>();
  readonly #closed = new AbortController();
  #down: { readonly why: Failure; readonly until: number } | undefined;

  constructor(options: RecallQueueOptions) {
    this.#options = { limit: seconds(30), ...options };
  }

  /** For a life that has just begun, with whatever state was found, or a learner that was just made anew. */
  begin(slot: Slot, tell: (event: SlotEvent) => void): void {
    const { agent } = slot;
    const into = agent.recollection;
    if (into === undefined || into.most === 0 || this.#closed.signal.aborted) return;
    const job: Job = { slot, agent, into, tell, isUnderWay: false };
    slot.recall = job;
    this.#waiting.push(job);
    this.#serve();
  }

  /** Gives up what is under way, and waits until that is known. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#waiting.length = 0;
    for (const deadline of this.#deadlines) deadline.giveUp();
    await Promise.all(this.#running);
  }

  #serve(): void {
    while (this.#running.size < SLOTS) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      const run = this.#recall(job).finally(() => {
        this.#running.delete(run);
        this.#serve();
      });
      this.#running.add(run);
    }
  }

  /** A newer recall, or another agent in the slot, makes this one worthless. */
  #isWanted(job: Job): boolean {
    return !this.#closed.signal.aborted && job.slot.recall === job && job.slot.agent === job.agent;
  }

  async #recall(job: Job): Promise<void> {
    const skipped = new SkippedSteps();
    const steps = await this.#read(job, skipped);
    if (!this.#isWanted(job)) return;
    const isStores = steps.length > job.into.own;
    const taken = isStores ? await this.#hand(job, { steps, skipped }) : job.into.own;
    if (!this.#isWanted(job)) return;
    job.slot.recall = undefined;
    if (isStores || skipped.all.length > 0)
      job.tell({ kind: "recalled", from: isStores ? "store" : "saved", steps: taken, skipped: skipped.all });
  }

  async #read(job: Job, skipped: SkippedSteps): Promise<readonly Transition[]> {
    const { store, clock, deadlines, limit } = this.#options;
    if (this.#down !== undefined && clock.monotonic() < this.#down.until) {
      skipped.add(this.#down.why);
      return [];
    }
    const lane = new Lane("the trajectory store");
    const deadline = deadlines.start(limit);
    this.#deadlines.add(deadline);
    const { steps, down } = await newestStoredSteps(
      {
        store,
        agent: job.slot.spec.agent,
        most: job.into.most,
        ask: (work) => lane.call(async () => ok(await work()), deadline),
        isWanted: () => this.#isWanted(job),
      },
      skipped,
    );
    deadline.end();
    this.#deadlines.delete(deadline);
    // One that was only too slow for all of it has answered, and will answer others.
    this.#down = down && steps.length === 0 ? { why: down, until: clock.monotonic() + LEAVE_ALONE } : undefined;
    if (down !== undefined) skipped.add(down);
    return steps;
  }

  /** How many were taken. Between two portions others have their turns. */
  async #hand(job: Job, { steps, skipped }: { steps: readonly Transition[]; skipped: SkippedSteps }): Promise<number> {
    let taken = 0;
    job.isUnderWay = true;
    for (let from = 0; from < steps.length && this.#isWanted(job); from += PORTION) {
      const portion = steps.slice(from, from + PORTION);
      try {
        const refused = job.into.take(portion, { isFirst: from === 0 });
        for (const why of refused) skipped.add(why);
        taken += portion.length - refused.length;
        await this.#options.clock.sleep(0 as Ms, this.#closed.signal);
      } catch (cause) {
        if (this.#closed.signal.aborted) break;
        skipped.add(
          failureOf(cause) ??
            failure("loop.recall", "an agent threw while it took in stored steps, so it goes on without the rest", {
              cause,
            }),
        );
        break;
      }
    }
    job.isUnderWay = false;
    return taken;
  }
}
