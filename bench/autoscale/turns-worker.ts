/** Entry of a thread with the heap of the loop's: turns are measured where the product takes them. */
import { parentPort, workerData } from "node:worker_threads";
import { turnFigures } from "./turns.ts";

const { quick } = workerData as { readonly quick: boolean };
const log = (text: string): void => parentPort?.postMessage({ text });
// Who does not want to wait any longer ends the thread.
const figures = await turnFigures({ quick, log, signal: new AbortController().signal });
parentPort?.postMessage({ figures });
