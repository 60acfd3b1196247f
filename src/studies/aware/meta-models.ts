/**
 * The pre-trained models that AWARE's studies begin with.
 * Owns: which there are, and which of them a seed of evaluation takes. Not here: training them (cli/studies).
 */
import type { ActionKind } from "../../control/tasks/pods/index.ts";
import { pretrainDefaults } from "../../learn/meta/index.ts";
import type { PoolKind } from "../../pretraining/index.ts";
import { guidedPretraining, quickPretraining, type SharedTraining } from "../../pretraining/index.ts";

export type MetaModels = Readonly<Record<string, SharedTraining>>;

/** Behind all seeds that settings were chosen on. */
export const FIRST_META_SEED = 401;

export interface MetaModelsChoice {
  readonly quick: boolean;
  /** How many of each pool, each from a seed of its own. */
  readonly counts: Partial<Readonly<Record<PoolKind, number>>>;
  /** Limits where nothing is said, as the paper's and as those of the methods that AWARE is compared with. */
  readonly actions?: ActionKind;
}

export function metaModels({ quick, counts, actions = "limits" }: MetaModelsChoice): MetaModels {
  const models: { [name: string]: SharedTraining } = {};
  for (const pool of ["split", "held-out"] as const) {
    for (let i = 0; i < (counts[pool] ?? 0); i++) {
      const seed = FIRST_META_SEED + i;
      models[`${pool}-${seed}`] = {
        applications: quick ? 8 : 200,
        seed,
        actions,
        pool,
        config: quick ? { ...quickPretraining, visits: 2, settleSteps: 200 } : pretrainDefaults,
      };
    }
  }
  return models;
}

/** Taught by what good limits need to know (pretraining/guide.ts). */
export const GUIDED = "guided";

export const guidedModel = ({ quick }: { readonly quick: boolean }): SharedTraining => ({
  applications: quick ? 4 : 100,
  seed: FIRST_META_SEED,
  actions: "limits",
  pool: "split",
  config: quick
    ? {
        ...quickPretraining,
        guide: guidedPretraining.guide,
        weights: guidedPretraining.weights,
        visits: 1,
        settleSteps: 100,
      }
    : guidedPretraining,
});

/** Seeds of evaluation take a pool's models in turn. */
export function modelFor(
  models: MetaModels,
  { pool, seed }: { readonly pool: PoolKind; readonly seed: number },
): string {
  const names = Object.keys(models).filter((name) => name !== GUIDED && models[name]?.pool === pool);
  return names[seed % names.length] ?? "";
}
