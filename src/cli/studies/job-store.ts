/** Finished jobs on disk, so that a killed run goes on where it was. */

import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../adapters/runtime/index.ts";

export interface FinishedJob {
  readonly seed: number;
  readonly unit: string;
  readonly result: unknown;
  readonly seconds: number;
}

interface JobFile extends FinishedJob {
  readonly schema: 1;
  /** Of `result`'s text: a file damaged on disk is run again, not believed. */
  readonly sha256: string;
}

export class JobStore {
  readonly #folder: string;

  constructor({ data, study, fingerprint }: { data: string; study: string; fingerprint: string }) {
    this.#folder = join(data, "studies", study, fingerprint);
  }

  get folder(): string {
    return this.#folder;
  }

  load(seed: number, unit: string): FinishedJob | undefined {
    let text: string;
    try {
      text = readFileSync(this.#file(seed, unit), "utf8");
    } catch {
      return undefined;
    }
    try {
      const found = JSON.parse(text) as JobFile;
      const isSound =
        found.schema === 1 && found.seed === seed && found.unit === unit && found.sha256 === digest(found.result);
      return isSound ? { seed, unit, result: found.result, seconds: found.seconds } : undefined;
    } catch {
      return undefined;
    }
  }

  save(job: FinishedJob): void {
    const file: JobFile = { schema: 1, ...job, sha256: digest(job.result) };
    writeFileAtomically(this.#file(job.seed, job.unit), `${JSON.stringify(file)}\n`);
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #file(seed: number, unit: string): string {
    // A unit is the study's own text; only its safe part may shape a path, the hash keeps two apart.
    const safe = unit.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 60);
    const mark = createHash("sha256").update(unit).digest("hex").slice(0, 8);
    return join(this.#folder, `${safe}-${mark}-seed${seed}.json`);
  }
}

function digest(result: unknown): string {
  return createHash("sha256").update(JSON.stringify(result)).digest("hex");
}
