/**
 * Room for gradients on their way back, shared by all networks of one kernel set.
 * They live only within one `backward` call, so a thousand agents need it once, not a thousand times.
 * Owns: the shared block, its growth and its end. Read `ptr` anew in each call: a larger network replaces the block.
 */

import type { Memory, Ptr } from "./memory.ts";
import { NULL } from "./memory.ts";

export class Scratch {
  static readonly #shared = new WeakMap<Memory, Scratch>();
  readonly #memory: Memory;
  #ptr: Ptr = NULL;
  #floats = 0;
  #users = 0;

  private constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Joins the memory's users of scratch, with room for at least that many floats; pair it with `release`. */
  static acquire(memory: Memory, floats: number): Scratch {
    let scratch = Scratch.#shared.get(memory);
    if (!scratch) {
      scratch = new Scratch(memory);
      Scratch.#shared.set(memory, scratch);
    }
    scratch.#users += 1;
    scratch.#ensure(floats);
    return scratch;
  }

  get ptr(): Ptr {
    return this.#ptr;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users > 0 || this.#ptr === NULL) return;
    this.#memory.free(this.#ptr);
    this.#ptr = NULL;
    this.#floats = 0;
  }

  #ensure(floats: number): void {
    if (floats <= this.#floats) return;
    if (this.#ptr !== NULL) this.#memory.free(this.#ptr);
    this.#ptr = this.#memory.alloc(floats);
    this.#floats = floats;
  }
}
