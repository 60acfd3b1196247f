/**
 * The plane of the services: one agent for each, over the simulated application, from a folder or in memory.
 * Owns: opening its parts. Not here: what a plane does with them (plane), the world (services-world.ts), the agents' parts
 * (service-targets.ts), pace (mitigator.ts).
 */
import { join } from "node:path";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { stateFiles } from "../../../adapters/runtime/index.ts";
import { memoryStore, openDuckdbStore } from "../../../adapters/store/index.ts";
import type { Ms, Result } from "../../../base/index.ts";
import { ok, seconds } from "../../../base/index.ts";
import type { ModeName } from "../../../contract/index.ts";
import type { Kernels } from "../../../learn/tensor/index.ts";
import { memoryStates, Plane, type PlaneParts } from "../../../plane/index.ts";
import type { AgentTrainer } from "../../agents/agent-trainer.ts";
import { prepareFolder } from "../data-folder.ts";
import { noPast, pastIn } from "../kept-past.ts";
import { serviceTargets } from "./service-targets.ts";
import type { ServicesWorld } from "./services-world.ts";
import type { SimulatedApplication } from "./simulated-application.ts";

export interface ServicesPlaneOptions {
  /** null: nothing is kept. */
  readonly folder: string | null;
  readonly simulated: SimulatedApplication;
  readonly world: ServicesWorld;
  readonly kernels: Kernels;
  /** What all agents begin with. */
  readonly policy: Uint8Array | undefined;
  readonly mode: ModeName;
  readonly seed: number;
  /** Closed with the plane. */
  readonly training: AgentTrainer;
}

export interface OpenServicesPlane {
  readonly plane: Plane;
  close(): Promise<Result<void>>;
}

const CONTROL_STEP: Ms = seconds(1);
const MOST_RECORDS = { memory: 50_000, folder: 500_000 };

export async function openServicesPlane(options: ServicesPlaneOptions): Promise<Result<OpenServicesPlane>> {
  const { simulated, world, kernels, policy, mode, seed, training } = options;
  const kept = options.folder === null ? ok(inMemory()) : await inFolder(join(options.folder, "services"));
  if (!kept.ok) {
    await training.close();
    return kept;
  }
  const plane = new Plane({
    ...kept.value,
    seed,
    world: world.asWorld(),
    targets: serviceTargets({
      application: simulated.application.name,
      port: simulated.port,
      kernels,
      policy,
      mode,
      seed,
    }),
    controlStep: CONTROL_STEP,
    // Its time is the wall's.
    speed: 1,
    twinStore: memoryStore(),
    trainer: training.trainer,
    isLockstep: false,
    idle: () => Promise.resolve(),
    settle: () => nextLoopTurn(),
  });
  const begun = await plane.begin();
  if (!begun.ok) {
    await training.close();
    return begun;
  }
  return ok({
    plane,
    async close() {
      const saved = await plane.close();
      await training.close();
      return saved;
    },
  });
}

type Kept = Pick<PlaneParts, "saved" | "saves" | "history" | "store" | "states" | "twinStates" | "mostRecords">;

const inMemory = (): Kept => ({
  ...noPast,
  store: memoryStore(),
  states: memoryStates(),
  twinStates: memoryStates(),
  mostRecords: MOST_RECORDS.memory,
});

/** The application itself begins anew with every start: limits are those that it is deployed with, and agents go on. */
async function inFolder(folder: string): Promise<Result<Kept>> {
  const prepared = prepareFolder(folder);
  if (!prepared.ok) return prepared;
  const past = pastIn(folder);
  if (!past.ok) return past;
  return ok({
    ...past.value,
    store: await openDuckdbStore({ path: join(folder, "trajectories.duckdb") }),
    states: stateFiles({ folder: join(folder, "agents") }),
    twinStates: stateFiles({ folder: join(folder, "twin") }),
    mostRecords: MOST_RECORDS.folder,
  });
}
