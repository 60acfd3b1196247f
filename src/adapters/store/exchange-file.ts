/** What exports and imports of every format share: a file appears under its name only when it is complete. */

import { rename, rm, stat } from "node:fs/promises";
import { CodedError, failure } from "../../base/index.ts";
import { storeFailure } from "./duckdb-errors.ts";

/** Records per append of an import. */
export const IMPORT_BATCH = 8_192;

export async function writeWhole(path: string, write: (part: string) => Promise<number>): Promise<number> {
  const part = `${path}.part`;
  try {
    const written = await write(part);
    await rename(part, path);
    return written;
  } catch (thrown) {
    await rm(part, { force: true });
    throw storeFailure(thrown, { path, doing: "export to" });
  }
}

export async function checkImportable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return;
  throw new CodedError(failure("store.path", `there is no file ${path} to import; check the path`));
}
