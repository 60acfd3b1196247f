/** `coxswain env list|serve`: the environments that can be named, and playing them from another process. */

import { Command } from "@commander-js/extra-typings";
import { knownEnvs, knownFleets } from "../environments/catalog.ts";
import { loadModules, modulePaths } from "../modules/load-modules.ts";
import { printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples, moduleFlag, openSession, withModules, withSettings } from "./common.ts";
import { portNumber, wholeNumber } from "./numbers.ts";

export const envCommand = (shell: Shell) =>
  new Command("env")
    .description("list the environments, or serve them to agents in other processes and languages")
    .addCommand(listCommand(shell))
    .addCommand(serveCommand(shell))
    .addHelpText(
      "after",
      examples(
        ["coxswain env list", "the ids that train, evaluate and env serve take"],
        ["coxswain env serve", "all of them over gRPC, on loopback"],
      ),
    );

const listCommand = (shell: Shell) =>
  withModules(withSettings(new Command("list").description("list the environments by their ids"))).action(
    async (options) => {
      const { config } = openSession(shell, options, [moduleFlag(options)]);
      await loadModules(modulePaths(shell, config.modules));
      const known = [...knownEnvs(), ...knownFleets()];
      if (options.json) return printJson(shell, known);
      const rows = known.map(({ id, about }) => [id, about]);
      printLine(shell, renderTable([{ head: "environment" }, { head: "what it is" }], rows));
    },
  );

const serveCommand = (shell: Shell) =>
  withModules(withSettings(new Command("serve").description("serve environments over gRPC, until it is stopped")))
    .option("--port <n>", "port to listen on; 0 takes one that is free", portNumber, 7071)
    .option(
      "--call-port <n>",
      "port for calls over HTTP/1.1 too, as clients/python makes; 0 takes a free one",
      portNumber,
    )
    .option("--host <address>", "address to bind; any but loopback needs --token-file", "127.0.0.1")
    .option("--token-file <file>", "who may play: lines of 'player name secret'")
    .option("--max-sessions <n>", "sessions kept at a time", wholeNumber, 64)
    .addHelpText(
      "after",
      examples(
        ["coxswain env serve", "on 127.0.0.1:7071, for agents of this machine"],
        ["coxswain env serve --host 0.0.0.0 --token-file tokens", "for others, who send a token"],
      ),
    )
    .action(async (options) => {
      const { session, config } = openSession(shell, options, [moduleFlag(options)]);
      await loadModules(modulePaths(shell, config.modules));
      const { runEnvServer } = await import("../environments/run-env-server.ts");
      await runEnvServer(session, options);
    });
