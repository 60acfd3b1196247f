/**
 * `coxswain store export|import`: a store's records to and from a file, by the file's ending.
 * Owns: which format that is, and opening the store. Not here: the formats (adapters/store).
 */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { exportJsonl, exportParquet, importJsonl, importParquet, openDuckdbStore } from "../../adapters/store/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import { usageError } from "../failures.ts";
import { printJson, printLine, type Shell } from "../shell.ts";

export interface Exchange {
  /** The DuckDB file. */
  readonly store: string;
  /** Ends in .parquet or .jsonl. */
  readonly file: string;
  readonly json?: boolean | undefined;
}

type Way = (store: TrajectoryStore, path: string) => Promise<number>;
type Direction = "export" | "import";

const formats: Readonly<Record<string, Readonly<Record<Direction, Way>>>> = {
  ".parquet": { export: exportParquet, import: importParquet },
  ".jsonl": { export: exportJsonl, import: importJsonl },
};

export async function exchangeStore(shell: Shell, direction: Direction, exchange: Exchange): Promise<void> {
  const file = resolve(shell.cwd, exchange.file);
  const way = formats[extname(file)]?.[direction];
  if (way === undefined) throw usageError(`${exchange.file} ends in neither .parquet nor .jsonl`, "name it so");
  const path = resolve(shell.cwd, exchange.store);
  // A store is made where there is none, which is right for the one that is filled and wrong for the one that is read.
  const source = direction === "export" ? path : file;
  if (!existsSync(source)) throw new CodedError(failure("file.missing", `${source} does not exist; check the path`));
  const store = await openDuckdbStore({ path });
  try {
    const records = await way(store, file);
    if (exchange.json) printJson(shell, { file, records });
    else
      printLine(shell, `${records} records ${direction === "export" ? `written to ${file}` : "were new to the store"}`);
  } finally {
    await store.close();
  }
}
