/**
 * The newest steps of an agent from the trajectory store, in the order they were taken.
 * Owns: which episodes are read, and that what cannot be read or learned from costs only itself.
 * Not here: when this is done and for how long (recall-queue.ts), what the agent does with them.
 */
import type { AgentId, Failure, Result } from "../../base/index.ts";
import type { TrajectoryRecord, TrajectoryStore, Transition } from "../../learn/trajectory/index.ts";
import { problemInRecords, transitionOf } from "../../learn/trajectory/index.ts";

/** What could not be used: the first failure of each kind, and how many episodes or steps it cost. */
export interface Skipped {
  readonly failure: Failure;
  readonly count: number;
}

export class SkippedSteps {
  readonly #byCode = new Map<string, Skipped>();

  add(failure: Failure): void {
    const known = this.#byCode.get(failure.code);
    this.#byCode.set(failure.code, { failure: known?.failure ?? failure, count: (known?.count ?? 0) + 1 });
  }

  get all(): readonly Skipped[] {
    return [...this.#byCode.values()];
  }
}

export interface StoredStepsQuery {
  readonly store: Pick<TrajectoryStore, "recentEpisodes" | "episode">;
  readonly agent: AgentId;
  readonly most: number;
  /** Asks the store within what is left of the time. */
  ask<T>(work: () => Promise<T>): Promise<Result<T>>;
  /** False when nobody wants the steps any more. */
  isWanted(): boolean;
}

/** More than any replay holds in episodes of the usual length; a store full of tiny ones is not listed to its end. */
const MOST_EPISODES = 10_000;

/** Failures of one episode; after any other the store is not asked again. */
const OF_ONE_EPISODE: ReadonlySet<string> = new Set([
  "store.corrupt",
  "store.schema",
  "trajectory.malformed",
  "trajectory.invalid",
  "id.invalid",
]);

/**
 * Oldest first, at most as many as asked for. They are read from the newest episode back, so that what there is no time
 * for is the oldest. `down` is why the store could not be asked to the end.
 */
export async function newestStoredSteps(
  { store, agent, most, ask, isWanted }: StoredStepsQuery,
  skipped: SkippedSteps,
): Promise<{ readonly steps: readonly Transition[]; readonly down?: Failure }> {
  const listed = await ask(() => store.recentEpisodes(agent, Math.min(most, MOST_EPISODES)));
  if (!listed.ok) return { steps: [], down: listed.failure };
  const newestFirst: (readonly Transition[])[] = [];
  let down: Failure | undefined;
  for (let i = 0, count = 0; i < listed.value.length && count < most && isWanted(); i++) {
    const episode = listed.value[i];
    if (episode === undefined) continue;
    const read = await ask(() => store.episode(episode));
    if (read.ok) {
      const steps = transitionsIn(read.value, skipped);
      newestFirst.push(steps);
      count += steps.length;
    } else if (OF_ONE_EPISODE.has(read.failure.code)) skipped.add(read.failure);
    else {
      down = read.failure;
      break;
    }
  }
  const steps = newestFirst.reverse().flat().slice(-most);
  return down === undefined ? { steps } : { steps, down };
}

/** A record that makes no sense takes the step before it along, which has nothing that followed it. */
function transitionsIn(records: readonly TrajectoryRecord[], skipped: SkippedSteps): readonly Transition[] {
  const usable = new Map<number, TrajectoryRecord>();
  for (const record of records) {
    const problem = problemInRecords([record]);
    if (problem === undefined) usable.set(record.step, record);
    else skipped.add(problem);
  }
  return [...usable.values()].flatMap((record) => transitionOf(record, usable.get(record.step + 1)) ?? []);
}
