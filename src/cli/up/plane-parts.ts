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
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import type { DemoWorkload } from "./demo-workloads.ts";
import { demoWorkloads } from "./demo-workloads.ts";
import type { History } from "./history.ts";
import { emptyHistory, openHistory } from "./history.ts";
import type { SavedPlane } from "./saved-plane.ts";
import { readPlane } from "./saved-plane.ts";
import { memoryStates, newestSave } from "./timed-states.ts";

export interface PlaneParts {
  readonly seed: number;
  readonly workloads: readonly DemoWorkload[];
  /** null: nothing is kept. */
  readonly folder: string | null;
  readonly saved: SavedPlane | null;
  readonly history: History;
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
  /** The model that agents begin with, or why it can not be used; undefined where none was named. */
  readonly shared: Result<SharedModel> | undefined;
  readonly trainer: Trainer;
  /** The world waits for training, so that the same seed gives the same updates. */
  readonly isLockstep: boolean;
  /** Resolves when no training is under way. */
  idle(): Promise<void>;
}

export interface OpenPartsOptions
  extends Pick<PlaneParts, "folder" | "speed" | "kernels" | "isLockstep">,
    Partial<Pick<PlaneParts, "shared">> {
  readonly seed: number;
  /** null: as many as there were before, or the usual four. */
  readonly workloads: number | null;
  readonly trainer: Trainer;
  /** Of a world that has no past. */
  readonly start: Ms;
}

const USUAL_WORKLOADS = 4;
const MOST_RECORDS = { memory: 50_000, folder: 500_000 };

/** The folder is there and can be written: whoever starts the threads sees to that. */
export async function openParts(options: OpenPartsOptions): Promise<Result<PlaneParts>> {
  const { folder, speed, kernels, isLockstep, shared } = options;
  const { trainer, idle } = countedTrainer(options.trainer);
  const common = { folder, speed, kernels, isLockstep, shared, trainer, idle, twinStore: memoryStore() };
  if (folder === null) {
    const { seed, start } = options;
    const workloads = demoWorkloads(seed, options.workloads ?? USUAL_WORKLOADS);
    const memory = { store: memoryStore(), states: memoryStates(), twinStates: memoryStates(), history: emptyHistory };
    return ok({ ...common, ...memory, seed, workloads, start, saved: null, mostRecords: MOST_RECORDS.memory });
  }
  const read = readPlane(folder);
  if (!read.ok) return read;
  const saved = read.value;
  const opened = openHistory(folder);
  if (!opened.ok) return opened;
  const history = opened.value;
  const states = stateFiles({ folder: join(folder, "agents") });
  const twinStates = stateFiles({ folder: join(folder, "twin") });
  // The seed makes the workloads, so a world that goes on keeps its own.
  const seed = saved?.seed ?? options.seed;
  const before = Object.keys(saved?.workloads ?? {}).length;
  const workloads = demoWorkloads(seed, options.workloads ?? (before || USUAL_WORKLOADS));
  const start = saved === null ? options.start : await continuing(saved, { states, workloads, history });
  try {
    const store = await openDuckdbStore({ path: join(folder, "trajectories.duckdb") });
    const mostRecords = MOST_RECORDS.folder;
    return ok({ ...common, store, states, twinStates, history, seed, workloads, start, saved, mostRecords });
  } catch (thrown) {
    const known = failureOf(thrown);
    if (known) return err(known);
    throw thrown;
  }
}

/**
 * A moment later than all that was saved or told: time does not go back, and no two lives begin at the same moment, so no
 * two name their episodes alike.
 */
async function continuing(
  saved: SavedPlane,
  { states, workloads, history }: Pick<PlaneParts, "states" | "workloads" | "history">,
): Promise<Ms> {
  const agents = workloads.map(({ id }) => unwrap(parseAgentId(`${id}-agent`)));
  return milliseconds(Math.max(saved.at, history.newestAt, await newestSave(states, agents)) + 1);
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
