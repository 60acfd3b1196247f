/**
 * What an agent learns of its workload by watching, besides what the policy learns: what the shield goes by.
 * Owns: two running figures. Not here: what follows from them (shield.ts).
 */
import { hottestMemory, nearness } from "./shield.ts";
import type { Sight } from "./sight.ts";
import type { Stage } from "./state.ts";

/** A peak of memory is forgotten by half in an hour of steps of 15 s. */
const PEAK_DECAY = 0.5 ** (1 / 240);
/** The usual latency is a mean over about two episodes. */
const USUAL_RATE = 1 / 200;
/** Where the fallback was never seen acting: as if it kept well away from the target. */
const ASSUMED_NEARNESS = 0.6;

export interface WatchState {
  readonly usualNearness: number | null;
  readonly memoryPeak: number;
}

export class Watch {
  #usual: number | null = null;
  #peak = 0;

  see({ observation, reading }: Pick<Sight, "observation" | "reading">, stage: Stage): void {
    if (reading) this.#peak = Math.max(hottestMemory(reading), PEAK_DECAY * this.#peak);
    // Only in OFFLINE is what is seen the fallback's doing.
    if (!observation || stage !== "OFFLINE") return;
    const now = Math.min(1, nearness(observation));
    const before = this.#usual ?? now;
    this.#usual = before + USUAL_RATE * (now - before);
  }

  /** Latency over its target, as it usually is under the fallback. */
  get usualNearness(): number {
    return this.#usual ?? ASSUMED_NEARNESS;
  }

  /** Most memory that a pod used lately. */
  get memoryPeak(): number {
    return this.#peak;
  }

  state(): WatchState {
    return { usualNearness: this.#usual, memoryPeak: this.#peak };
  }

  restore({ usualNearness, memoryPeak }: WatchState): void {
    this.#usual = usualNearness;
    this.#peak = memoryPeak;
  }
}
