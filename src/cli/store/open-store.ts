/**
 * The trajectory store that the settings choose.
 * Owns: from settings to a choice that crosses to the plane's thread, and from the choice to an open store.
 * Not here: the stores (adapters/store), the settings' schema (cli/config).
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  connectStore,
  type InfluxStoreOptions,
  memoryStore,
  openDuckdbStore,
  openInfluxStore,
  type RemoteStoreOptions,
} from "../../adapters/store/index.ts";
import { CodedError, err, failure, failureOf, ok, type Result, seconds } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import type { StoreConfig } from "../config/index.ts";
import { usageError } from "../failures.ts";
import type { Shell } from "../shell.ts";

/** Plain data, with its secret: for threads of this process, never for a log or a document. */
export type StoreChoice =
  | { readonly kind: "embedded" }
  | { readonly kind: "influxdb"; readonly options: InfluxStoreOptions }
  | { readonly kind: "remote"; readonly options: RemoteStoreOptions };

export interface OpenedStore {
  readonly store: TrajectoryStore;
  /** Records beyond which the oldest are forgotten by this process. Elsewhere the owner decides that. */
  readonly mostRecords: number;
}

export const EMBEDDED_RECORDS = 500_000;
const MEMORY_RECORDS = 50_000;

/** Reads the secret, so that a file that is not there is said before anything begins. */
export function storeChoice(shell: Pick<Shell, "cwd">, config: StoreConfig): StoreChoice {
  const { kind, url, influxdb } = config;
  if (kind === "embedded") return { kind };
  const secret = config.secret ?? secretIn(shell, config.secretFile);
  const timeout = seconds(config.timeoutSeconds);
  if (kind === "remote")
    return { kind, options: secret === undefined ? { url, timeout } : { url, timeout, token: secret } };
  const { version, organisation, bucket, database, user } = influxdb;
  if (version === 2) {
    if (secret === undefined)
      throw usageError(
        "the store is InfluxDB 2, which needs a token",
        "name its file in store.secretFile, or set COXSWAIN_STORE_SECRET",
      );
    return { kind, options: { version, url, timeout, organisation, bucket, token: secret } };
  }
  const named = user === "" ? {} : { user, password: secret ?? "" };
  return { kind, options: { version: 1, url, timeout, database, ...named } };
}

function secretIn({ cwd }: Pick<Shell, "cwd">, file: string): string | undefined {
  if (file === "") return undefined;
  try {
    return readFileSync(resolve(cwd, file), "utf8").trim();
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? cause.code : "unreadable";
    throw new CodedError(
      failure("store.secret-file", `the store's secret in ${file} cannot be read (${why}); check store.secretFile`, {
        cause,
      }),
    );
  }
}

/** `folder`: the data folder; null keeps the embedded store's records in memory. */
export async function openStore(choice: StoreChoice, folder: string | null): Promise<Result<OpenedStore>> {
  try {
    switch (choice.kind) {
      case "embedded":
        if (folder === null) return ok({ store: memoryStore(), mostRecords: MEMORY_RECORDS });
        return ok({
          store: await openDuckdbStore({ path: join(folder, "trajectories.duckdb") }),
          mostRecords: EMBEDDED_RECORDS,
        });
      case "influxdb":
        return ok({ store: await openInfluxStore(choice.options), mostRecords: Number.POSITIVE_INFINITY });
      case "remote": {
        const store = connectStore(choice.options);
        // Nothing was asked yet: an owner that is not there is to be said now and not with the first record.
        await store.counts();
        return ok({ store, mostRecords: Number.POSITIVE_INFINITY });
      }
    }
  } catch (thrown) {
    const known = failureOf(thrown);
    if (known) return err(known);
    throw thrown;
  }
}
