/**
 * What of the plane itself survives a restart: the world's time, allocations, accounts, and what people have set.
 * Owns: the file, its check, and where the default folder is. Not here: the agents' own state (control/loop's StateStore,
 * agent-life.ts), what was measured and told (history.ts).
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeFileAtomically } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { FaultName, ModeName } from "../../server/index.ts";

// Written out, because the server's own lists would bring the whole server into the plane's thread.
const modes = ["recommend", "canary", "act"] as const satisfies readonly ModeName[];
const faults = [
  "telemetry-lost",
  "node-lost",
  "load-surge",
  "learner-crash",
  "slow-pods",
] as const satisfies readonly FaultName[];

const number = z.number();
const allocation = z.strictObject({ replicas: number, cpu: number, memory: number });
const account = z.strictObject({
  steps: number,
  violations: number,
  cost: number,
  cpuUsed: number,
  cpuGranted: number,
  memoryUsed: number,
  memoryGranted: number,
});
const slo = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("latency"), percentile: number, target: number }),
  z.strictObject({ kind: z.literal("throughput"), target: number }),
  z.strictObject({ kind: z.literal("none") }),
]);
const wishes = z.strictObject({ mode: z.enum(modes), isPaused: z.boolean(), revision: number });
const savedPlane = z.strictObject({
  schema: z.literal(2),
  seed: number,
  startedAt: number,
  at: number,
  workloads: z.record(
    z.string(),
    z.strictObject({
      slo,
      revision: number,
      have: allocation,
      twinHave: allocation,
      account,
      twinAccount: account,
      troubleSince: number.nullable(),
    }),
  ),
  agents: z.record(z.string(), wishes),
  faults: z.array(z.strictObject({ workload: z.string(), fault: z.enum(faults), until: number })),
});

export type SavedPlane = z.output<typeof savedPlane>;

const fileIn = (folder: string) => join(folder, "plane.json");

/** null where the folder has none yet. What is there and can not be used is refused, never overwritten. */
export function readPlane(folder: string): Result<SavedPlane | null> {
  const file = fileIn(folder);
  if (!existsSync(file)) return ok(null);
  try {
    const found = savedPlane.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (found.success) return ok(found.data);
    const [issue] = found.error.issues;
    return refused(file, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "it has another shape"}`);
  } catch (cause) {
    return refused(file, cause instanceof Error ? cause.message : String(cause));
  }
}

function refused(file: string, why: string) {
  return err(
    failure(
      "plane.saved-state",
      `${file} can not be used (${why}); move it out of the way to begin again, or give another folder with --data`,
    ),
  );
}

/** On disk when it returns. */
export function writePlane(folder: string, plane: SavedPlane): Result<void> {
  try {
    writeFileAtomically(fileIn(folder), JSON.stringify(plane));
    return ok(undefined);
  } catch (cause) {
    return unwritable(folder, cause);
  }
}

/** Whether the folder can be written at all, before anything begins. */
export function prepareFolder(folder: string): Result<void> {
  try {
    makeFolder(folder);
    writeFileAtomically(join(folder, ".writable"), "");
    return ok(undefined);
  } catch (cause) {
    return unwritable(folder, cause);
  }
}

/**
 * One level after the other. With `recursive`, Node never returns where a system says that the folder above is missing
 * although it is there, as /proc does.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder);
  } catch (cause) {
    // Somebody else may have been faster.
    if (!existsSync(folder)) throw cause;
  }
}

function unwritable(folder: string, cause: unknown) {
  const words = cause instanceof Error ? cause.message : String(cause);
  return err(
    failure(
      "plane.data-unwritable",
      `the folder ${folder} can not be written (${words}); give another one with --data, or --data :memory: to keep nothing`,
      { cause },
    ),
  );
}

/** Where the user's programs keep what they need to go on (XDG base directories). */
export function defaultFolder(env: Readonly<Record<string, string | undefined>>): string {
  const base = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(base, "coxswain");
}
