/**
 * What `up` runs: the one list of it, from a folder or in memory. START READING HERE.
 * Owns: which workloads there are, the world they run in, their targets, and the stores behind them.
 * Not here: what a plane does with them (plane), threads and pace (plane-worker.ts), each part (the files it names).
 */
import { join } from "node:path";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import type { Allocation, Setting } from "../../act/index.ts";
import { stateFiles } from "../../adapters/runtime/index.ts";
import { memoryStore } from "../../adapters/store/index.ts";
import type { AgentId, Failure, Ms, Result, WorkloadId } from "../../base/index.ts";
import { CodedError, err, failure, milliseconds, ok, parseAgentId, seconds, unwrap } from "../../base/index.ts";
import type { SavedPlane } from "../../contract/schemas/index.ts";
import type { StateStore, Trainer } from "../../control/loop/index.ts";
import type { FunctionSetting } from "../../control/tasks/functions/index.ts";
import type { SharedModel } from "../../learn/meta/index.ts";
import type { Kernels } from "../../learn/tensor/index.ts";
import type { OpenedWorld, PlaneParts } from "../../plane/index.ts";
import { inForce, memoryStates, newestSave } from "../../plane/index.ts";
import { readSharedModel } from "../agents/shared-model-file.ts";
import type { Target as UserTarget } from "../config/index.ts";
import { findWorld } from "../modules/worlds.ts";
import { openStore, type StoreChoice } from "../store/open-store.ts";
import { demoWorkloads } from "./demo-workloads.ts";
import { functionTarget } from "./functions/functions-targets.ts";
import { demoFunctions, FUNCTIONS_STEP, openFunctionsWorld } from "./functions/functions-world.ts";
import { noPast, pastIn } from "./kept-past.ts";
import type { TwinKind } from "./pod-rules.ts";
import { twinStart } from "./pod-rules.ts";
import { podsTarget } from "./pods-target.ts";
import type { SimulatedWorkload } from "./simulated-workload.ts";
import { openSimulatedWorld } from "./simulated-world.ts";
import { userWorkloads } from "./user-workloads.ts";

export interface OpenPartsOptions {
  readonly seed: number;
  /** null: as many as there were before, or the usual four. */
  readonly workloads: number | null;
  /** Of a user's module; without it the simulated cluster. */
  readonly world?: string;
  /** Functions on a simulated serverless platform, or pods of a simulated cluster unless said. */
  readonly demo?: DemoName | undefined;
  /** Of functions: their policies go on learning in simulators fitted to them. */
  readonly bootstrap?: boolean;
  /** Of a user's file; without any the demonstration's own. */
  readonly targets?: readonly UserTarget[];
  /** Of the simulated cluster; null: as before, or the tuned rules. */
  readonly twin?: TwinKind | null;
  /** null: nothing is kept. */
  readonly folder: string | null;
  readonly speed: number;
  /** Of a world that has no past. */
  readonly start: Ms;
  readonly kernels: Kernels;
  /** The model that agents begin with, or why it cannot be used; undefined where none was named. */
  readonly shared?: Result<SharedModel> | undefined;
  readonly trainer: Trainer;
  /** The embedded one unless said. */
  readonly store?: StoreChoice;
  readonly isLockstep: boolean;
}

export type DemoName = "pods" | "functions";

const USUAL_WORKLOADS = 4;
const USUAL_STEP: Ms = seconds(15);
const EMBEDDED: StoreChoice = { kind: "embedded" };

/** What is kept, and what of it was there before. */
type Kept = Pick<PlaneParts, "saved" | "saves" | "history" | "store" | "states" | "twinStates" | "mostRecords">;

/** The folder is there and can be written: whoever starts the threads sees to that. */
export async function openParts(options: OpenPartsOptions): Promise<Result<PlaneParts>> {
  const { folder, speed, isLockstep } = options;
  const opened = await openKept(folder, options.store ?? EMBEDDED);
  if (!opened.ok) return opened;
  const kept = opened.value;
  const { saved } = kept;
  // The seed makes the workloads, so a world that goes on keeps its own.
  const seed = saved?.seed ?? options.seed;
  const start = saved === null ? options.start : await continuing(saved, kept);
  const before = options.world ? null : twinBefore(saved);
  if (options.twin && before !== null && options.twin !== before) return err(otherTwin(before));
  const { trainer, idle } = countedTrainer(options.trainer);
  const { world, targets, controlStep } = options.world
    ? await ownWorld(options.world, { seed, start, saved, kernels: options.kernels })
    : options.demo === "functions"
      ? simulatedFunctions({ seed, start, saved, kernels: options.kernels, bootstrap: options.bootstrap ?? false })
      : simulatedCluster(options, { seed, start, saved, twin: options.twin ?? before ?? "tuned" });
  return ok({
    ...kept,
    world,
    targets,
    controlStep,
    seed,
    speed: world.clock.kind === "wall" ? 1 : speed,
    twinStore: memoryStore(),
    trainer,
    isLockstep,
    idle,
    settle: () => nextLoopTurn(),
  });
}

