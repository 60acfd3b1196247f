import { execFile } from "node:child_process";
import { getPriority } from "node:os";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { workerEntry } from "./worker-entry.ts";

/** A thread that gives way, and then says what it and the main thread are at. */
function niced(nice: number): Promise<{ readonly did: boolean; readonly own: number; readonly main: number }> {
  const source = workerEntry("./thread-priority.ts", import.meta.url).href;
  const script = `
    import { parentPort } from "node:worker_threads";
    import { getPriority } from "node:os";
    import { giveWay, threadNumber } from ${JSON.stringify(source)};
    const did = giveWay(${nice});
    parentPort.postMessage({ did, own: getPriority(threadNumber() ?? 0), main: getPriority(process.pid) });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

test("a thread gives way alone, and where threads have no number nothing changes and it says so", async () => {
  const before = getPriority(process.pid);
  // Priorities can only be lowered, and the whole suite may run at a low one already.
  const nice = Math.min(19, before + 3);
  const { did, own, main } = await niced(nice);
  expect(main).toBe(before);
  expect(did).toBe(process.platform === "linux");
  expect(own).toBe(did ? nice : before);
});

/** In a process of its own: what all threads gave away cannot be taken back. */
async function besides(
  nice: number,
): Promise<{ readonly changed: number; readonly own: number; readonly others: number[] }> {
  const source = workerEntry("./thread-priority.ts", import.meta.url).href;
  const script = `
    import { readdirSync } from "node:fs";
    import { getPriority } from "node:os";
    import { othersGiveWay } from ${JSON.stringify(source)};
    const changed = othersGiveWay(${nice});
    const threads = process.platform === "linux" ? readdirSync("/proc/self/task").map(Number) : [];
    const others = threads.filter((thread) => thread !== process.pid).map((thread) => getPriority(thread));
    console.log(JSON.stringify({ changed, own: getPriority(process.pid), others }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  return JSON.parse(stdout);
}

test("all threads of a process give way to the one that asks for it, and that one stays", async () => {
  const before = getPriority(process.pid);
  const nice = Math.min(19, before + 3);
  const { changed, own, others } = await besides(nice);
  expect(own).toBe(before);
  expect(others.every((priority) => priority === nice)).toBe(true);
  expect(changed).toBe(nice === before ? 0 : others.length);
  expect(others.length > 0).toBe(process.platform === "linux");
});
