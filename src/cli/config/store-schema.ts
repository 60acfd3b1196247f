/**
 * Settings of the trajectory store: where agents' records are kept.
 * Owns: the keys and the rules between them. Not here: opening a store (cli/store).
 *
 * The secret never stands in the file: it comes from a file of its own or from the environment (load.ts refuses it else).
 */
import { z } from "zod";
import { SECRET } from "./leaves.ts";

export const storeSchema = z
  .strictObject({
    kind: z
      .enum(["embedded", "influxdb", "remote"])
      .default("embedded")
      .describe(
        "embedded: a DuckDB file in the data folder; remote: another process's, served by `coxswain store serve`",
      ),
    url: z.string().default("").describe("address of InfluxDB or of the remote store, such as http://127.0.0.1:8086"),
    secretFile: z
      .string()
      .default("")
      .describe("file that holds InfluxDB's token (version 2) or password (version 1), or the remote store's token"),
    secret: z
      .string()
      .min(1)
      .optional()
      .describe("the same by its environment variable; it may not stand in a settings file")
      .meta(SECRET),
    timeoutSeconds: z.number().min(0.1).max(600).default(30).describe("how long one call may take"),
    influxdb: z
      .strictObject({
        version: z.int().min(1).max(2).default(2).describe("1 or 2"),
        organisation: z.string().default("").describe("of version 2"),
        bucket: z.string().default("").describe("of version 2; it must be there, and hold nothing else"),
        database: z.string().default("").describe("of version 1; made when it is missing"),
        user: z.string().default("").describe("of version 1; empty where InfluxDB asks for none"),
      })
      .prefault({}),
  })
  .superRefine((store, context) => {
    const need = (path: readonly string[], message: string): void =>
      context.addIssue({ code: "custom", path: [...path], message });
    if (store.kind === "embedded") return;
    if (!isHttpUrl(store.url)) need(["url"], `must be an http address where 'kind' is ${store.kind}`);
    if (store.secret !== undefined && store.secretFile !== "")
      need(["secretFile"], "must be empty where the environment has the secret; keep one of the two");
    if (store.kind === "remote") return;
    const { version, organisation, bucket, database } = store.influxdb;
    if (version === 1 && database === "") need(["influxdb", "database"], "must be named for version 1");
    if (version === 2 && organisation === "") need(["influxdb", "organisation"], "must be named for version 2");
    if (version === 2 && bucket === "") need(["influxdb", "bucket"], "must be named for version 2");
  });

export type StoreConfig = z.output<typeof storeSchema>;

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
