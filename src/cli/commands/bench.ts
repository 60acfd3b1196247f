/** `coxswain bench`: performance figures and their ratios to named peers, measured in the same run. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { packageRoot } from "../../adapters/runtime/index.ts";
import { CodedError, failure } from "../../base/index.ts";
import { note, printJson, printLine, type Session, type Shell } from "../shell.ts";
import { didYouMean } from "../suggest.ts";
import { formatNumber, renderTable } from "../table.ts";
import { examples, openSession, withSettings } from "./common.ts";

/** The part of bench/'s contract that is printed here; bench/ is built beside the sources and loaded by name. */
interface BenchFigure {
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly peer?: string;
  readonly ratio?: number;
  readonly target?: string;
  readonly holds?: boolean;
}

interface BenchReport {
  readonly figures: readonly BenchFigure[];
  readonly absent: readonly string[];
  readonly machine: unknown;
}

interface Bench {
  readonly title: string;
  run(context: {
    readonly quick: boolean;
    readonly setupPeers: boolean;
    readonly signal: AbortSignal;
    log(text: string): void;
  }): Promise<BenchReport>;
}

export async function loadBenches(): Promise<Readonly<Record<string, Bench>>> {
  const entry = join(packageRoot(), "dist", "bench", "index.js");
  if (!existsSync(entry)) return {};
  const { benches } = (await import(entry)) as { benches: Record<string, Bench> };
  return benches;
}

export const benchCommand = (shell: Shell) =>
  withSettings(new Command("bench").description("measure speed against named peers, in one run"))
    .argument("[name]", "which bench; none: all of them")
    .option("--list", "list the benches and stop")
    .option("--quick", "fewer rounds: ends within a minute")
    .option("--setup-peers", "download peers that are missing, such as PyTorch, into the user's cache")
    .addHelpText(
      "after",
      examples(
        ["coxswain bench engine", "training and inference against PyTorch, onnxruntime and C"],
        ["coxswain bench engine --json", "the same as one JSON document"],
      ),
    )
    .action(async (name, options) => {
      const { session } = openSession(shell, options);
      const benches = await loadBenches();
      const names = Object.keys(benches);
      if (options.list) {
        const listed = names.map((id) => ({ id, title: benches[id]?.title ?? "" }));
        if (options.json) return printJson(shell, listed);
        return printLine(
          shell,
          renderTable(
            [{ head: "bench" }, { head: "title" }],
            listed.map((bench) => [bench.id, bench.title]),
          ),
        );
      }
      if (name !== undefined && !Object.hasOwn(benches, name)) {
        const near = didYouMean(name, names) || `; there are ${names.join(", ") || "none in this installation"}`;
        throw new CodedError(failure("usage.unknown-bench", `there is no bench '${name}'${near}`));
      }
      const reports: Record<string, BenchReport> = {};
      for (const id of name === undefined ? names : [name]) {
        const report = await runBench(session, benches[id] as Bench, options);
        reports[id] = report;
        if (!options.json) printReport(shell, benches[id]?.title ?? id, report);
      }
      if (options.json) printJson(shell, name === undefined ? reports : reports[name]);
    });

async function runBench(
  session: Session,
  bench: Bench,
  options: { readonly quick?: true; readonly setupPeers?: true },
): Promise<BenchReport> {
  const report = await bench.run({
    quick: options.quick ?? false,
    setupPeers: options.setupPeers ?? false,
    signal: session.signal,
    log: (text) => note(session, text),
  });
  session.signal.throwIfAborted();
  return report;
}

function printReport(shell: Shell, title: string, report: BenchReport): void {
  const rows = report.figures.map((figure) => [
    figure.what,
    `${formatNumber(figure.value)} ${figure.unit}`,
    figure.peer ?? "",
    figure.ratio === undefined ? "" : `${formatNumber(figure.ratio)}×`,
    figure.target ?? "",
    figure.holds === undefined ? "" : figure.holds ? "yes" : "NO",
  ]);
  printLine(shell, `${title}\n`);
  printLine(
    shell,
    renderTable(
      [
        { head: "what" },
        { head: "value", align: "right" },
        { head: "peer" },
        { head: "ratio", align: "right" },
        { head: "target" },
        { head: "holds" },
      ],
      rows,
      { maxWidth: shell.stdout.columns },
    ),
  );
  for (const missing of report.absent) printLine(shell, `absent: ${missing}`);
  printLine(shell, `\nmachine: ${JSON.stringify(report.machine)}\n`);
}
