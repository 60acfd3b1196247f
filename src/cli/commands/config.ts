/** `coxswain config print|schema|profile` */

import { Command } from "@commander-js/extra-typings";
import {
  asYaml,
  configSchema,
  jsonSchemaOf,
  loadProfiles,
  profileSchema,
  profileYaml,
  redacted,
  shownSettings,
} from "../config/index.ts";
import { printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples, openSession, withJson, withSettings } from "./common.ts";

export const configCommand = (shell: Shell) =>
  new Command("config")
    .description("show the settings in force or every setting there is; check profiles of workloads")
    .addCommand(printCommand(shell))
    .addCommand(schemaCommand(shell))
    .addCommand(profileCommand(shell))
    .addHelpText(
      "after",
      examples(
        ["coxswain config print --show-origin", "each setting and the flag, variable or file:line it came from"],
        ["coxswain config schema > coxswain.schema.json", "for an editor that completes and checks YAML"],
        ["coxswain config profile shop.yaml", "whether a workload's profile can be used, and what it means"],
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
  withJson(new Command("schema").description("print the JSON Schema of the settings"))
    .option("--profile", "of a workload's profile instead")
    .action(({ profile }) => printJson(shell, jsonSchemaOf(profile ? profileSchema : configSchema)));

const profileCommand = (shell: Shell) =>
  withJson(new Command("profile").description("check profiles of workloads, and print them with all defaults"))
    .argument("<files...>", "YAML files, one workload each")
    .action((files, options) => {
      const loaded = loadProfiles(files, shell.cwd);
      if (options.json) return printJson(shell, loaded);
      for (const { file, profile } of loaded) printLine(shell, `# ${file}\n${profileYaml(profile).trimEnd()}`);
    });
