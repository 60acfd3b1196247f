/**
 * What a plane is made of, and making it: stores, saved state, kernels, trainer.
 * Owns: opening them from a folder or in memory. Not here: what the plane does with them (plane.ts).
 */
import { join } from "node:path";
import { stateFiles } from "../../adapters/runtime/index.ts";
import { memoryStore, openDuckdbStore } from "../../adapters/store/index.ts";
import type { Ms, Result } from "../../base/index.ts";
import { err, failureOf, milliseconds, ok, parseAgentId, unwrap } from "../../base/index.ts";
import type { StateStore, Trainer } from "../../control/loop/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import { demoWorkloads } from "./demo-workloads.ts";
import type { SavedPlane } from "./saved-plane.ts";
import { prepareFolder, readPlane } from "./saved-plane.ts";
import { memoryStates, newestSave } from "./timed-states.ts";

export interface PlaneParts {
  readonly seed: number;
  /** null: nothing is kept. */
  readonly folder: string | null;
  readonly saved: SavedPlane | null;
  /** World time at which it begins, or goes on. */
  readonly start: Ms;
  /** Times the wall's; limits of calls follow it. */
  readonly speed: number;
  readonly store: TrajectoryStore;
  readonly twinStore: TrajectoryStore;
  readonly mostRecords: number;
  readonly states: StateStore;
  readonly twinStates: StateStore;
  readonly kernels: Kernels;
  readonly trainer: Trainer;
  /** The world waits for training, so that the same seed gives the same updates. */
  readonly isLockstep: boolean;
  /** Resolves when no training is under way. */
  idle(): Promise<void>;
}

export interface OpenPartsOptions extends Pick<PlaneParts, "folder" | "speed" | "kernels" | "isLockstep"> {
  readonly seed: number;
  readonly trainer: Trainer;
  /** Of a world that has no past. */
  readonly start: Ms;
}

const MOST_RECORDS = { memory: 50_000, folder: 500_000 };

export async function openParts(options: OpenPartsOptions): Promise<Result<PlaneParts>> {
  const { folder, speed, kernels, isLockstep } = options;
  const { trainer, idle } = countedTrainer(options.trainer);
  const common = { folder, speed, kernels, isLockstep, trainer, idle, twinStore: memoryStore() };
  if (folder === null) {
    const { seed, start } = options;
    const memory = { store: memoryStore(), states: memoryStates(), twinStates: memoryStates() };
    return ok({ ...common, ...memory, seed, start, saved: null, mostRecords: MOST_RECORDS.memory });
  }
  const prepared = prepareFolder(folder);
  if (!prepared.ok) return prepared;
  const saved = readPlane(folder);
  if (!saved.ok) return saved;
  const states = stateFiles({ folder: join(folder, "agents") });
  const twinStates = stateFiles({ folder: join(folder, "twin") });
  // The seed makes the workloads, so a world that goes on keeps its own.
  const seed = saved.value?.seed ?? options.seed;
  const start = saved.value === null ? options.start : await continuing(saved.value, states);
  try {
    const store = await openDuckdbStore({ path: join(folder, "trajectories.duckdb") });
    return ok({
      ...common,
      store,
      states,
      twinStates,
      seed,
      start,
      saved: saved.value,
      mostRecords: MOST_RECORDS.folder,
    });
  } catch (thrown) {
    const known = failureOf(thrown);
    if (known) return err(known);
    throw thrown;
  }
}

/** A moment later than all that was saved: no two lives begin at the same one, so no two name their episodes alike. */
async function continuing(saved: SavedPlane, states: StateStore): Promise<Ms> {
  const agents = demoWorkloads(saved.seed).map(({ id }) => unwrap(parseAgentId(`${id}-agent`)));
  return milliseconds(Math.max(saved.at, await newestSave(states, agents)) + 1);
}

function countedTrainer(inner: Trainer): { trainer: Trainer; idle(): Promise<void> } {
  const running = new Set<Promise<unknown>>();
  return {
    trainer: {
      slots: inner.slots,
      train: (job, signal) => {
        const round = inner.train(job, signal);
        running.add(round);
        return round.finally(() => running.delete(round));
      },
    },
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
