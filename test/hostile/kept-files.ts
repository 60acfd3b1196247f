/**
 * The kinds of files that `coxswain up` keeps, as they lie in a folder after a run.
 * Owns: making such a folder, finding the files by kind, and what a start may make of a damaged one. Not here: damage
 * (mutations.ts), starting it again (files.test.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HostileUp } from "./hostile-up.ts";
import { protoOf, traceOf } from "./otlp-messages.ts";

/** What may come of damage, beside a refusal in one sentence that names the file. */
export interface FileKind {
  readonly name: string;
  readonly path: RegExp;
  /** The words, in the log, of a start that left it or a part of it out; absent where every damage is to be refused. */
  readonly leftOut?: RegExp;
  /** Why a start may say nothing where the file was cut off or emptied: a kill leaves the same. */
  readonly endMayLack?: string;
  /** Why nothing need be said at all when it starts. */
  readonly mayBeSilent?: string;
}

const STATE = /a saved state that cannot be read, and go on from another or anew/;
const LOG = "DuckDB takes an entry that claims more bytes than there are for the torn end of a commit";
const BLOCKS = "DuckDB checks a block when it reads it; who asks for it is told then";

export const FILE_KINDS: readonly FileKind[] = [
  { name: "state of a plane", path: /^plane\.json$/ },
  { name: "what people said of services", path: /^services\.json$/ },
  { name: "newest state of an agent", path: /^agents\/[^/]+\/newest$/, leftOut: STATE },
  { name: "state of an agent before that", path: /^agents\/[^/]+\/previous$/, leftOut: STATE },
  { name: "state of a twin", path: /^twin\/[^/]+\/(?:newest|previous)$/, leftOut: STATE },
  {
    name: "history",
    path: /^history\/newest\.jsonl$/,
    leftOut: /of what was measured and told cannot be read/,
    endMayLack: "lines are not forced to the disk",
  },
  {
    name: "span journal",
    path: /^spans\/.+\.spans$/,
    leftOut: /the span journal is damaged in \d+ place/,
    endMayLack: "frames are not forced to the disk",
  },
  { name: "audit log", path: /^audit\.jsonl$/, mayBeSilent: "nothing in it is ever read back" },
  { name: "trajectory store", path: /^trajectories\.duckdb$/, mayBeSilent: BLOCKS },
  { name: "log of the trajectory store", path: /^trajectories\.duckdb\.wal$/, mayBeSilent: LOG },
  { name: "trace store", path: /^traces\.duckdb$/, mayBeSilent: BLOCKS },
  { name: "log of the trace store", path: /^traces\.duckdb\.wal$/, mayBeSilent: LOG },
];

/** Paths in the folder, below it, in order. */
export const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(folder.length + 1))
    .sort();

export const KEPT = { agent: "web-shop-agent", workload: "web-shop", target: 333 };
const FILL_ARGS = ["--workloads", "2", "--speed", "600"];
/** As little beside reading the files as can be. */
export const START_ARGS = ["--workloads", "2", "--speed", "1", "--application", "none"];

/** A folder with every kind of file in it: killed in the middle, or stopped as it should be. */
export async function fillFolder(folder: string, end: "killed" | "stopped"): Promise<void> {
  const up = new HostileUp(folder, FILL_ARGS);
  try {
    const { http } = await up.listeners();
    await up.write("POST", `/v1/agents/${KEPT.agent}/pause`);
    const slo = { kind: "latency", quantile: 0.99, target: KEPT.target };
    await up.write("PUT", `/v1/workloads/${KEPT.workload}/slo`, slo);
    await up.write("PUT", "/v1/services/acting", { mode: "observe" });
    const hasAll = await up.becomes(async () => {
      const previous = filesIn(folder).some((path) => path.startsWith("agents/") && path.endsWith("previous"));
      return previous && readFileSync(join(folder, "history", "newest.jsonl")).length > 20_000;
    });
    if (!hasAll) throw new Error(`it did not come to write all of its files:\n${up.said}`);
    for (let k = 0; k < 20; k++) {
      const body = protoOf(traceOf(`900d${String(k).padStart(28, "0")}`)) as NonNullable<RequestInit["body"]>;
      const headers = { "content-type": "application/x-protobuf" };
      const { status } = await fetch(`${http}/v1/traces`, { method: "POST", headers, body });
      if (status !== 200) throw new Error(`spans were answered ${status}`);
    }
    if (end === "stopped") await up.stop();
  } finally {
    await up.kill();
  }
}
