/** AWARE's Figure 8: how fast, and at what cost, policies fit workloads that were never seen. */
import type { AdaptationConfig, AdaptationResult } from "./aware/adaptation.ts";
import { playAdaptation, unitsOf } from "./aware/adaptation.ts";
import { awareWithEmbedding } from "./aware/adaptation-aware.ts";
import { adaptationFigures } from "./aware/adaptation-figures.ts";
import { type AdaptationMethod, firm, transfer, transferPlus } from "./aware/adaptation-methods.ts";
import { adaptationRows } from "./aware/adaptation-rows.ts";
import { awareConfig } from "./aware/config.ts";
import { FIRST_META_SEED, type MetaModels, metaModels, modelFor } from "./aware/meta-models.ts";
import type { Study, StudyJob } from "./study.ts";

type Config = AdaptationConfig & { readonly models: MetaModels };

export const awareAdaptation: Study<AdaptationResult, Config> = {
  id: "aware-adaptation",
  title: "AWARE: adapting to workloads that were never seen (Figure 8)",
  about:
    "Unseen applications with loads and SLOs of all kinds, each met by three methods under the same requests: the base " +
    "learner with all weights of a policy that was trained on a known workload (TL), the same with an ARIMA forecast of the " +
    "load and a table of what allocations brought in its state (TL+), and " +
    "AWARE: a policy that was pre-trained on many known workloads, under the embedding of this one. All are as published: " +
    "actions are limits, and nothing is around them. Applications with a segment that no known one has are a group apart, " +
    "where the base learner also begins from nothing (FIRM without transfer). " +
    "A method has converged when five episodes reach 97 % of the best level that any of them ended on, each as a share of " +
    "what the rules or the converged policy earn in the same hours, whichever is more; beside it, until 97 % of the level " +
    "that the method itself ends on, which one that ends low reaches soon. CPU cycles are multiply-adds of learning, " +
    "which are the same on every machine. Utilisation deficits and rewards without adaptation are held against the " +
    "converged policy: of those that the methods ended with, the one that earns most in the first hours.",
  world: "event",
  seeds: { quick: 2, full: 10, first: FIRST_META_SEED },
  config: ({ quick }) => ({
    ...awareConfig({ quick }),
    // Nobody is held against the rules here: they tell what could be earned in an hour, and a few hours find them.
    trialHours: quick ? 1 : 4,
    models: metaModels({ quick, counts: { split: quick ? 1 : 3, "held-out": 1 } }),
    adaptation: {
      source: quick ? 4 : 100,
      groups: quick ? { split: 1, "held-out": 1 } : { split: 2, "held-out": 1 },
      perGroup: quick ? { split: 1, "held-out": 1 } : { split: 8, "held-out": 4 },
      // A method is waited for as long as ten episodes are left to tell the level it ends on: 100, where AWARE took 7.8 in the mean.
      episodes: quick ? 4 : 110,
      still: quick ? 1 : 10,
      level: quick ? { window: 2, level: 2, within: 0.03 } : { window: 5, level: 10, within: 0.03 },
    },
  }),
  models: ({ models }) => models,
  units: unitsOf,
  // One who brings nothing along is no part of the paper's figure, and one pool is enough to see whether transfer helps.
  runUnit: (job) =>
    playAdaptation(job, (pool) => [...(pool === "held-out" ? [firm] : []), ...transferring, awareOf(job)]),
  rows: (results, { adaptation }) => adaptationRows(results, adaptation),
  figures: (results, { adaptation: { level, episodes } }) =>
    adaptationFigures(results, { methods: titles, level, episodes }),
};

const awareOf = ({ seed, config, model }: StudyJob<Config>): AdaptationMethod =>
  awareWithEmbedding({
    model: ({ pool }) => model(modelFor(config.models, { pool, seed })),
  });

const transferring = [transfer, transferPlus];
const titles = [...transferring, { id: "aware", title: "AWARE" }];
