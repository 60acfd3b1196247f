/**
 * What was told, on disk, so that charts and lists are not empty after a restart.
 * Owns: two files that take turns (the newest lines, and those before them), and how much is read back: about as much as
 * the server's read model shows. Not here: what a line looks like (history-lines.ts), what the plane goes on from
 * (saved-plane-file.ts, the agents' own states).
 *
 * Lines are written before they are told and not forced to the disk: they survive the end of the process, whatever ends
 * it, and of a power cut they may lose the last moments. Each has a checksum: one that was being written is taken off, and
 * one that is damaged is passed over and counted.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, type SealedLines, sealedLinesIn } from "../../adapters/runtime/index.ts";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Account, PlaneUpdate } from "../../contract/index.ts";
import type { History } from "../../plane/index.ts";
import type { Told } from "./history-lines.ts";
import { LineWriter, toldIn } from "./history-lines.ts";

export interface HistoryLimits {
  /** Steps of workloads in one of the two files. */
  readonly samplesPerFile: number;
  readonly decisionsPerWorkload: number;
  readonly events: number;
}

const defaults: HistoryLimits = { samplesPerFile: 16_384, decisionsPerWorkload: 512, events: 1_000 };

export function openHistory(folder: string, limits: Partial<HistoryLimits> = {}): Result<History> {
  const home = join(folder, "history");
  try {
    makeFolder(home);
    return ok(new HistoryFiles(home, { ...defaults, ...limits }));
  } catch (cause) {
    return unwritable(home, cause);
  }
}

class HistoryFiles implements History {
  readonly damaged: number;
  readonly newestAt: number;
  readonly accounts: History["accounts"];
  readonly #home: string;
  readonly #limits: HistoryLimits;
  #past: readonly PlaneUpdate[];
  #file: number;
  #samples: number;
  #writer = new LineWriter();

  constructor(home: string, limits: HistoryLimits) {
    this.#home = home;
    this.#limits = limits;
    const file = join(home, "newest.jsonl");
    const [before, current] = [linesOf(join(home, "before.jsonl")), linesOf(file)];
    this.damaged = before.damaged + current.damaged;
    const newest = toldIn(current.lines);
    const all = [...toldIn(before.lines), ...newest];
    this.#past = newestOf(all, limits);
    this.newestAt = all.reduce((at, update) => Math.max(at, timeOf(update)), Number.NEGATIVE_INFINITY);
    this.accounts = accountsIn(all);
    this.#samples = newest.reduce((sum, update) => sum + samplesIn(update), 0);
    this.#file = openSync(file, "a");
    // What the last process did not finish.
    ftruncateSync(this.#file, current.wholeUntil);
  }

  takePast(): readonly PlaneUpdate[] {
    const past = this.#past;
    this.#past = [];
    return past;
  }

  stepsAfter(workload: string, after: number): ReturnType<History["stepsAfter"]> {
    return this.#past.flatMap((update) =>
      update.kind !== "samples" || update.at <= after
        ? []
        : update.samples.flatMap(({ workload: id, sample: { at, preservation } }) =>
            id === workload ? [{ at, preservation }] : [],
          ),
    );
  }

  append(updates: readonly PlaneUpdate[]): Result<void> {
    try {
      if (this.#samples >= this.#limits.samplesPerFile) this.#turn();
      const lines = this.#writer.lines(updates);
      if (lines !== "") writeSync(this.#file, lines);
      for (const update of updates) this.#samples += samplesIn(update);
      return ok(undefined);
    } catch (cause) {
      return unwritable(this.#home, cause);
    }
  }

  #turn(): void {
    closeSync(this.#file);
    renameSync(join(this.#home, "newest.jsonl"), join(this.#home, "before.jsonl"));
    this.#file = openSync(join(this.#home, "newest.jsonl"), "a");
    this.#samples = 0;
    this.#writer = new LineWriter();
  }

  close(): void {
    closeSync(this.#file);
  }
}

const timeOf = (update: Told): number =>
  update.kind === "samples" ? update.at : update.kind === "decision" ? update.decision.at : update.event.at;

const samplesIn = (update: PlaneUpdate): number => (update.kind === "samples" ? update.samples.length : 0);

function accountsIn(told: readonly Told[]): History["accounts"] {
  const accounts = new Map<string, { readonly own: Account; readonly twin: Account | null }>();
  for (const update of told)
    if (update.kind === "samples")
      for (const { workload, account, twinAccount } of update.samples)
        accounts.set(workload, { own: account, twin: twinAccount });
  return accounts;
}

function newestOf(told: readonly Told[], { samplesPerFile, decisionsPerWorkload, events }: HistoryLimits): Told[] {
  const kept: Told[] = [];
  const decisions = new Map<string, number>();
  let sampled = 0;
  let happened = 0;
  for (const update of [...told].reverse()) {
    if (update.kind === "samples") {
      sampled += update.samples.length;
      if (sampled > 2 * samplesPerFile) continue;
    } else if (update.kind === "event") {
      happened += 1;
      if (happened > events) continue;
    } else {
      const { workload } = update.decision;
      const made = (decisions.get(workload) ?? 0) + 1;
      decisions.set(workload, made);
      if (made > decisionsPerWorkload) continue;
    }
    kept.push(update);
  }
  return kept.reverse();
}

function linesOf(file: string): SealedLines {
  return sealedLinesIn(existsSync(file) ? readFileSync(file) : Buffer.alloc(0));
}

function unwritable(home: string, cause: unknown) {
  const words = cause instanceof Error ? cause.message : String(cause);
  return err(
    failure(
      "plane.history",
      `what was measured cannot be written to ${home} (${words}); make room there, or give another folder with --data`,
      { cause },
    ),
  );
}
