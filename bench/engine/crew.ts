/**
 * All contenders of the engine bench, or of another bench that names those it needs: who could be started, and why the others could not.
 * Owns: starting, asking and ending them. Not here: what is measured (the section files beside this one).
 */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measured } from "../comparison.ts";
import { Contender } from "../contender.ts";
import { type Entry, interleave, type Rounds } from "../measure.ts";
import { packageRoot } from "../places.ts";
import type { BenchContext } from "../report.ts";
import { nativeProgram, nodePeer, pythonWithTorch, type SetupOptions, setupOptions } from "../setup.ts";
import { median } from "../statistics.ts";
import { ACTOR, writeFixtures } from "./fixtures.ts";
import { policyModel } from "./onnx-model.ts";

export type Role = "wasm" | "native" | "c-ddpg" | "c-gru" | "torch" | "onnx";

/** Who does which task, and the name of the result. */
export interface Part {
  readonly key: string;
  readonly role: Role;
  readonly task: string;
  readonly label: string;
}

/** What a bench needs of the crew. */
export interface CrewPlan {
  readonly roles: readonly Role[];
  /** A task that every one of them can do: who cannot do it is absent. */
  readonly probe: string;
  /** Writes what the contenders start from into the folder. */
  writeFixtures(folder: string): Promise<void>;
}

const enginePlan: CrewPlan = {
  roles: ["wasm", "native", "c-ddpg", "c-gru", "torch", "onnx"],
  probe: "inference",
  async writeFixtures(folder) {
    const actor = await writeFixtures(folder);
    await writeFile(join(folder, "inference.onnx"), policyModel({ widths: ACTOR, params: actor }));
  },
};

export class Crew {
  readonly folder: string;
  readonly context: BenchContext;
  readonly absent: string[] = [];
  readonly #plan: CrewPlan;
  readonly #contenders = new Map<Role, Contender>();
  readonly #crowding: number[] = [];

  private constructor(folder: string, context: BenchContext, plan: CrewPlan) {
    this.folder = folder;
    this.context = context;
    this.#plan = plan;
  }

  static async start(context: BenchContext, plan: CrewPlan = enginePlan): Promise<Crew> {
    const crew = new Crew(await mkdtemp(join(tmpdir(), "coxswain-bench-")), context, plan);
    try {
      await plan.writeFixtures(crew.folder);
      await crew.#startOurs();
      await crew.#startPeers(setupOptions(context));
      return crew;
    } catch (error) {
      await crew.end();
      throw error;
    }
  }

  has(role: Role): boolean {
    return this.#contenders.has(role);
  }

  get(role: Role): Contender {
    const contender = this.#contenders.get(role);
    if (!contender) throw new Error(`the contender ${role} is absent`);
    return contender;
  }

  /** Interleaved rounds of those parts whose contender is there; failures are reported as absent. */
  async measure(parts: readonly Part[], rounds: Rounds): Promise<Map<string, Measured>> {
    const present = parts.filter(({ role }) => this.has(role));
    const entries: Entry[] = present.map(({ key, role, task }) => ({ key, contender: this.get(role), task }));
    const { timings, failed } = await interleave(entries, rounds);
    const results = new Map<string, Measured>();
    for (const { key, label } of present) {
      const timing = timings.get(key);
      if (timing) {
        results.set(key, { label, timing });
        if (!key.includes("threads")) this.#crowding.push(timing.crowding);
      } else this.absent.push(`${label}: ${failed.get(key) ?? "no answer"}`);
    }
    return results;
  }

  /** How much of the wall the one-thread rounds had for themselves, over the whole run. */
  get crowding(): number {
    return this.#crowding.length === 0 ? 1 : median(this.#crowding);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#contenders.values()].map((contender) => contender.close()));
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startOurs(): Promise<void> {
    // Compiled to dist/, the entry is JavaScript; run from source by a Node that strips types, it is TypeScript.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const entry = fileURLToPath(new URL(`./our-contender.${extension}`, import.meta.url));
    for (const role of ["wasm", "native"] as const) {
      if (!this.#isWanted(role)) continue;
      await this.#admit(role, { program: process.execPath, args: [entry, role, this.folder] });
    }
  }

  async #startPeers(setup: SetupOptions): Promise<void> {
    for (const [role, name] of [
      ["c-ddpg", "ddpg"],
      ["c-gru", "gru"],
    ] as const) {
      if (!this.#isWanted(role)) continue;
      const native = await nativeProgram(name, setup);
      if ("absent" in native) this.absent.push(native.absent);
      else await this.#admit(role, { ...native.found, args: [this.folder] });
    }
    if (this.#isWanted("torch")) await this.#startTorch(setup);
    if (this.#isWanted("onnx")) await this.#startOnnx(setup);
  }

  async #startTorch(setup: SetupOptions): Promise<void> {
    const python = await pythonWithTorch(setup);
    if ("absent" in python) this.absent.push(python.absent);
    else {
      const script = join(packageRoot(), "bench", "peers", "torch_peer.py");
      // One thread also in the libraries below PyTorch; bytecode stays out of the checkout.
      const env = { OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1", PYTHONDONTWRITEBYTECODE: "1" };
      await this.#admit("torch", { program: python.found, args: ["-W", "ignore", script, this.folder], env });
    }
  }

  async #startOnnx(setup: SetupOptions): Promise<void> {
    const onnx = await nodePeer("onnxruntime-node", setup);
    if ("absent" in onnx) this.absent.push(onnx.absent);
    else {
      const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
      const entry = fileURLToPath(new URL(`./onnx-contender.${extension}`, import.meta.url));
      await this.#admit("onnx", { program: process.execPath, args: [entry, onnx.found, this.folder] });
    }
  }

  #isWanted(role: Role): boolean {
    return this.#plan.roles.includes(role);
  }

  /** Starts it and has it do one small thing, so that a contender that cannot run is known before the rounds. */
  async #admit(role: Role, command: ConstructorParameters<typeof Contender>[1]): Promise<void> {
    this.context.signal.throwIfAborted();
    const contender = new Contender(role, command);
    try {
      await contender.time(role === "c-gru" ? "gru" : this.#plan.probe, 1);
      this.#contenders.set(role, contender);
    } catch (error) {
      await contender.close();
      this.absent.push(`${role}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
