/** The configuration for reading: every setting, where it came from, and nothing that is secret. */

import { stringify } from "yaml";
import { type LoadedConfig, originText, valueAt } from "./load.ts";

const HIDDEN = "[redacted]";

export interface ShownSetting {
  readonly setting: string;
  readonly value: unknown;
  readonly origin: string;
}

export function shownSettings<T>({ config, origins, leaves }: LoadedConfig<T>): readonly ShownSetting[] {
  return leaves.map((leaf) => {
    const setting = leaf.path.join(".");
    const value = valueAt(config, leaf.path);
    const origin = origins.get(setting);
    return {
      setting,
      value: leaf.isSecret && value !== undefined ? HIDDEN : value,
      origin: origin ? originText(origin) : "default",
    };
  });
}

/** The whole configuration with secrets replaced, as a plain object. */
export function redacted<T>(loaded: LoadedConfig<T>): unknown {
  const copy = structuredClone(loaded.config) as Record<string, unknown>;
  for (const leaf of loaded.leaves) {
    if (!leaf.isSecret || valueAt(copy, leaf.path) === undefined) continue;
    const parent = valueAt(copy, leaf.path.slice(0, -1)) as Record<string, unknown>;
    parent[leaf.path[leaf.path.length - 1] as string] = HIDDEN;
  }
  return copy;
}

export function asYaml(value: unknown): string {
  return stringify(value);
}
