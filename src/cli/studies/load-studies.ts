/** Finds studies by id: those of the package, plus those of modules that the user names. */

import { CodedError, failure } from "../../base/index.ts";
import { studies as builtin, type Study } from "../../studies/index.ts";
import { importModule } from "../modules/import-module.ts";
import { didYouMean } from "../suggest.ts";

/** A module of studies exports `studies`, a list; the same module is loaded again in every worker thread. */
export async function loadStudies(modules: readonly string[]): Promise<readonly Study[]> {
  const all = [...builtin];
  for (const file of modules) {
    const added = await importStudies(file);
    for (const study of added) {
      if (all.some((known) => known.id === study.id)) {
        throw new CodedError(
          failure("study.duplicate", `${file}: there is a study '${study.id}' already; rename this one`),
        );
      }
      all.push(study);
    }
  }
  return all;
}

async function importStudies(file: string): Promise<readonly Study[]> {
  const exported = await importModule(file);
  if (!Array.isArray(exported.studies)) {
    throw new CodedError(
      failure("study.module", `${file} exports no list called 'studies'; write \`export const studies = [myStudy]\``),
    );
  }
  return exported.studies as Study[];
}

export function findStudy(all: readonly Study[], id: string): Study {
  const found = all.find((study) => study.id === id);
  if (found) return found;
  const near = didYouMean(
    id,
    all.map((study) => study.id),
  );
  throw new CodedError(
    failure(
      "usage.unknown-study",
      `there is no study '${id}'${near || "; `coxswain reproduce --list` names them all"}`,
    ),
  );
}
