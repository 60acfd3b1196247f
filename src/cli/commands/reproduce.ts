/** `coxswain reproduce`: runs studies and prints their rows next to the papers' figures. */

import { isAbsolute, join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { requireWritable } from "../../adapters/runtime/index.ts";
import { usageError } from "../failures.ts";
import { gitCommit, hasChanges, shortCommit } from "../package-info.ts";
import { note, printJson, printLine, type Shell } from "../shell.ts";
import { renderTable } from "../table.ts";
import { examples, openSession, withSettings } from "./common.ts";
import { wholeNumber, wholeNumberOrZero } from "./numbers.ts";
import { queueAccess, withQueueAccess } from "./queue-access.ts";

export const reproduceCommand = (shell: Shell) =>
  withQueueAccess(
    withSettings(
      new Command("reproduce").description("run a paper's experiment and print it next to the paper's figures"),
    ),
  )
    .argument("[study]", "which one; --list names them")
    .option("--all", "run every study")
    .option("--list", "list the studies and stop")
    .option("--quick", "a small but real run: at most a minute on two cores")
    .option("--seeds <n>", "how many seeds", wholeNumber)
    .option("--first-seed <k>", "the first of them: seeds k, k+1, … (default: the study's own, else 1)", wholeNumber)
    .option("--out <dir>", "write the table, the numbers and the plots into this folder")
    .option("--workers <n>", "worker threads; 0 means one per core", wholeNumberOrZero)
    .option("--queue <url>", "offer the jobs to every `coxswain worker` of this NATS server, too")
    .option("--fresh", "run jobs again that an earlier run finished")
    .option("--module <file...>", "load further studies from modules that export a list called 'studies'")
    .addHelpText(
      "after",
      examples(
        ["coxswain reproduce --list", "what there is"],
        ["coxswain reproduce rl-cartpole --quick", "first numbers within a minute"],
        ["coxswain reproduce rl-cartpole --out docs/results", "the published run, with table and plots"],
        ["coxswain reproduce rl-cartpole --queue nats://127.0.0.1:4222", "the same with other machines' help"],
        ["coxswain reproduce rl-cartpole --first-seed 501", "the same on other seeds, 501 to 510"],
      ),
    )
    .addHelpText(
      "after",
      "\nFinished jobs are kept: a run that was stopped goes on where it was. Exit code 3: it ran, and a promise is not kept or a\npaper's figure is not reproduced.",
    )
    .action(async (id, options) => {
      const { session, config } = openSession(shell, options, [
        { path: ["runtime", "workers"], flag: "--workers", value: options.workers },
      ]);
      const { findStudy, loadStudies } = await import("../studies/load-studies.ts");
      const absolute = (path: string) => (isAbsolute(path) ? path : join(shell.cwd, path));
      const modules = (options.module ?? []).map(absolute);
      const all = await loadStudies(modules);
      if (options.list) {
        const listed = all.map(({ id, title, about, world, seeds }) => ({ id, title, about, world, seeds }));
        if (options.json) return printJson(shell, listed);
        const rows = listed.map((study) => [study.id, study.title, study.world, `${study.seeds.full}`]);
        return printLine(
          shell,
          renderTable([{ head: "study" }, { head: "title" }, { head: "world" }, { head: "seeds" }], rows),
        );
      }
      if ((options.all === true) === (id !== undefined)) {
        throw usageError(
          id === undefined ? "which study? name one, or give --all" : `name a study or give --all, not both ('${id}')`,
          "coxswain reproduce --list names them",
        );
      }
      const chosen = id === undefined ? all : [findStudy(all, id)];
      const { runStudy } = await import("../studies/run-study.ts");
      const { reportTable, writeReport } = await import("../studies/report.ts");
      const out = options.out === undefined ? undefined : absolute(options.out);
      // A study takes minutes to hours, and its table is written at the end.
      if (out !== undefined) requireWritable(out);
      const commit = gitCommit();
      if (out !== undefined && hasChanges(commit)) {
        note(
          shell,
          `the tree has uncommitted changes; results will be marked ${shortCommit(commit)}, so commit first to publish them`,
        );
      }
      const reports = [];
      for (const study of chosen) {
        const { report, figures } = await runStudy(session, {
          study,
          quick: options.quick ?? false,
          seeds: options.seeds,
          firstSeed: options.firstSeed,
          setup: { modules, kernels: config.runtime.kernels },
          workers: config.runtime.workers,
          data: absolute(config.data),
          fresh: options.fresh ?? false,
          queue: options.queue === undefined ? undefined : queueAccess(shell, options.queue, options),
        });
        reports.push(report);
        if (!options.json)
          printLine(
            shell,
            `${reports.length > 1 ? "\n" : ""}${reportTable(report, { maxWidth: shell.stdout.columns })}`,
          );
        if (out !== undefined) {
          for (const file of await writeReport({ study, report, figures, folder: out })) note(shell, `wrote ${file}`);
        }
      }
      if (options.json) printJson(shell, id === undefined ? reports : reports[0]);
      if (reports.some((report) => report.rows.some((row) => row.holds === false))) shell.exitWith(3);
    });
