/**
 * One request through its workflow, when somebody says how long each call's own work takes.
 * Owns: putting stages, parallel calls, caches and ways together; nothing waits for anything here but for answers.
 * Not here: how long a call's own work takes (isolated.ts, fluid/), requests that meet each other (event/).
 */

import { PURPOSE, sigmaOf, uniform, type WorkSpread, workFactor } from "../draws.ts";
import { WORK_BEFORE_STAGES } from "./calibration.ts";
import type { Program } from "./program.ts";

export interface Walker {
  /** From the arrival of a call at its service to the moment it may begin, ms; negative: it is refused. */
  enter(call: number, at: number): number;
  /** How long so much work takes there, from a moment on, ms. */
  spend(call: number, work: number, at: number): number;
  /** A call has answered. */
  leave?(call: number, from: number, to: number): void;
}

export interface WorkflowOptions {
  readonly program: Program;
  readonly hop: { readonly mean: number; readonly variation: number };
  readonly spread: WorkSpread;
  /** Work added to every call: tracing. */
  readonly overhead: number;
}

/** A refused call fails its caller, and so on up to the client. */
export const REFUSED = -1;

export class Workflow {
  readonly #options: WorkflowOptions;
  readonly #sigmas: Float64Array;
  readonly #hopLeast: number;
  readonly #hopSpan: number;
  #seed = 0;
  #walker: Walker | undefined;

  constructor(options: WorkflowOptions) {
    this.#options = options;
    this.#sigmas = Float64Array.from(options.program.profiles, ({ variation }) => sigmaOf(variation));
    const { mean, variation } = options.hop;
    this.#hopLeast = mean * (1 - Math.sqrt(3) * variation);
    this.#hopSpan = 2 * mean * Math.sqrt(3) * variation;
  }

  /** From the client's sending to the answer at the client, ms; REFUSED where a call on the way was. */
  walk(type: number, seed: number, walker: Walker): number {
    this.#seed = seed;
    this.#walker = walker;
    const root = this.#options.program.roots[type]!;
    const there = this.#hop(root, PURPOSE.there);
    const end = this.#call(root, there);
    return end < 0 ? REFUSED : end + this.#hop(root, PURPOSE.back);
  }

  /** When a call that arrives at a moment answers; REFUSED where it does not. */
  #call(call: number, at: number): number {
    const { program, spread, overhead } = this.#options;
    const walker = this.#walker as Walker;
    const service = program.service[call]!;
    const waited = walker.enter(call, at);
    if (waited < 0) return REFUSED;
    const factor = workFactor({ seed: this.#seed, call, sigma: this.#sigmas[service]! }, spread);
    const work = program.work[service]! * program.size[call]! * factor + overhead;
    const firstStage = program.firstStage[call]!;
    const lastStage = program.firstStage[call + 1]!;
    const firstBackground = program.firstBackground[call]!;
    const lastBackground = program.firstBackground[call + 1]!;
    const hasMore = firstStage < lastStage || firstBackground < lastBackground;
    const before = hasMore ? work * WORK_BEFORE_STAGES : work;
    let now = at + waited;
    now += walker.spend(call, before, now);
    // Background calls are walked for their own sake: whoever watches sees them, nobody waits.
    if (walker.leave !== undefined)
      for (let i = firstBackground; i < lastBackground; i++) this.#visit(program.background[i]!, now);
    for (let stage = firstStage; stage < lastStage; stage++) {
      let end = now;
      for (let i = program.firstStaged[stage]!; i < program.firstStaged[stage + 1]!; i++) {
        const child = program.staged[i]!;
        const chance = program.chance[child]!;
        if (chance < 1 && uniform(this.#seed, child, PURPOSE.chance) >= chance) continue;
        const back = this.#visit(child, now);
        if (back < 0) return REFUSED;
        if (back > end) end = back;
      }
      now = end;
    }
    if (hasMore) now += walker.spend(call, work - before, now);
    walker.leave?.(call, at, now);
    return now;
  }

  /** There, done and back. */
  #visit(child: number, from: number): number {
    const end = this.#call(child, from + this.#hop(child, PURPOSE.there));
    return end < 0 ? REFUSED : end + this.#hop(child, PURPOSE.back);
  }

  #hop(call: number, purpose: number): number {
    if (this.#hopSpan === 0) return this.#hopLeast;
    return this.#hopLeast + this.#hopSpan * uniform(this.#seed, call, purpose);
  }
}
