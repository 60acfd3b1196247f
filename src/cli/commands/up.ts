/** `coxswain up` (and `npm start`): the whole control plane on this machine, against a simulated cluster. */

import { Command, Option } from "@commander-js/extra-typings";
import type { Config } from "../config/index.ts";
import { usageError } from "../failures.ts";
import { isForPeople } from "../log.ts";
import { modulePaths } from "../modules/load-modules.ts";
import { printJson, printLine, type Shell } from "../shell.ts";
import { examples, moduleFlag, openSession, withModules, withSettings } from "./common.ts";
import { portNumber, positiveNumber, wholeNumberOrZero, wholeNumberUpTo } from "./numbers.ts";

/** Each has an agent, and all of them run and train on this one machine. */
const MOST_WORKLOADS = 100;

const APPLICATIONS = ["hotel-reservation", "media", "social-network", "train-ticket"];

/** A port that somebody chose and cannot have is a reason to stop; one of the usual ones is not. */
const portOf = (flag: number | undefined, { set, usual }: { readonly set: number; readonly usual: number }) => ({
  port: flag ?? set,
  isChosen: flag !== undefined || set !== usual,
});

/** Targets of a file are all that is managed then, and a world of a module has its own. */
function targetsFor({ targets, world }: Pick<Config, "targets" | "world">, workloads: number | undefined) {
  if (world !== "" && (targets.length > 0 || workloads !== undefined))
    throw usageError(`the world '${world}' has workloads of its own`, "leave out 'targets' and --workloads");
  if (targets.length > 0 && workloads !== undefined)
    throw usageError("--workloads does not go with the targets of a settings file", "leave one of the two out");
  return targets;
}

export const upCommand = (shell: Shell) =>
  withModules(
    withSettings(new Command("up").description("the control plane and its dashboard, against a simulated cluster")),
  )
    .option(
      "--data <folder>",
      "where it is kept between runs; ':memory:' keeps nothing (default: the user's state folder)",
    )
    .option("--port <n>", "port of the API and the dashboard; 0 takes one that is free", portNumber, 7070)
    .option("--host <address>", "address to bind; any but loopback needs --token-file", "127.0.0.1")
    .option("--token-file <file>", "who may ask, and who may send spans: lines of 'viewer|operator|sender name secret'")
    .option("--duration <seconds>", "end by itself after this long, with a summary", positiveNumber)
    .option("--speed <n>", "how many times faster than the wall the cluster's time passes", positiveNumber, 180)
    .option(
      "--workloads <n>",
      `how many, 1 to ${MOST_WORKLOADS}; beyond four they are drawn by the seed (default: as before, or four)`,
      wholeNumberUpTo(MOST_WORKLOADS),
    )
    .addOption(
      new Option(
        "--demo <name>",
        "what is simulated: pods of a cluster, or twelve functions of a serverless platform, some of which come and go (give each its own --data)",
      )
        .choices(["pods", "functions"] as const)
        .default("pods" as const),
    )
    .option(
      "--bootstrap",
      "with --demo functions: policies that do not act go on learning in simulators fitted to their functions",
    )
    .addOption(
      new Option(
        "--twin <rules>",
        "who acts in the twin: the workload's tuned HPA and VPA, or an HPA at 80 % with requests as written (default: the setting twin)",
      ).choices(["tuned", "typical"] as const),
    )
    .option(
      "--shared-model <folder>",
      "what `coxswain pretrain` left: agents begin with its policy, and the map shows its applications",
    )
    .option(
      "--otlp-http-port <n>",
      "port for spans over HTTP (default: 4318, or the setting otlp.httpPort)",
      portNumber,
    )
    .option(
      "--otlp-grpc-port <n>",
      "port for spans over gRPC (default: 4317, or the setting otlp.grpcPort)",
      portNumber,
    )
    .option("--no-otlp", "take no spans")
    .addOption(
      new Option("--application <name>", "the application of many services that is simulated and sends its spans")
        .choices([...APPLICATIONS, "none"])
        .default("hotel-reservation"),
    )
    .option("--seed <n>", "another seed, another cluster", wholeNumberOrZero, 1)
    .addHelpText(
      "after",
      examples(
        ["coxswain up", "four workloads, their agents, and the same workloads under HPA+VPA alone"],
        ["coxswain up --duration 120", "two minutes of it, then a table"],
        ["coxswain up --workloads 50", "four and 46 more, with loads and SLOs of their own"],
        ["coxswain up --config examples/own-workloads.yaml", "workloads of your own, with your SLOs and bounds"],
        ["coxswain up --otlp-http-port 14318 --otlp-grpc-port 14317", "where a collector has the usual ports"],
        ["coxswain up --twin typical", "beside an HPA as most clusters have it, not tuned rules"],
        ["coxswain up --demo functions --data :memory:", "serverless functions beside a twin under ENSURE"],
        ["coxswain up --data :memory:", "begin afresh and keep nothing"],
      ),
    )
    .action(async (options) => {
      const { session, config } = openSession(shell, options, [moduleFlag(options)]);
      if (config.world !== "" && options.twin !== undefined)
        throw usageError(`the world '${config.world}' says itself whether it has a twin`, "leave out --twin");
      if (options.bootstrap && options.demo !== "functions")
        throw usageError("--bootstrap is for functions", "add --demo functions, or leave out --bootstrap");
      const { runUp } = await import("../up/run-up.ts");
      const { host, httpPort, grpcPort } = config.otlp;
      const summary = await runUp(session, {
        ...options,
        otlp: options.otlp
          ? {
              host,
              http: portOf(options.otlpHttpPort, { set: httpPort, usual: 4318 }),
              grpc: portOf(options.otlpGrpcPort, { set: grpcPort, usual: 4317 }),
            }
          : null,
        world: config.world,
        targets: targetsFor(config, options.workloads),
        application: options.application === "none" ? null : options.application,
        twin: options.twin ?? (config.twin === "as-before" ? null : config.twin),
        requests: Object.fromEntries(Object.entries(config.requests).map(([name, { sloMs }]) => [name, sloMs])),
        sharedModel: options.sharedModel ?? (config.agents.sharedModel || undefined),
        kernels: config.runtime.kernels,
        workers: config.runtime.workers,
        store: config.store,
        modules: modulePaths(shell, config.modules),
        isQuiet: options.json ?? false,
        isForPeople: isForPeople(config.log.format, shell.stdout),
      });
      if (options.json) printJson(shell, summary);
      else printLine(shell, summary.table);
    });
