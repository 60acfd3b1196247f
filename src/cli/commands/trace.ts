/** `coxswain trace critical-path|localize`: what requests were waiting for, and who is to blame, from recorded traces. */

import { isAbsolute, join } from "node:path";
import { Command, Option } from "@commander-js/extra-typings";
import { createProgress } from "../progress.ts";
import { printJson, type Shell } from "../shell.ts";
import { examples, withJson } from "./common.ts";
import { shareFromZeroToOne } from "./numbers.ts";

const FORMATS = ["otlp", "jaeger", "zipkin"] as const;

export const traceCommand = (shell: Shell) =>
  new Command("trace")
    .description("say from recorded traces what requests were waiting for, and who is to blame")
    .addCommand(criticalPathCommand(shell))
    .addCommand(localizeCommand(shell))
    .addHelpText(
      "after",
      examples(
        ["coxswain trace critical-path traces.json", "the critical paths of each request type in a file"],
        ["coxswain trace localize slow.json --normal before.json", "which instance made requests slow"],
      ),
    );

const criticalPathCommand = (shell: Shell) =>
  withJson(new Command("critical-path").description("print the critical paths of each request type, and one request's"))
    .argument("<files...>", "traces as JSON or protobuf, also gzipped; an http address; - for standard input")
    .addOption(new Option("--format <format>", "what the files are (else it is seen)").choices(FORMATS))
    .option("--printed", "Algorithm 3.1 as the dissertation prints it, instead of the corrected one")
    .option("--trace <id>", "the trace to show as a timeline (else the slowest)")
    .addHelpText(
      "after",
      examples(
        ["coxswain trace critical-path traces.json", "of OTLP, Jaeger or Zipkin: it is seen which"],
        ["coxswain trace critical-path a.json b.json --json", "several files as one, for scripts"],
        ["coxswain trace critical-path 'http://jaeger:16686/api/traces?service=shop'", "straight from Jaeger"],
      ),
    )
    .action(async (files, options) => {
      const { criticalPaths } = await import("../tracing/critical-paths.ts");
      const { printPaths } = await import("../tracing/print-paths.ts");
      const progress = createProgress(shell, "trace");
      const report = await criticalPaths({
        files: files.map((file) => placeOf(shell, file)),
        format: options.format,
        isPrinted: options.printed ?? false,
        traceId: options.trace,
        signal: shell.signal,
        onProgress: (fraction, note) => progress.update({ fraction, note }),
      }).finally(() => progress.clear());
      if (options.json) printJson(shell, report);
      else printPaths(shell, report);
    });

const localizeCommand = (shell: Shell) =>
  withJson(new Command("localize").description("rank the instances that may be why requests are slow"))
    .argument("<files...>", "traces as JSON or protobuf, also gzipped; an http address; - for standard input")
    .addOption(new Option("--format <format>", "what the files are (else it is seen)").choices(FORMATS))
    .option("--normal <files...>", "traces of normal times, to tell what is slower than it was")
    .option("--model <file>", "a trained localizer (else ranked by the two features of Algorithm 3.2 alone)")
    .option("--threshold <score>", "from which score on an instance is a culprit", shareFromZeroToOne)
    .addHelpText(
      "after",
      examples(
        ["coxswain trace localize slow.json", "by how instances vary with their requests"],
        ["coxswain trace localize slow.json --normal before.json --json", "against normal times, for scripts"],
      ),
    )
    .action(async (files, options) => {
      const { localize } = await import("../tracing/localize.ts");
      const { printSuspects } = await import("../tracing/print-suspects.ts");
      const progress = createProgress(shell, "trace");
      const report = await localize({
        files: files.map((file) => placeOf(shell, file)),
        normal: (options.normal ?? []).map((file) => placeOf(shell, file)),
        model: options.model === undefined ? undefined : placeOf(shell, options.model),
        threshold: options.threshold,
        format: options.format,
        signal: shell.signal,
        onProgress: (fraction, note) => progress.update({ fraction, note }),
      }).finally(() => progress.clear());
      if (options.json) printJson(shell, report);
      else printSuspects(shell, report);
    });

const placeOf = (shell: Shell, file: string): string =>
  isAbsolute(file) || isElsewhere(file) ? file : join(shell.cwd, file);

const isElsewhere = (file: string): boolean => file === "-" || /^https?:\/\//.test(file);
