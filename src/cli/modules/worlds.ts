/** Worlds that users' modules bring, by their names. */
import { CodedError, failure } from "../../base/index.ts";
import type { WorldEntry } from "../../plane/index.ts";
import { didYouMean } from "../suggest.ts";

const worlds = new Map<string, WorldEntry>();

export function registerWorld(entry: WorldEntry): void {
  if (worlds.has(entry.name))
    throw new CodedError(
      failure("module.duplicate-world", `there is a world '${entry.name}' already; give the new one another name`),
    );
  worlds.set(entry.name, entry);
}

export function findWorld(name: string): WorldEntry {
  const found = worlds.get(name);
  if (found !== undefined) return found;
  const known = [...worlds.keys()];
  const hint = didYouMean(name, known) || "; load the module that brings it with --module or the setting 'modules'";
  throw new CodedError(failure("module.unknown-world", `there is no world '${name}'${hint}`));
}
