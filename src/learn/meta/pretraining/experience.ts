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
  readonly embedding: number;
  readonly layout: FeatureLayout;
}

type Blocks = { readonly [name: string]: NumberBlock };

export class Experience {
  readonly replay: Replay;
  readonly #options: ExperienceOptions;
  #bundle: Bundle<Trajectory>;
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

  insert(episode: Episode): void {
    addToReplay(this.replay, episode);
    this.#bundle.insert(trajectoryOf(episode, this.#options.layout));
    this.#measure();
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
    const items = this.#bundle.items;
    const values = new Float32Array(items.reduce((sum, item) => sum + item.values.length, 0));
    let at = 0;
    for (const item of items) {
      values.set(item.values, at);
      at += item.values.length;
    }
    const replay = Object.entries(this.replay.blocks()).map(([name, block]) => [`replay/${name}`, block] as const);
    return {
      ...Object.fromEntries(replay),
      embedding: this.#embedding.slice(),
      trajectories: values,
      // Length and reward of each, best first.
      lengths: Float64Array.from(items.flatMap(({ steps, reward }) => [steps, reward])),
    };
  }

  fits(blocks: Blocks): boolean {
    const { trajectories, lengths, embedding } = blocks;
    if (!(trajectories instanceof Float32Array && lengths instanceof Float64Array)) return false;
    const rows = lengths.reduce((sum, value, i) => sum + (i % 2 === 0 ? value : 0), 0);
    return (
      embedding?.length === this.#options.embedding &&
      lengths.length <= 2 * this.#options.bundle &&
      trajectories.length === rows * layoutWidth(this.#options.layout) &&
      this.replay.fits(within(blocks, "replay/"))
    );
  }

  /** Takes over blocks that fit. */
  restore(blocks: Blocks): void {
    const { trajectories, lengths, embedding } = blocks as { readonly [name: string]: Float32Array };
    this.replay.restore(within(blocks, "replay/"));
    this.#embedding = Float32Array.from(embedding ?? []);
    this.#bundle = new Bundle(this.#options.bundle);
    const width = layoutWidth(this.#options.layout);
    let at = 0;
    for (let i = 0; lengths && trajectories && i < lengths.length; i += 2) {
      const steps = lengths[i]!;
      const values = trajectories.slice(at, at + steps * width);
      at += steps * width;
      // Best first and equal ones by age: inserted in this order they come to lie as they lay.
      this.#bundle.insert({ steps, values, reward: lengths[i + 1]! });
    }
    this.#measure();
  }
}

/** The blocks whose names begin so, without the beginning. */
export function within(blocks: Blocks, prefix: string): Blocks {
  const found = Object.entries(blocks).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, block]) => [name.slice(prefix.length), block]));
}
