/**
 * Users' own environments, learners and worlds, from modules that the settings or `--module` name.
 * Owns: what such a module exports, and adding it to the registries.
 * Not here: modules of studies (cli/studies), which `reproduce` loads.
 *
 * The same modules are loaded again in every worker thread, since functions cannot cross to one.
 */
import { isAbsolute, join } from "node:path";
import { CodedError, failure } from "../../base/index.ts";
import { type EnvEntry, registerEnv } from "../../learn/env/index.ts";
import { type LearnerEntry, registerLearner } from "../../learn/rl/index.ts";
import type { WorldEntry } from "../../plane/index.ts";
import type { Shell } from "../shell.ts";
import { importModule } from "./import-module.ts";
import { registerWorld } from "./worlds.ts";

/** What a module may export; one of them at least. */
export interface UserModule {
  readonly environments?: readonly EnvEntry[];
  readonly learners?: readonly LearnerEntry[];
  readonly worlds?: readonly WorldEntry[];
}

const EXPORTS = ["environments", "learners", "worlds"] as const satisfies readonly (keyof UserModule)[];

/** Of this thread: a second command line of a test, or a settings file that names a module twice. */
const loaded = new Set<string>();

export const modulePaths = ({ cwd }: Pick<Shell, "cwd">, files: readonly string[]): readonly string[] =>
  files.map((file) => (isAbsolute(file) ? file : join(cwd, file)));

/** After this its environments and learners are found by their names. Paths are absolute. */
export async function loadModules(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (loaded.has(file)) continue;
    const { environments = [], learners = [], worlds = [] } = checked(file, await importModule(file));
    for (const entry of environments) registerEnv(entry);
    for (const entry of learners) registerLearner(entry);
    for (const entry of worlds) registerWorld(entry);
    loaded.add(file);
  }
}

function checked(file: string, exported: Readonly<Record<string, unknown>>): UserModule {
  const given = EXPORTS.filter((name) => exported[name] !== undefined);
  const wrong = given.find((name) => !Array.isArray(exported[name]));
  if (wrong !== undefined)
    throw new CodedError(failure("module.exports", `${file}: '${wrong}' is not a list; export a list of entries`));
  if (given.length === 0)
    throw new CodedError(
      failure(
        "module.exports",
        `${file} exports none of ${EXPORTS.join(", ")}; write \`export const environments = [myEnv]\``,
      ),
    );
  const { learners = [], worlds = [] } = exported as UserModule;
  requireParts(file, "learners", { entries: learners, name: "kind", make: "create" });
  requireParts(file, "worlds", { entries: worlds, name: "name", make: "open" });
  return exported as UserModule;
}

interface Parts {
  readonly entries: readonly unknown[];
  /** The key of its name, and of the function that makes it. */
  readonly name: string;
  readonly make: string;
}

/** Environments are checked where they are registered; a learner or a world would fail only when it is made. */
function requireParts(file: string, list: string, { entries, name, make }: Parts): void {
  const parts = entries.map((entry) => (entry ?? {}) as Readonly<Record<string, unknown>>);
  const wrong = parts.findIndex((entry) => typeof entry[name] !== "string" || typeof entry[make] !== "function");
  if (wrong >= 0)
    throw new CodedError(
      failure("module.exports", `${file}: ${list}[${wrong}] needs '${name}', a name, and '${make}', a function`),
    );
}
