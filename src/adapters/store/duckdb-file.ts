/**
 * Opening the database file.
 * Owns: one owner per file, the tables, the schema version check, and the settings that durability rests on.
 *
 * Durability: DuckDB writes a commit to the write-ahead log and calls fsync on it before COMMIT returns, so an
 * acknowledged batch survives SIGKILL and, as far as the disk keeps its word, a power cut. A log entry that was torn by
 * a crash is discarded on the next open; it belongs to a commit that never returned. Large appends go to the database
 * file first and the log refers to them. Checkpoints move the log into the file and swap the header last.
 */

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { DuckDBInstance } from "@duckdb/node-api";
import { CodedError, failure } from "../../base/index.ts";
import { RECORD_SCHEMA, schemaMismatch } from "../../learn/trajectory/index.ts";
import { lockedStore, storeFailure } from "./duckdb-errors.ts";
import { damageInLog } from "./duckdb-log.ts";
import { RECORD_TABLE } from "./duckdb-rows.ts";

export interface OpenFile {
  readonly path: string;
  /** One connection writes, so that a batch is one transaction; reads have their own and see committed data only. */
  readonly writer: DuckDBConnection;
  readonly reader: DuckDBConnection;
  close(): void;
}

// The kernel's file lock does not stop a process from opening its own file twice, and closing either copy would then
// give the lock away. Hence this list; like the lock, it is one per process.
const openHere = new Set<string>();

/** What lies in a file: which kind of store it is, the version of its tables, and the SQL that makes them. */
export interface FileLayout {
  /** For people: "trajectory store". */
  readonly what: string;
  /** The name of its version in `coxswain_meta`. */
  readonly schema: string;
  readonly version: number;
  readonly tables: string;
}

const TRAJECTORIES: FileLayout = {
  what: "trajectory store",
  schema: "trajectory-schema",
  version: RECORD_SCHEMA,
  tables: `CREATE TABLE episodes (key INTEGER NOT NULL, id VARCHAR NOT NULL, agent VARCHAR NOT NULL);
  CREATE TABLE records (${RECORD_TABLE});`,
};

export interface OpenOptions {
  readonly threads: number;
  readonly checkpointMiB: number;
  /** Trajectories unless said. */
  readonly layout?: FileLayout;
}

export async function openFile(path: string, options: OpenOptions): Promise<OpenFile> {
  const { threads, checkpointMiB, layout = TRAJECTORIES } = options;
  const identity = identityOf(path);
  if (openHere.has(identity))
    throw new CodedError(lockedStore({ path, what: layout.what, owner: `this very process (${process.pid})` }));
  const damage = damageInLog(path, layout.what);
  if (damage !== undefined) throw new CodedError(damage);
  openHere.add(identity);
  let instance: DuckDBInstance | undefined;
  try {
    instance = await DuckDBInstance.create(path, {
      threads: String(threads),
      checkpoint_threshold: `${checkpointMiB}MiB`,
      // Nothing is ever loaded from elsewhere: Parquet is built in, and a store must not reach for the network.
      autoinstall_known_extensions: "false",
      autoload_known_extensions: "false",
    });
    const writer = await instance.connect();
    await prepareTables(writer, { path, layout });
    const reader = await instance.connect();
    const opened = instance;
    return {
      path,
      writer,
      reader,
      close: () => {
        reader.closeSync();
        writer.closeSync();
        opened.closeSync();
        openHere.delete(identity);
      },
    };
  } catch (thrown) {
    instance?.closeSync();
    openHere.delete(identity);
    throw storeFailure(thrown, { path, doing: "open", what: layout.what });
  }
}

async function prepareTables(
  connection: DuckDBConnection,
  { path, layout }: { path: string; layout: FileLayout },
): Promise<void> {
  const names = (await connection.runAndReadAll("SELECT table_name FROM duckdb_tables()"))
    .getRowsJS()
    .map((row) => String(row[0]));
  if (names.length === 0) {
    await connection.run(`BEGIN;
      CREATE TABLE coxswain_meta (name VARCHAR NOT NULL, value VARCHAR NOT NULL);
      ${layout.tables}
      INSERT INTO coxswain_meta VALUES ('${layout.schema}', '${layout.version}');
      COMMIT;`);
    return;
  }
  if (!names.includes("coxswain_meta")) {
    throw new CodedError(
      failure(
        "store.schema",
        `${path} is a DuckDB file but not a ${layout.what}; choose another path, its tables were not touched`,
      ),
    );
  }
  const found = await connection.runAndReadAll("SELECT value FROM coxswain_meta WHERE name = $1", [layout.schema]);
  const version = found.getRowsJS()[0]?.[0];
  if (version === String(layout.version)) return;
  if (layout === TRAJECTORIES) throw new CodedError(schemaMismatch(`the ${layout.what} ${path}`, version));
  const text = `${path} is no ${layout.what} of version ${layout.version} (found: ${version ?? "another kind of store"}); choose another path, or use the version that wrote it`;
  throw new CodedError(failure("store.schema", text));
}

/** The same for every spelling of the path, whether or not the file exists yet. */
function identityOf(path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync(absolute);
  const folder = dirname(absolute);
  return existsSync(folder) ? join(realpathSync(folder), basename(absolute)) : absolute;
}
