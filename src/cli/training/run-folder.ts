/**
 * The folder of one training: its settings, its checkpoints, its curves.
 *
 *   run.json                   settings and provenance, written once
 *   training.ckpt              continues the training exactly; the one before it is kept as training.previous.ckpt
 *   policy.ckpt                the finished policy, for `coxswain evaluate`
 *   evaluations.jsonl          one line per evaluation
 *   events.out.tfevents.*      curves for TensorBoard
 */

import { appendFileSync, existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../adapters/runtime/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import { decodeCheckpoint, encodeScalars, eventFileHeader, eventFileName } from "../../learn/rl/index.ts";

export class RunFolder {
  readonly path: string;
  #events: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  get policyFile(): string {
    return join(this.path, "policy.ckpt");
  }

  get hasTraining(): boolean {
    return existsSync(this.#file("training.ckpt")) || existsSync(this.#file("training.previous.ckpt"));
  }

  writeRun(run: unknown): void {
    writeFileAtomically(this.#file("run.json"), `${JSON.stringify(run, null, 2)}\n`);
  }

  readRun(): unknown {
    const file = this.#file("run.json");
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch (cause) {
      throw new CodedError(
        failure("train.no-run", `${file} cannot be read; --resume needs the folder of an earlier training`, { cause }),
      );
    }
  }

  writeTraining(bytes: Uint8Array): void {
    const file = this.#file("training.ckpt");
    if (existsSync(file)) renameSync(file, this.#file("training.previous.ckpt"));
    writeFileAtomically(file, bytes);
  }

  writePolicy(bytes: Uint8Array): void {
    writeFileAtomically(this.policyFile, bytes);
  }

  /** Anything else that belongs to the training, under a name of its own. */
  writeBytes(name: string, content: Uint8Array | string): void {
    writeFileAtomically(this.#file(name), content);
  }

  /** The newest checkpoint that is whole; `refused` says why a newer one was passed over. */
  readTraining(): { readonly bytes: Uint8Array; readonly refused: string | undefined } {
    let refused: string | undefined;
    for (const name of ["training.ckpt", "training.previous.ckpt"]) {
      const file = this.#file(name);
      if (!existsSync(file)) continue;
      const bytes = new Uint8Array(readFileSync(file));
      const decoded = decodeCheckpoint(bytes);
      if (decoded.ok) return { bytes, refused };
      refused = `${file}: ${decoded.failure.message}`;
    }
    throw new CodedError(
      failure(
        "train.no-checkpoint",
        refused ?? `${this.path} holds no checkpoint to go on from; train without --resume`,
      ),
    );
  }

  /**
   * Lets go of evaluations after `steps`, and of a line that a kill cut short: a training that goes on from an older
   * checkpoint makes them again.
   */
  dropEvaluationsAfter(steps: number): void {
    const file = this.#file("evaluations.jsonl");
    if (!existsSync(file)) return;
    const lines = readFileSync(file, "utf8").split("\n");
    const kept = lines.filter((line) => stepsOf(line) <= steps);
    writeFileAtomically(file, kept.map((line) => `${line}\n`).join(""));
  }

  appendEvaluation(line: unknown): void {
    appendFileSync(this.#file("evaluations.jsonl"), `${JSON.stringify(line)}\n`);
  }

  /** Curves of one step; a resumed run begins a file of its own, which TensorBoard joins to the first. */
  appendScalars(step: number, scalars: { readonly [tag: string]: number }): void {
    const wallTime = Date.now() / 1000;
    if (this.#events === undefined) {
      this.#events = this.#file(eventFileName({ wallTime, run: `${process.pid}` }));
      appendFileSync(this.#events, eventFileHeader(wallTime));
    }
    appendFileSync(this.#events, encodeScalars({ wallTime, step, scalars }));
  }

  #file(name: string): string {
    return join(this.path, name);
  }
}

/** Infinity for what is no line of an evaluation. */
function stepsOf(line: string): number {
  try {
    const { steps } = JSON.parse(line) as { steps?: unknown };
    return typeof steps === "number" ? steps : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
