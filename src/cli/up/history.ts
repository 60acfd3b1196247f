/**
 * What was told, on disk, so that charts and lists are not empty after a restart.
 * Owns: two files that take turns (the newest lines, and those before them), what a line looks like, and how much is read
 * back: about as much as the server's read model shows. Not here: what the plane goes on from (saved-plane.ts, the agents'
 * own states).
 *
 * Lines are written before they are told and not forced to the disk: they survive the end of the process, whatever ends
 * it, and of a power cut they may lose the last moments. A line that is not whole is passed over.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Account, EventDocument, PlaneUpdate, Sample } from "../../server/index.ts";

export interface History {
  /** What was told before, oldest first; once, for it is large. */
  takePast(): readonly PlaneUpdate[];
  /** World time of the newest line; -Infinity where there is none. */
  readonly newestAt: number;
  /** Sums as they were when last told. */
  readonly accounts: ReadonlyMap<string, { readonly own: Account; readonly twin: Account | null }>;
  append(updates: readonly PlaneUpdate[]): Result<void>;
  close(): void;
}

export interface HistoryLimits {
  /** Steps of workloads in one of the two files. */
  readonly samplesPerFile: number;
  readonly decisionsPerWorkload: number;
  readonly events: number;
}

const defaults: HistoryLimits = { samplesPerFile: 16_384, decisionsPerWorkload: 512, events: 1_000 };

export const emptyHistory: History = {
  takePast: () => [],
  newestAt: Number.NEGATIVE_INFINITY,
  accounts: new Map(),
  append: () => ok(undefined),
  close: () => undefined,
};

export function openHistory(folder: string, limits: Partial<HistoryLimits> = {}): Result<History> {
  const home = join(folder, "history");
  try {
    mkdirSync(home, { recursive: true });
    return ok(new HistoryFiles(home, { ...defaults, ...limits }));
  } catch (cause) {
    return unwritable(home, cause);
  }
}

class HistoryFiles implements History {
  readonly newestAt: number;
  readonly accounts: History["accounts"];
  readonly #home: string;
  readonly #limits: HistoryLimits;
  #past: readonly PlaneUpdate[];
  #file: number;
  #samples: number;

  constructor(home: string, limits: HistoryLimits) {
    this.#home = home;
    this.#limits = limits;
    const newest = readLines(join(home, "newest.jsonl"));
    const all = [...readLines(join(home, "before.jsonl")), ...newest];
    this.#past = newestOf(all, limits);
    this.newestAt = all.reduce((at, update) => Math.max(at, timeOf(update)), Number.NEGATIVE_INFINITY);
    this.accounts = accountsIn(all);
    this.#samples = newest.reduce((sum, update) => sum + samplesIn(update), 0);
    this.#file = openSync(join(home, "newest.jsonl"), "a");
    // Whatever the last process did not finish ends here.
    writeSync(this.#file, "\n");
  }

  takePast(): readonly PlaneUpdate[] {
    const past = this.#past;
    this.#past = [];
    return past;
  }

  append(updates: readonly PlaneUpdate[]): Result<void> {
    const lines = updates.map(lineOf).join("");
    if (lines === "") return ok(undefined);
    try {
      if (this.#samples >= this.#limits.samplesPerFile) this.#turn();
      writeSync(this.#file, lines);
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
  }

  close(): void {
    closeSync(this.#file);
  }
}

type Told = Extract<PlaneUpdate, { readonly kind: "samples" | "decision" | "event" }>;

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

// ── Lines ──────────────────────────────────────────────────────────────────────────────────────────────────
// Measurements are most of it, so their numbers stand without names.

type Numbers = readonly (number | null)[];
type Row = readonly [workload: string, sample: Numbers, twin: Numbers | null, own: Numbers, twinSums: Numbers | null];

function lineOf(update: PlaneUpdate): string {
  switch (update.kind) {
    case "samples": {
      const rows = update.samples.map(
        ({ workload, sample, twin, account, twinAccount }): Row => [
          workload,
          sampleNumbers(sample),
          twin && sampleNumbers(twin),
          accountNumbers(account),
          twinAccount && accountNumbers(twinAccount),
        ],
      );
      return `${JSON.stringify(["s", update.at, rows])}\n`;
    }
    case "decision":
      return `${JSON.stringify(["d", update.decision])}\n`;
    case "event":
      return `${JSON.stringify(["e", update.event])}\n`;
    default:
      return "";
  }
}

function readLines(file: string): Told[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      if (line === "") return [];
      try {
        return toldBy(JSON.parse(line) as unknown[]) ?? [];
      } catch {
        return [];
      }
    });
}

function toldBy([kind, what, rows]: readonly unknown[]): Told | undefined {
  switch (kind) {
    case "s": {
      const at = what as number;
      const samples = (rows as readonly Row[]).map(([workload, sample, twin, own, twinSums]) => ({
        workload,
        sample: sampleOf(at, sample),
        twin: twin && sampleOf(at, twin),
        account: accountOf(own),
        twinAccount: twinSums && accountOf(twinSums),
      }));
      return { kind: "samples", at, samples };
    }
    case "d":
      return { kind: "decision", decision: what as Extract<Told, { kind: "decision" }>["decision"] };
    case "e":
      return { kind: "event", event: what as Omit<EventDocument, "id"> };
    default:
      return undefined;
  }
}

const sampleNumbers = ({ load, latency, preservation, ready, have, use, reward, cost }: Sample): Numbers => [
  load,
  latency,
  preservation,
  ready,
  have.replicas,
  have.cpu,
  have.memory,
  use.cpu,
  use.memory,
  reward,
  cost,
];

function sampleOf(at: number, numbers: Numbers): Sample {
  const [load = null, latency = null, preservation = null, ready, replicas, cpu, memory, ...rest] = numbers;
  const [cpuUse = null, memoryUse = null, reward = null, cost] = rest;
  return {
    at,
    load,
    latency,
    preservation,
    ready: ready ?? 0,
    have: { replicas: replicas ?? 0, cpu: cpu ?? 0, memory: memory ?? 0 },
    use: { cpu: cpuUse, memory: memoryUse },
    reward,
    cost: cost ?? 0,
  };
}

const sums = ["steps", "violations", "cost", "cpuUsed", "cpuGranted", "memoryUsed", "memoryGranted"] as const;

const accountNumbers = (account: Account): Numbers => sums.map((name) => account[name]);
const accountOf = (numbers: Numbers): Account =>
  Object.fromEntries(sums.map((name, index) => [name, numbers[index] ?? 0])) as unknown as Account;

function unwritable(home: string, cause: unknown) {
  const words = cause instanceof Error ? cause.message : String(cause);
  return err(
    failure(
      "plane.history",
      `what was measured can not be written to ${home} (${words}); make room there, or give another folder with --data`,
      { cause },
    ),
  );
}
