/** A module that the user names by its path, and one sentence for one that cannot be loaded. */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { CodedError, failure } from "../../base/index.ts";

/** `file` is absolute. */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  if (!existsSync(file))
    throw new CodedError(failure("file.missing", `the module ${file} does not exist; check the path`));
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new CodedError(failure("module.unloadable", `${file} cannot be loaded as a module: ${why}`, { cause }));
  }
}
