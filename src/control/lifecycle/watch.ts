/**
 * What an agent learns of its workload by watching, besides what the policy learns: what shield and gates go by.
 * Owns: how near the limit of its objective the workload usually is, how long ago something was taken away,
 * how often the SLO was missed lately, and how often the fallback misses the SLO at which load. Not here: what follows (shield.ts, judge.ts).
 *
 * Why by load: a learner's hours are not the hours in which the fallback was measured. At night nobody misses an SLO,
 * and a learner compared with the fallback's day could spend at night what the day would have cost.
 */
import type { Setting } from "../../act/index.ts";
import type { Seen, Task, TaskReading } from "../index.ts";
import type { Sight } from "./sight.ts";

/** The usual latency is a mean over about two episodes. */
const USUAL_RATE = 1 / 200;
/** What was missed lately fades over a few episodes. */
const MISSED_RATE = 1 / 400;
/** Where the fallback was never seen acting: as if it kept well away from the target. */
const ASSUMED_NEARNESS = 0.6;
/** Loads within an eighth are alike. Near the edge of an SLO a tenth more load decides between never and always. */
const BINS_PER_DOUBLING = 6;
/** Steps that a bin remembers: then its counts are halved, so that what is newer weighs more. */
const BIN_MEMORY = 800;

interface Bin {
  readonly steps: number;
  readonly missed: number;
}

export interface WatchState {
  readonly usualNearness: number | null;
  readonly sinceShrink: number;
  readonly missedLately: number;
  /** Of the fallback's steps, by the load they had. */
  readonly bins: Readonly<Record<string, Bin>>;
}

type Judging<R extends TaskReading, S extends Setting, O extends Seen> = Pick<
  Task<R, S, O>,
  "givesLess" | "isMissed" | "nearness" | "loadOf"
>;

export class Watch<R extends TaskReading, S extends Setting, O extends Seen> {
  #usual: number | null = null;
  #bins: Record<string, Bin> = {};
  #sinceShrink = 0;
  #missedLately = 0;
  #had: S | null = null;

  /** `isFallbacks`: what is seen is the fallback's doing. */
  see(
    { observation, have }: Pick<Sight<R, S, O>, "observation" | "have">,
    { isFallbacks, task }: { readonly isFallbacks: boolean; readonly task: Judging<R, S, O> },
  ): void {
    if (have) {
      this.#sinceShrink = this.#had && task.givesLess(have, this.#had) ? 0 : this.#sinceShrink + 1;
      this.#had = have;
    }
    if (!observation) return;
    const isMissed = task.isMissed(observation) ? 1 : 0;
    this.#missedLately += MISSED_RATE * (isMissed - this.#missedLately);
    if (!isFallbacks) return;
    const now = Math.min(1, task.nearness(observation));
    const before = this.#usual ?? now;
    this.#usual = before + USUAL_RATE * (now - before);
    const key = binOf(task.loadOf(observation));
    const { steps, missed } = halvedWhenFull(this.#bins[key] ?? { steps: 0, missed: 0 });
    this.#bins[key] = { steps: steps + 1, missed: missed + isMissed };
  }

  /** Latency over its target, as it usually is under the fallback. */
  get usualNearness(): number {
    return this.#usual ?? ASSUMED_NEARNESS;
  }

  /** Steps since there was last less of something than the step before. */
  get sinceShrink(): number {
    return this.#sinceShrink;
  }

  /** The share of steps that missed the SLO lately, whoever acted. */
  get missedLately(): number {
    return this.#missedLately;
  }

  /** How often the fallback misses the SLO at such a load: a share. A load it was never seen at is taken for harmless. */
  usualViolations(load: number): number {
    const bin = this.#bins[binOf(load)];
    // One step more than were seen: a single missed one is no certainty.
    return bin === undefined ? 0 : bin.missed / (bin.steps + 1);
  }

  state(): WatchState {
    return {
      usualNearness: this.#usual,
      sinceShrink: this.#sinceShrink,
      missedLately: this.#missedLately,
      bins: { ...this.#bins },
    };
  }

  restore({ usualNearness, sinceShrink, missedLately, bins }: WatchState): void {
    this.#usual = usualNearness;
    this.#sinceShrink = sinceShrink;
    this.#missedLately = missedLately;
    this.#bins = { ...bins };
  }
}

/** Below one request in ten seconds all loads are alike. */
const binOf = (load: number): string => String(Math.floor(BINS_PER_DOUBLING * Math.log2(Math.max(load, 0.1))));

function halvedWhenFull(bin: Bin): Bin {
  const { steps, missed } = bin;
  return steps < BIN_MEMORY ? bin : { steps: steps / 2, missed: missed / 2 };
}
