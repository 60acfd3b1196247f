/** What coxswain itself stands on: Node, cores, memory, kernels, threads, the embedded store, the disk. */

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, freemem, totalmem } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { loadKernels, makeFolder, packageRoot, tryKernels } from "../../adapters/runtime/index.ts";
import { ok } from "../../base/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { cpuModel } from "../package-info.ts";
import type { Check, Finding } from "./finding.ts";

export function nodeCheck(): Finding {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  const wanted = (JSON.parse(text) as { engines: { node: string } }).engines.node.replace(">=", "");
  const isEnough = compareVersions(process.versions.node, wanted) >= 0;
  return {
    id: "node",
    what: "Node.js",
    status: isEnough ? "ok" : "bad",
    found: process.version,
    ...(isEnough ? {} : { advice: `install Node.js ${wanted} or later` }),
  };
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

export function coresCheck(): Finding {
  const cores = availableParallelism();
  return {
    id: "cores",
    what: "processor cores",
    status: "ok",
    found: `${cores} usable (${cpuModel()})`,
    ...(cores === 1 ? { advice: "studies run their jobs one after another; a second core halves their time" } : {}),
  };
}

export function memoryCheck(): Finding {
  const [free, total] = [freemem(), totalmem()].map((bytes) => bytes / 2 ** 30) as [number, number];
  const isTight = total < 2;
  return {
    id: "memory",
    what: "memory",
    status: isTight ? "bad" : "ok",
    found: `${free.toFixed(1)} GiB free of ${total.toFixed(1)} GiB`,
    ...(isTight ? { advice: "studies need about 2 GiB; run them with --workers 1" } : {}),
  };
}

export const kernelsCheck =
  (choice: KernelChoice): Check =>
  () => {
    const base = { id: "kernels", what: "kernel set" };
    const native = tryKernels("native");
    const advice =
      "where a C compiler exists, `npm run build:native` makes the faster native set; results stay the same";
    const wanted = choice === "auto" ? ok(loadKernels()) : tryKernels(choice);
    if (!wanted.ok) return { ...base, status: "bad", found: wanted.failure.message, advice: "ask for another set" };
    const inUse = wanted.value.name;
    if (inUse === "native") return { ...base, status: "ok", found: "native, the fastest" };
    if (choice !== "auto") return { ...base, status: "ok", found: `${inUse}, as asked for` };
    const found = `${inUse}; not native because ${native.ok ? "another was asked for" : native.failure.message}`;
    if (inUse === "wasm") return { ...base, status: "ok", found, advice };
    return {
      ...base,
      status: "bad",
      found,
      advice: `the plain TypeScript set is slow; reinstall the package, and ${advice}`,
    };
  };

/** A real thread that shares real memory: both can be switched off by flags and sandboxes. */
export const threadsCheck: Check = async () => {
  const base = { id: "threads", what: "worker threads with shared memory" };
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const source = "const { workerData } = require('node:worker_threads'); Atomics.store(workerData, 0, 42);";
  try {
    const worker = new Worker(source, { eval: true, workerData: shared });
    await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
  } catch (thrown) {
    return { ...base, status: "bad", found: String(thrown), advice: "allow worker threads, or studies cannot run" };
  }
  const works = Atomics.load(shared, 0) === 42;
  return works ? { ...base, status: "ok", found: "work" } : { ...base, status: "bad", found: "memory is not shared" };
};

export const duckdbCheck: Check = async () => {
  const base = { id: "duckdb", what: "embedded store (DuckDB)" };
  try {
    const { DuckDBInstance, version } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll("select 42");
    const works = Number(reader.getRows()[0]?.[0]) === 42;
    connection.closeSync();
    instance.closeSync();
    if (works) return { ...base, status: "ok", found: version() };
    return { ...base, status: "bad", found: "loads but does not compute", advice: "reinstall with `npm ci`" };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.split("\n")[0] : String(thrown);
    return {
      ...base,
      status: "bad",
      found: `${why}`,
      advice: "its binary for this platform is missing; run `npm ci` again",
    };
  }
};

const DISK_MIB = 32;
const SYNCS = 20;
const SLOW_SYNC_MS = 50;

/** How fast the data folder takes bytes, and how long one record takes to be safe. */
export const diskCheck =
  (data: string): Check =>
  () => {
    const base = { id: "disk", what: `disk under ${data}` };
    const file = join(data, `doctor-${process.pid}.tmp`);
    try {
      makeFolder(data);
      const handle = openSync(file, "w");
      try {
        const { mibPerSecond, syncMs } = measureDisk(handle);
        const found = `${mibPerSecond.toFixed(0)} MiB/s, ${syncMs.toFixed(2)} ms per fsync`;
        if (syncMs < SLOW_SYNC_MS) return { ...base, status: "ok", found };
        const advice = "slow to sync: set 'data' to a folder on a local disk, since records wait for it";
        return { ...base, status: "ok", found, advice };
      } finally {
        closeSync(handle);
        rmSync(file, { force: true });
      }
    } catch (thrown) {
      const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : String(thrown);
      const advice = "choose a writable folder with the setting 'data'";
      return { ...base, status: "bad", found: `not writable (${code})`, advice };
    }
  };

function measureDisk(handle: number): { readonly mibPerSecond: number; readonly syncMs: number } {
  const block = randomBytes(2 ** 20);
  const started = performance.now();
  for (let i = 0; i < DISK_MIB; i++) writeSync(handle, block);
  fsyncSync(handle);
  const mibPerSecond = DISK_MIB / ((performance.now() - started) / 1000);
  const record = block.subarray(0, 4096);
  const syncStarted = performance.now();
  for (let i = 0; i < SYNCS; i++) {
    writeSync(handle, record);
    fsyncSync(handle);
  }
  return { mibPerSecond, syncMs: (performance.now() - syncStarted) / SYNCS };
}
