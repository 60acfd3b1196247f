/**
 * Pre-trained models on their way between machines: as objects beside the work queue, by the name that stands for all that
 * shapes them.
 * Owns: fetching, checking and keeping them. Not here: training (cli/pretraining), where they are kept (cli/studies/shared-models.ts).
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, writeFileAtomically } from "../../adapters/runtime/index.ts";
import { CodedError, err, failure, ok, type Result } from "../../base/index.ts";
import { decodePretrained } from "../../learn/meta/index.ts";
import type { SharedTraining } from "../../pretraining/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { modelFile, modelName } from "../studies/shared-models.ts";
import type { ModelFiles } from "../studies/study-kinds.ts";
import type { OfferedModel } from "./offered-study.ts";
import type { OpenQueue } from "./open-queue.ts";

export interface ModelPlace {
  readonly open: OpenQueue;
  /** Where finished work is kept. */
  readonly data: string;
  readonly kernels: KernelChoice;
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const objectName = (settings: SharedTraining, kernels: KernelChoice): string => `model-${modelName(settings, kernels)}`;

/** Puts a model that is kept here where others find it; again is harmless. */
export async function handOut(settings: SharedTraining, { open, data, kernels }: ModelPlace): Promise<Result<string>> {
  const bytes = new Uint8Array(readFileSync(modelFile(data, modelName(settings, kernels))));
  const put = await open.results.putObject(objectName(settings, kernels), bytes);
  return put.ok ? ok(sha256(bytes)) : put;
}

/** The file of a model that has this digest, fetched where it is not kept here. */
export async function fetchModel(
  { settings, sha256: wanted }: Omit<OfferedModel, "name">,
  { open, data, kernels }: ModelPlace,
): Promise<Result<string>> {
  const file = modelFile(data, modelName(settings, kernels));
  if (existsSync(file)) {
    if (sha256(readFileSync(file)) === wanted) return ok(file);
    return err(failure("work.other-model", `the model in ${file} has other bytes than the one that is asked for`));
  }
  const found = await open.results.getObject(objectName(settings, kernels));
  if (!found.ok) return found;
  const bytes = found.value;
  if (!bytes) return err(failure("work.no-model", "the model that a job begins with is not beside the work queue"));
  if (sha256(bytes) !== wanted || !decodePretrained(bytes).ok)
    return err(failure("work.other-model", "the model beside the work queue is not the one that is asked for"));
  makeFolder(dirname(file));
  writeFileAtomically(file, bytes);
  return ok(file);
}

/** All models of a study, for a job of it. */
export async function fetchModels(models: readonly OfferedModel[], place: ModelPlace): Promise<ModelFiles> {
  const files: { [name: string]: string } = {};
  for (const model of models) {
    const file = await fetchModel(model, place);
    if (!file.ok) throw new CodedError(file.failure);
    files[model.name] = file.value;
  }
  return files;
}
