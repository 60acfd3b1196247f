/**
 * What a pre-training is started with, from the command line to everything that shapes its outcome.
 * Owns: the full size and the quick one, and reading back what a folder was started with.
 */

import { z } from "zod";
import { CodedError, failure } from "../../base/index.ts";
import type { ActionKind } from "../../control/tasks/pods/index.ts";
import type { PretrainConfig } from "../../learn/meta/index.ts";
import { pretrainDefaults } from "../../learn/meta/index.ts";
import { guidedPretraining, quickPretraining, type SharedTraining } from "../../pretraining/index.ts";
import { usageError } from "../failures.ts";
import type { RunFolder } from "../training/run-folder.ts";

export interface PretrainFlags {
  readonly applications?: number | undefined;
  readonly seed?: number | undefined;
  readonly visits?: number | undefined;
  readonly width?: number | undefined;
  readonly actions?: ActionKind | undefined;
  readonly quick?: boolean | undefined;
  readonly guided?: boolean | undefined;
}

export function settingsOf(flags: PretrainFlags): SharedTraining {
  const { applications, seed = 1, visits, width, quick = false, guided = false } = flags;
  const { actions = guided ? "limits" : "demand" } = flags;
  if (guided && actions !== "limits") throw usageError("--guided is for actions as limits", "leave --actions out");
  const base = { ...(quick ? quickPretraining : guided ? guidedPretraining : pretrainDefaults), ...guideOf(guided) };
  return {
    applications: applications ?? (quick ? 24 : 200),
    seed,
    actions,
    pool: "split",
    config: {
      ...base,
      visits: visits ?? base.visits,
      meta: width === undefined ? base.meta : { ...base.meta, hidden: width, dense: [width] },
    },
  };
}

const guideOf = (guided: boolean): Partial<PretrainConfig> =>
  guided ? { guide: guidedPretraining.guide, weights: guidedPretraining.weights } : {};

const savedRun = z.looseObject({
  pretrain: z.looseObject({
    applications: z.number().int().positive(),
    seed: z.number().int(),
    actions: z.enum(["demand", "limits"]),
    pool: z.enum(["split", "held-out"]),
    config: z.custom<PretrainConfig>((value) => typeof value === "object" && value !== null),
  }),
});

/** The settings of the training in a folder; its checkpoint is only continued with the very same. */
export function savedSettings(folder: RunFolder): SharedTraining {
  const parsed = savedRun.safeParse(folder.readRun());
  if (parsed.success) return parsed.data.pretrain;
  throw new CodedError(
    failure("train.no-run", `${folder.path}: run.json is not of a pre-training of this version; start a new one`),
  );
}
