/**
 * What is kept of one environment while it is trained on: recent steps, the best trajectories, the last embedding.
 * Owns: taking in episodes, drawing batches, its part of a checkpoint.
 * Not here: who plays (play-task.ts), what is computed from it (embed-task.ts, pretraining.ts).
 */

import type { Rng } from "../../../base/index.ts";
import type { NumberBlock } from "../../rl/index.ts";
import { Replay } from "../../rl/index.ts";
import { Bundle } from "../bundle.ts";
import type { FeatureLayout } from "../features.ts";
import { layoutWidth } from "../features.ts";
import type { Trajectory } from "../trajectory.ts";
import type { Episode } from "./episode.ts";
import { addToReplay, trajectoryOf } from "./episode.ts";

export interface ExperienceOptions {
  readonly obs: number;
  readonly action: number;
  readonly replaySteps: number;
  readonly bundle: number;
  /** Trajectories kept of those that were played as a newcomer. */
  readonly arrivals: number;
  readonly embedding: number;
  readonly layout: FeatureLayout;
}

type Blocks = { readonly [name: string]: NumberBlock };

export class Experience {
  readonly replay: Replay;
  readonly #options: ExperienceOptions;
  #bundle: Bundle<Trajectory>;
  #arrivals: readonly Trajectory[] = [];
  #embedding: Float32Array;
  #rewardMean = 0;

  constructor(options: ExperienceOptions) {
    const { obs, action, replaySteps: capacity, bundle, embedding } = options;
    this.#options = options;
    this.replay = new Replay({ capacity, widths: { obs, action, actorContext: 0, criticContext: 0 } });
    this.#bundle = new Bundle(bundle);
    this.#embedding = new Float32Array(embedding);
  }

  /** Best first. */
  get bundle(): readonly Trajectory[] {
    return this.#bundle.items;
  }

  /** Zeros until there is one. */
  get embedding(): Float32Array {
    return this.#embedding;
  }

  /** Of the steps kept. */
  get rewardMean(): number {
    return this.#rewardMean;
  }

  setEmbedding(vector: Float32Array): void {
    this.#embedding = vector;
  }

  insert(episode: Episode, { isArrival = false }: { readonly isArrival?: boolean } = {}): void {
    const trajectory = trajectoryOf(episode, this.#options.layout);
    addToReplay(this.replay, episode);
    this.#bundle.insert(trajectory);
    if (isArrival) this.#arrivals = [...this.#arrivals, trajectory].slice(-this.#options.arrivals);
    this.#measure();
  }

  /** What a newcomer may have to show: some of the last trajectories that were played without knowing where. */
  drawArrivals(rng: Rng): readonly Trajectory[] {
    const rest = [...this.#arrivals];
    const count = 1 + rng.int(rest.length);
    return Array.from({ length: count }, () => rest.splice(rng.int(rest.length), 1)[0] as Trajectory);
  }

  /** Some of the best. */
  drawBest(rng: Rng, most: number): readonly Trajectory[] {
    const rest = [...this.#bundle.items];
    if (rest.length <= most) return rest;
    return Array.from({ length: most }, () => rest.splice(rng.int(rest.length), 1)[0] as Trajectory);
  }

  draw(rng: Rng, count: number): Int32Array {
    return Int32Array.from({ length: count }, () => rng.int(this.replay.size));
  }

  #measure(): void {
    const { rewards, size } = this.replay;
    let sum = 0;
    for (let i = 0; i < size; i++) sum += rewards[i]!;
    this.#rewardMean = size === 0 ? 0 : sum / size;
  }

  // ── Saving ───────────────────────────────────────────────────────────────────────────────────────────

  blocks(): Blocks {
    return {
      ...prefixed("replay/", this.replay.blocks()),
      ...prefixed("best/", packed(this.#bundle.items)),
      ...prefixed("arrivals/", packed(this.#arrivals)),
      embedding: this.#embedding.slice(),
    };
  }

  fits(blocks: Blocks): boolean {
    const { embedding, bundle, arrivals, layout } = this.#options;
    const width = layoutWidth(layout);
    return (
      blocks.embedding?.length === embedding &&
      isPacked(within(blocks, "best/"), { width, most: bundle }) &&
      isPacked(within(blocks, "arrivals/"), { width, most: arrivals }) &&
      this.replay.fits(within(blocks, "replay/"))
    );
  }

  /** Takes over blocks that fit. */
  restore(blocks: Blocks): void {
    const width = layoutWidth(this.#options.layout);
    this.replay.restore(within(blocks, "replay/"));
    this.#embedding = Float32Array.from(blocks.embedding ?? []);
    this.#bundle = new Bundle(this.#options.bundle);
    // Best first and equal ones by age: inserted in this order they come to lie as they lay.
    for (const trajectory of unpacked(within(blocks, "best/"), width)) this.#bundle.insert(trajectory);
    this.#arrivals = unpacked(within(blocks, "arrivals/"), width);
    this.#measure();
  }
}

/** Trajectories as two blocks: all their rows, and length and reward of each. */
function packed(items: readonly Trajectory[]): Blocks {
  const values = new Float32Array(items.reduce((sum, item) => sum + item.values.length, 0));
  let at = 0;
  for (const item of items) {
    values.set(item.values, at);
    at += item.values.length;
  }
  return { values, facts: Float64Array.from(items.flatMap(({ steps, reward }) => [steps, reward])) };
}

function isPacked(
  { values, facts }: Blocks,
  { width, most }: { readonly width: number; readonly most: number },
): boolean {
  if (!(values instanceof Float32Array && facts instanceof Float64Array)) return false;
  const rows = facts.reduce((sum, value, i) => sum + (i % 2 === 0 ? value : 0), 0);
  return facts.length <= 2 * most && values.length === rows * width;
}

function unpacked({ values, facts }: Blocks, width: number): readonly Trajectory[] {
  const items: Trajectory[] = [];
  let at = 0;
  for (let i = 0; facts && values && i < facts.length; i += 2) {
    const steps = facts[i]!;
    items.push({ steps, values: Float32Array.from(values.subarray(at, at + steps * width)), reward: facts[i + 1]! });
    at += steps * width;
  }
  return items;
}

function prefixed(prefix: string, blocks: Blocks): Blocks {
  return Object.fromEntries(Object.entries(blocks).map(([name, block]) => [`${prefix}${name}`, block]));
}

/** The blocks whose names begin so, without the beginning. */
export function within(blocks: Blocks, prefix: string): Blocks {
  const found = Object.entries(blocks).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, block]) => [name.slice(prefix.length), block]));
}
