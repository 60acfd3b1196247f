import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDuckdbStore } from "../../src/adapters/store/index.ts";
import { type Rng, seededRng } from "../../src/base/index.ts";
import type { TrajectoryRecord, TrajectoryStore } from "../../src/learn/trajectory/index.ts";
import { fingerprint } from "../conformance/trajectory-model.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { compileSources } from "./compile-sources.ts";
import { plannedBatch, plannedCompletions } from "./planned-batches.ts";

/** A few in `npm test`; `npm run test:crash` asks for a hundred. */
const KILLS = Number(process.env.COXSWAIN_CRASH_KILLS ?? 12);

let compiled = "";
const folder = temporaryFolder("crash");
beforeAll(async () => {
  compiled = await compileSources(["src/base", "src/learn/trajectory", "src/adapters/store", "test/crash"]);
});
afterAll(async () => {
  await rm(compiled, { recursive: true, force: true });
});

interface Acknowledged {
  /** "round batch" of what the writer printed. */
  readonly appended: Set<string>;
  readonly completed: Set<string>;
}

/** Runs one writer until it is killed; returns the lines it printed whole. */
function runAndKill(
  path: string,
  { round, retry, rng }: { round: number; retry: string; rng: Rng },
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    // Counted in acknowledgements, not in time, so that a busy machine kills as deep into the work as an idle one.
    // Half of the writers kill themselves within their last acknowledgement; the others are killed from outside, a
    // moment later, so that the kill falls anywhere in what comes next. Zero kills before the first acknowledgement.
    const deadline = rng.int(10);
    const isSharp = deadline > 0 && rng.int(2) === 0;
    const writer = join(compiled, "test/crash/store-writer.js");
    const args = [writer, path, String(round), retry, isSharp ? String(deadline) : "none"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let errors = "";
    let isArmed = isSharp;
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString();
      if (isArmed || out.split("\n").length - 2 < deadline) return;
      isArmed = true;
      setTimeout(() => child.kill("SIGKILL"), rng.int(12));
    });
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    child.on("close", (_code, signal) => {
      if (signal === "SIGKILL") resolve(out.split("\n").slice(0, -1));
      else reject(new Error(`the writer ended by itself:\n${errors}`));
    });
  });
}

/** The last acknowledgement of a process is followed by one call that may or may not have happened. */
function inFlight(lines: readonly string[], round: number): string {
  const appended = lines.filter((line) => line.startsWith(`append ${round} `)).length;
  return `${round}:${appended}`;
}

async function recordsOf(store: TrajectoryStore, round: number, batch: number): Promise<TrajectoryRecord[]> {
  const episodes = new Set(plannedBatch(round, batch).map((record) => record.episode));
  const all: TrajectoryRecord[] = [];
  for (const id of episodes) all.push(...(await store.episode(id)));
  return all;
}

function planned(round: number, batch: number, isCompleted: boolean): string[] {
  const rewards = new Map(plannedCompletions(round, batch).map((c) => [`${c.episode} ${c.step}`, c.reward]));
  return plannedBatch(round, batch)
    .map((r) => fingerprint(isCompleted ? { ...r, reward: rewards.get(`${r.episode} ${r.step}`) ?? null } : r))
    .sort();
}

/** Every acknowledged batch is there once and whole; the one in flight is there whole or not at all. */
async function verifyRound(store: TrajectoryStore, round: number, acknowledged: Acknowledged): Promise<void> {
  for (let batch = 0; ; batch++) {
    const found = (await recordsOf(store, round, batch)).map((r) => ({
      text: fingerprint(r),
      isCompleted: r.reward !== null,
    }));
    const isAcknowledged = acknowledged.appended.has(`${round} ${batch}`);
    if (!isAcknowledged && found.length === 0) return;
    const completed = found.filter((f) => f.isCompleted).length;
    expect(completed === 0 || completed === found.length, `completions of ${round}/${batch} are torn`).toBe(true);
    if (acknowledged.completed.has(`${round} ${batch}`)) expect(completed).toBe(found.length);
    expect(found.map((f) => f.text).sort()).toEqual(planned(round, batch, completed > 0));
    if (!isAcknowledged) return;
  }
}

/** The batch that an earlier process died over and this one sent again: once, not twice. */
async function verifyRetry(store: TrajectoryStore, retry: string, { appended }: Acknowledged): Promise<void> {
  const [round = 0, batch = 0] = retry.split(":").map(Number);
  if (!appended.has(`${round} ${batch}`)) return;
  const found = await recordsOf(store, round, batch);
  expect(found.map((r) => fingerprint({ ...r, reward: null })).sort()).toEqual(planned(round, batch, false));
}

async function lane(name: string, kills: number, rng: Rng): Promise<{ batches: number; inTime: number }> {
  const path = join(folder, `${name}.duckdb`);
  const acknowledged: Acknowledged = { appended: new Set(), completed: new Set() };
  let retry = "";
  for (let round = 0; round < kills; round++) {
    const lines = await runAndKill(path, { round, retry, rng });
    for (const line of lines) {
      const [what, ...where] = line.split(" ");
      if (what === "append") acknowledged.appended.add(where.join(" "));
      if (what === "complete") acknowledged.completed.add(where.join(" "));
    }
    const store = await openDuckdbStore({ path, checkpointMiB: 1 });
    try {
      await verifyRound(store, round, acknowledged);
      if (round > 0) await verifyRetry(store, retry, acknowledged);
      if (round === kills - 1) await verifyEverything(store, acknowledged);
    } finally {
      await store.close();
    }
    retry = inFlight(lines, round);
  }
  return { batches: acknowledged.appended.size, inTime: acknowledged.completed.size };
}

async function verifyEverything(store: TrajectoryStore, acknowledged: Acknowledged): Promise<void> {
  const seen = new Set<string>();
  let records = 0;
  for await (const batch of store.scan()) {
    for (const { episode, step } of batch) seen.add(`${episode} ${step}`);
    records += batch.length;
  }
  expect(seen.size).toBe(records);
  for (const where of acknowledged.appended) {
    const [round = 0, batch = 0] = where.split(" ").map(Number);
    for (const { episode, step } of plannedBatch(round, batch)) {
      if (!seen.has(`${episode} ${step}`)) throw new Error(`acknowledged step ${step} of ${episode} is lost`);
    }
  }
}

describe("a writer killed with SIGKILL at random points", () => {
  test(`loses no acknowledged record, tears no batch and stores nothing twice in ${KILLS} kills`, {
    timeout: 540_000,
  }, async () => {
    // Two stores side by side, because this machine and CI have two cores.
    const rng = seededRng(20_261_115);
    const lanes = await Promise.all([lane("a", KILLS / 2, rng.fork("a")), lane("b", KILLS / 2, rng.fork("b"))]);
    // Kills that all came too early would prove nothing.
    expect(lanes.reduce((sum, { batches }) => sum + batches, 0)).toBeGreaterThan(KILLS);
    expect(lanes.reduce((sum, { inTime }) => sum + inTime, 0)).toBeGreaterThan(KILLS / 4);
  });
});
