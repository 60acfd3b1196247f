/** `coxswain doctor`: what this machine offers, what is missing, and what to do about it. */

import { isAbsolute, join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { createColors } from "picocolors";
import type { Check, Finding } from "../doctor/finding.ts";
import { hasColour, printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples, openSession, withSettings } from "./common.ts";

export const doctorCommand = (shell: Shell) =>
  withSettings(new Command("doctor").description("say what this machine offers, what is missing, and what to do"))
    .addHelpText(
      "after",
      examples(["coxswain doctor --json", "the same for scripts; exit code 1 when something is bad"]),
    )
    .action(async (options) => {
      const { config } = openSession(shell, options);
      const runtime = await import("../doctor/runtime-checks.ts");
      const outside = await import("../doctor/outside-checks.ts");
      const data = isAbsolute(config.data) ? config.data : join(shell.cwd, config.data);
      const checks: readonly Check[] = [
        runtime.nodeCheck,
        runtime.coresCheck,
        runtime.memoryCheck,
        runtime.kernelsCheck(config.runtime.kernels),
        runtime.threadsCheck,
        runtime.duckdbCheck,
        runtime.diskCheck(data),
        outside.cgroupsCheck,
        outside.pythonCheck,
        outside.torchCheck,
        ...outside.programChecks,
      ];
      const findings = await Promise.all(checks.map(async (check) => check()));
      const isBad = findings.some((finding) => finding.status === "bad");
      if (isBad) shell.exitWith(1);
      if (options.json) return printJson(shell, { ok: !isBad, findings });
      printFindings(shell, findings);
    });

function printFindings(shell: Shell, findings: readonly Finding[]): void {
  const colours = createColors(hasColour(shell, shell.stdout));
  const mark = { ok: colours.green("ok"), absent: colours.dim("absent"), bad: colours.red("bad") };
  const rows = findings.map((finding) => [mark[finding.status], finding.what, finding.found]);
  printLine(
    shell,
    renderTable([{ head: "" }, { head: "what" }, { head: "found" }], rows, { maxWidth: shell.stdout.columns }),
  );
  const advised = findings.filter((finding) => finding.advice !== undefined);
  if (advised.length === 0) return;
  printLine(shell, "\nWhat to do:");
  for (const { what, advice } of advised) printLine(shell, `  ${what}: ${advice}`);
}
