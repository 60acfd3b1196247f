/** `coxswain config print|schema` */

import { Command } from "@commander-js/extra-typings";
import { asYaml, configSchema, jsonSchemaOf, redacted, shownSettings } from "../config/index.ts";
import { printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples, openSession, withJson, withSettings } from "./common.ts";

export const configCommand = (shell: Shell) =>
  new Command("config")
    .description("show the settings in force, or every setting there is")
    .addCommand(printCommand(shell))
    .addCommand(schemaCommand(shell))
    .addHelpText(
      "after",
      examples(
        ["coxswain config print --show-origin", "each setting and the flag, variable or file:line it came from"],
        ["coxswain config schema > coxswain.schema.json", "for an editor that completes and checks YAML"],
      ),
    );

const printCommand = (shell: Shell) =>
  withSettings(new Command("print").description("print the settings in force; secrets are hidden"))
    .option("--show-origin", "say where each value came from")
    .action((options) => {
      const { loaded } = openSession(shell, options);
      const settings = shownSettings(loaded);
      if (options.json) {
        return printJson(shell, options.showOrigin ? { file: loaded.file ?? null, settings } : redacted(loaded));
      }
      if (!options.showOrigin) return printLine(shell, asYaml(redacted(loaded)).trimEnd());
      const rows = settings.map(({ setting, value, origin }) => [setting, JSON.stringify(value) ?? "unset", origin]);
      printLine(shell, renderTable([{ head: "setting" }, { head: "value" }, { head: "origin" }], rows));
    });

const schemaCommand = (shell: Shell) =>
  withJson(new Command("schema").description("print the JSON Schema of the settings")).action(() =>
    printJson(shell, jsonSchemaOf(configSchema)),
  );
