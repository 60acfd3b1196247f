/**
 * A steady load from a process of its own.
 * The bench's own process has loaded every bench and keeps what they measured; when it stops to collect that, requests
 * leave late and answers are read late, and both would be charged to the server.
 */
import { fork } from "node:child_process";
import { workerEntry } from "../../src/adapters/runtime/index.ts";
import type { LoadOptions, LoadResult } from "./load.ts";

export interface LoadProcess {
  load(options: Omit<LoadOptions, "signal">): Promise<LoadResult>;
  stop(): void;
}

export function startLoadProcess(signal: AbortSignal): LoadProcess {
  const child = fork(workerEntry("./load-worker.ts", import.meta.url), {
    execArgv: [],
    serialization: "advanced",
    signal,
  });
  // Aborting ends the process; whoever waits for a result learns it from the end.
  child.on("error", () => {});
  return {
    load: (options) =>
      new Promise((resolve, reject) => {
        const onResult = (result: unknown) => {
          child.off("exit", onExit);
          resolve(result as LoadResult);
        };
        const onExit = (code: number | null) => {
          child.off("message", onResult);
          reject(signal.reason ?? new Error(`the process that sends the load ended with code ${code}`));
        };
        child.once("message", onResult);
        child.once("exit", onExit);
        child.send(options);
      }),
    stop() {
      child.kill();
    },
  };
}
