/** The turns' figures, from a thread like the one that `coxswain up` runs its loop on, for as many agents. */
import { Worker } from "node:worker_threads";
import { loopHeap, workerEntry } from "../../src/adapters/runtime/index.ts";
import type { BenchContext, Figure } from "../report.ts";
import { CROWD } from "./turns.ts";

type FromThread = { readonly text: string } | { readonly figures: readonly Figure[] };

export async function turnFiguresOnLoopThread({ quick, log, signal }: BenchContext): Promise<readonly Figure[]> {
  const worker = new Worker(workerEntry("./turns-worker.ts", import.meta.url), {
    workerData: { quick },
    resourceLimits: loopHeap(CROWD),
  });
  const end = (): void => void worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  try {
    return await new Promise<readonly Figure[]>((resolve, reject) => {
      worker.on("message", (message: FromThread) => {
        if ("text" in message) log(message.text);
        else resolve(message.figures);
      });
      worker.on("error", reject);
      worker.on("exit", () =>
        reject(signal.aborted ? signal.reason : new Error("the thread of the turns ended early")),
      );
    });
  } finally {
    signal.removeEventListener("abort", end);
    await worker.terminate();
  }
}
