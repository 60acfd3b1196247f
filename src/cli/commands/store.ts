/** `coxswain store serve|export|import`: a trajectory store for several processes of this machine, and files of it. */

import { Command } from "@commander-js/extra-typings";
import type { Shell } from "../shell.ts";
import { examples, openSession, withJson, withSettings } from "./common.ts";
import { portNumber, wholeNumber } from "./numbers.ts";

export const storeCommand = (shell: Shell) =>
  new Command("store")
    .description("share a trajectory store, or exchange its records with files")
    .addCommand(serveCommand(shell))
    .addCommand(exchangeCommand(shell, "export"))
    .addCommand(exchangeCommand(shell, "import"))
    .addHelpText(
      "after",
      examples(
        ["coxswain store export state/trajectories.duckdb steps.parquet", "for notebooks, or another version"],
        ["coxswain store import steps.parquet new.duckdb", "what the store has already is not stored twice"],
      ),
    );

const TEXTS = {
  export: { about: "write a store's records to a file", from: "DuckDB file", to: "ends in .parquet or .jsonl" },
  import: { about: "add a file's records to a store", from: "ends in .parquet or .jsonl", to: "DuckDB file" },
} as const;

const exchangeCommand = (shell: Shell, direction: "export" | "import") =>
  withJson(new Command(direction).description(TEXTS[direction].about))
    .argument("<from>", TEXTS[direction].from)
    .argument("<to>", TEXTS[direction].to)
    .action(async (from, to, options) => {
      const { exchangeStore } = await import("../store/exchange-store.ts");
      const [store, file] = direction === "export" ? [from, to] : [to, from];
      await exchangeStore(shell, direction, { store, file, json: options.json });
    });

const serveCommand = (shell: Shell) =>
  withSettings(
    new Command("serve").description(
      "serve a trajectory store to other processes of this machine, until it is stopped",
    ),
  )
    .argument("<file>", "DuckDB file; made when it is missing")
    .option("--port <n>", "port on 127.0.0.1; 0 takes one that is free", portNumber, 7072)
    .option("--max-records <n>", "records beyond which the oldest episodes are forgotten", wholeNumber, 5_000_000)
    .addHelpText(
      "after",
      examples(
        ["coxswain store serve trajectories.duckdb", "on 127.0.0.1:7072"],
        ["coxswain up --config shared.yaml", "with 'store: { kind: remote, url: http://127.0.0.1:7072 }' in it"],
      ),
    )
    .action(async (file, options) => {
      const { session } = openSession(shell, options);
      const { runStoreServer } = await import("../store/run-store-server.ts");
      await runStoreServer(session, { ...options, file });
    });
