/**
 * Profiles of workloads from YAML files.
 * Owns: reading them, and errors that name file, line and field.
 */
import { isAbsolute, join } from "node:path";
import { CodedError, failure } from "../../base/index.ts";
import type { WorkloadProfile } from "../../control/tasks/pods/index.ts";
import { type ConfigDocument, parseConfig, readConfigFile } from "./document.ts";
import { deepFreeze, invalid } from "./load.ts";
import { profileSchema } from "./profile-schema.ts";

export interface LoadedProfile {
  readonly file: string;
  readonly profile: WorkloadProfile;
}

/** All of them, or one failure that lists what is wrong in the first bad file. */
export function loadProfiles(files: readonly string[], cwd: string): readonly LoadedProfile[] {
  const byWorkload = new Map<string, string>();
  return files.map((file) => {
    const document = readConfigFile(file, isAbsolute(file) ? file : join(cwd, file));
    const profile = profileIn(document);
    const other = byWorkload.get(profile.workload);
    if (other !== undefined)
      throw new CodedError(
        failure(
          "config.duplicate-workload",
          `${file}:${document.lineOf(["workload"])}: workload '${profile.workload}' has a profile in ${other} already; keep one of the two`,
        ),
      );
    byWorkload.set(profile.workload, file);
    return { file, profile };
  });
}

export const parseProfile = (text: string, file: string): WorkloadProfile => profileIn(parseConfig(text, file));

function profileIn(document: ConfigDocument): WorkloadProfile {
  const parsed = profileSchema.safeParse(document.value);
  if (parsed.success) return deepFreeze(parsed.data);
  throw invalid(parsed.error.issues, {
    schema: profileSchema,
    document,
    // What is missing is reported at the nearest thing that is there.
    originOf: (path) => ({ kind: "file", file: document.file, line: document.lineOf(path) }),
  });
}