/** A world that a user's module brings, with tasks of its own. */
async function ownWorld(
  name: string,
  { seed, start, saved, kernels }: Omit<Beginning, "twin"> & Pick<OpenPartsOptions, "kernels">,
): Promise<OpenedWorld> {
  const had = (workload: WorkloadId): Setting | null => (saved?.workloads[workload]?.have ?? null) as Setting | null;
  const opened = await findWorld(name).open({ seed, start, kernels, had });
  const wrong = opened.targets.find(({ id, agent }) => agent !== agentOf(id));
  if (wrong !== undefined) {
    const text = `the agent of '${wrong.id}' in the world '${name}' is called '${wrong.agent}'; call it '${agentOf(wrong.id)}'`;
    throw new CodedError(failure("module.agent-name", text));
  }
  // A module may be plain JavaScript, which nobody has checked.
  const unnamed = opened.targets.find(({ view }) => typeof view.name !== "string" || view.name === "");
  if (unnamed !== undefined) {
    const text = `the view of '${unnamed.id}' in the world '${name}' does not name its task; give it a name`;
    throw new CodedError(failure("module.task-name", text));
  }
  return opened;
}

interface Beginning {
  readonly seed: number;
  readonly start: Ms;
  readonly saved: SavedPlane | null;
  readonly twin: TwinKind;
}

/** A comparison goes on with whom it began: sums of two different twins would say nothing. */
function twinBefore(saved: SavedPlane | null): TwinKind | null {
  const [first] = Object.values(saved?.workloads ?? {});
  return first === undefined ? null : first.twinRules === "hpa" ? "typical" : "tuned";
}

const otherTwin = (before: TwinKind): Failure =>
  failure(
    "plane.other-twin",
    `the data folder compares with ${before} rules since it began; say '--twin ${before}', or give another folder with --data`,
  );

function simulatedCluster(options: OpenPartsOptions, beginning: Beginning): OpenedWorld {
  const workloads = workloadsOf(options, beginning.seed, beginning.saved);
  return {
    ...managedBy(workloads, { ...options, ...beginning }),
    controlStep: options.targets?.[0]?.profile.controlStep ?? USUAL_STEP,
  };
}

/** Twelve functions on four invokers, some of which come and go, and the same under ENSURE alone. */
function simulatedFunctions({
  seed,
  start,
  saved,
  kernels,
  bootstrap,
}: Omit<Beginning, "twin"> & Pick<OpenPartsOptions, "kernels"> & { readonly bootstrap: boolean }): OpenedWorld {
  const placed = demoFunctions().map((demo) => {
    const before = saved?.workloads[demo.id];
    return {
      demo,
      have: (before?.have ?? demo.initial) as FunctionSetting,
      twinHave: (before?.twinHave ?? demo.initial) as FunctionSetting,
    };
  });
  return {
    world: openFunctionsWorld(placed, { seed, start }),
    targets: placed.map((one, slot) =>
      functionTarget({ ...one, agent: agentOf(one.demo.id), kernels, seed: seed + 101 * (slot + 1), bootstrap }),
    ),
    controlStep: FUNCTIONS_STEP,
  };
}

function workloadsOf(
  { targets = [], workloads, shared }: Pick<OpenPartsOptions, "targets" | "workloads" | "shared">,
  seed: number,
  saved: SavedPlane | null,
): readonly SimulatedWorkload[] {
  if (targets.length > 0) return userWorkloads(targets, seed);
  const before = Object.keys(saved?.workloads ?? {}).length;
  return demoWorkloads(seed, workloads ?? (before || USUAL_WORKLOADS), shared === undefined ? "cost" : "paper");
}

type ManagedOptions = Beginning & Pick<OpenPartsOptions, "kernels" | "shared">;

/** The world, and one target for each workload in it. */
function managedBy(
  workloads: readonly SimulatedWorkload[],
  { seed, start, saved, kernels, shared, twin }: ManagedOptions,
): Pick<PlaneParts, "world" | "targets"> {
  const startedAt = milliseconds(saved?.startedAt ?? start);
  const placed = workloads.map((workload) => {
    const { id, slo, initial, life } = workload;
    const agent = agentOf(id);
    const before = saved?.workloads[id];
    return {
      workload,
      agent,
      slo: inForce({ id, agent, slo, mode: life.mode }, saved).slo,
      have: (before?.have ?? initial) as Allocation,
      twinHave: (before?.twinHave ?? twinStart(workload, twin)) as Allocation,
    };
  });
  return {
    world: openSimulatedWorld(placed, { seed, start, startedAt, faults: saved?.faults ?? [] }),
    targets: placed.map(({ workload, agent, have, twinHave }, slot) => {
      const { sharedModel, learner } = workload.life;
      const usual = learner === undefined ? shared : undefined;
      return podsTarget({
        workload,
        agent,
        have,
        twinHave,
        twin,
        kernels,
        shared: sharedModel === undefined ? usual : readSharedModel(sharedModel, kernels),
        seed: seed + 101 * (slot + 1),
        startedAt,
      });
    }),
  };
}

const agentOf = (workload: string): AgentId => unwrap(parseAgentId(`${workload}-agent`));

async function openKept(folder: string | null, choice: StoreChoice): Promise<Result<Kept>> {
  const past = folder === null ? ok(noPast) : pastIn(folder);
  if (!past.ok) return past;
  const opened = await openStore(choice, folder);
  if (!opened.ok) return opened;
  const { store, mostRecords } = opened.value;
  const statesIn = (name: string): StateStore =>
    folder === null ? memoryStates() : stateFiles({ folder: join(folder, name) });
  return ok({ ...past.value, store, mostRecords, states: statesIn("agents"), twinStates: statesIn("twin") });
}

/**
 * A moment later than all that was saved or told: time does not go back, and no two lives begin at the same moment, so no
 * two name their episodes alike.
 */
async function continuing(saved: SavedPlane, { states, history }: Pick<Kept, "states" | "history">): Promise<Ms> {
  const agents = Object.keys(saved.workloads).map((id) => agentOf(id));
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
