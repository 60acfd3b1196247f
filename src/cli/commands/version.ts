/** `coxswain version` */

import { Command } from "@commander-js/extra-typings";
import { cpuModel, gitCommit, packageVersion, shortCommit } from "../package-info.ts";
import { printJson, printLine, type Shell } from "../shell.ts";
import { withJson } from "./common.ts";

export const versionCommand = (shell: Shell) =>
  withJson(new Command("version").description("print the version, the commit and the runtime")).action((options) => {
    const facts = { version: packageVersion(), commit: gitCommit(), node: process.version, cpu: cpuModel() };
    if (options.json) return printJson(shell, facts);
    printLine(shell, `coxswain ${facts.version} (commit ${shortCommit(facts.commit)}, Node ${facts.node})`);
  });
