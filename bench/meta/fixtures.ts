/**
 * The numbers every contender of the meta bench starts from: a flat little-endian float32 file for each task.
 *   GRU: for both layers, for both directions: W [inputs,3·256], b, U [256,3·256], c; dense 512-256-64 layer by layer;
 *   20 trajectories [20,100,17]; the gradient of an embedding [64].
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Rng, seededRng } from "../../src/base/index.ts";
import { decisionLayout, layoutWidth, type MetaConfig, pretrainDefaults } from "../../src/learn/meta/index.ts";
import { denseNetwork, gruParameters, joinBlocks, normal } from "../engine/fixtures.ts";

/** What the autoscaling task shows and takes, and the paper's sizes. */
const SEEN = { obs: 13, action: 3 } as const;
export const BUNDLE = 20;
export const STEPS = 100;
export const layout = decisionLayout(SEEN);
export const metaConfig: MetaConfig = { ...pretrainDefaults.meta, layout, steps: STEPS, rows: BUNDLE };

export const META_TASKS = ["meta-trajectory", "meta-bundle", "meta-pass", "meta-decide"] as const;

export function metaFixture(rng: Rng): Float32Array {
  const { hidden, layers, dense, embedding } = metaConfig;
  const width = layoutWidth(layout);
  return joinBlocks([
    ...gruParameters(rng.fork("gru"), { input: width, hidden, layers }),
    ...denseNetwork(rng.fork("dense"), [2 * hidden, ...dense, embedding]),
    normal(rng.fork("trajectories"), BUNDLE * STEPS * width),
    normal(rng.fork("gradient"), embedding, 0.01),
  ]);
}

export async function writeMetaFixtures(folder: string): Promise<void> {
  const fixture = metaFixture(seededRng(20_261_116));
  await Promise.all(META_TASKS.map((task) => writeFile(join(folder, `${task}.f32`), fixture)));
}
