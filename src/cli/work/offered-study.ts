/**
 * From an offer of a work queue to the job that it names, and nowhere else: a registered study, its own configuration, one of
 * its units or models. What does not come out as it was offered is refused.
 */
import type { WorkOffer } from "../../adapters/nats/index.ts";
import { err, failure, ok, type Result } from "../../base/index.ts";
import type { SharedTraining } from "../../pretraining/index.ts";
import type { Study } from "../../studies/index.ts";
import type { KernelChoice } from "../kernels.ts";
import { openKernels } from "../kernels.ts";
import { packageVersion } from "../package-info.ts";
import { fingerprint } from "../studies/fingerprint.ts";

export type OfferedWork =
  | {
      readonly kind: "unit";
      readonly studyId: string;
      readonly seed: number;
      readonly unit: string;
      readonly config: unknown;
      /** What the study's models are trained with, and the SHA-256 that each has to have. */
      readonly models: readonly OfferedModel[];
    }
  | { readonly kind: "model"; readonly studyId: string; readonly name: string; readonly settings: SharedTraining };

export interface OfferedModel {
  readonly name: string;
  readonly settings: SharedTraining;
  readonly sha256: string;
}

export function offeredWork(offer: WorkOffer, studies: readonly Study[], kernels: KernelChoice): Result<OfferedWork> {
  const study = studies.find(({ id }) => id === offer.study);
  if (!study) return refused(offer, "there is no such study");
  const config = study.config({ quick: offer.quick });
  const needs = study.models?.(config) ?? {};
  const parts = { study, config, kernels: openKernels(kernels).name, version: packageVersion() };
  if (offer.fingerprint !== fingerprint(parts)) return refused(offer, "the study's settings or code are others here");
  const { job } = offer;
  if (job.kind === "model") {
    const settings = Object.hasOwn(needs, job.name) ? needs[job.name] : undefined;
    if (!settings) return refused(offer, "the study has no such model");
    return ok({ kind: "model", studyId: study.id, name: job.name, settings });
  }
  const { seed, unit } = job;
  if (!study.units(config).includes(unit)) return refused(offer, "the study has no such unit");
  const names = Object.keys(needs);
  if (names.length !== Object.keys(job.models).length || !names.every((name) => Object.hasOwn(job.models, name)))
    return refused(offer, "the study begins with other models here");
  const models = Object.entries(needs).map(([name, settings]) => ({
    name,
    settings,
    sha256: job.models[name] as string,
  }));
  return ok({ kind: "unit", studyId: study.id, seed, unit, config, models });
}

function refused({ study }: WorkOffer, why: string): Result<never> {
  const text = `an offer of the study '${printable(study)}' was refused: ${why}; look at who may publish there`;
  return err(failure("work.unknown-job", text));
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?");
