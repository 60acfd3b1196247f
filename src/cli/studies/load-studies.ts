/** Finds studies by id: those of the package, plus those of modules that the user names. */

import { pathToFileURL } from "node:url";
import { CodedError, failure } from "../../base/index.ts";
import { studies as builtin, type Study } from "../../studies/index.ts";
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
  let exported: { studies?: unknown };
  try {
    exported = (await import(pathToFileURL(file).href)) as { studies?: unknown };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new CodedError(
      failure("study.module", `${file} can not be loaded as a module of studies: ${why}`, { cause }),
    );
  }
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
