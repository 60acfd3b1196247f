/** A saved policy over several seeds, without exploration, next to a random one: what it earns, and the table of it. */

import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { CodedError, failure, seededRng, unwrap } from "../../base/index.ts";
import { type EnvConfig, makeVectorEnv } from "../../learn/env/index.ts";
import { actionShapeOf, evaluate, type Learner, openLearner } from "../../learn/rl/index.ts";
import { bootstrap, interquartileMean, mean } from "../../studies/index.ts";
import { loadEnv } from "../environments/catalog.ts";
import { usageError } from "../failures.ts";
import { type KernelChoice, openKernels } from "../kernels.ts";
import { createProgress } from "../progress.ts";
import { printJson, printLine, type Session } from "../shell.ts";
import { formatNumber, renderTable } from "../table.ts";
import { randomReturns } from "./random-policy.ts";
import { RunFolder } from "./run-folder.ts";

export interface EvaluateOptions {
  /** The file that the policy is in. */
  readonly checkpoint: string;
  readonly kernels: KernelChoice;
  readonly task?: string | undefined;
  readonly seeds: number;
  readonly episodes: number;
  readonly json?: boolean | undefined;
}

export async function evaluatePolicy(session: Session, options: EvaluateOptions): Promise<void> {
  const file = isAbsolute(options.checkpoint) ? options.checkpoint : join(session.cwd, options.checkpoint);
  const bytes = new Uint8Array(readFileSync(file));
  const learner = unwrap(openLearner(bytes, openKernels(options.kernels)));
  const { task, taskConfig } = worldOf(dirname(file), options.task);
  await loadEnv(task);
  requireFit(learner, task, taskConfig);
  const { seeds, episodes } = options;
  const progress = createProgress(session, `evaluate on ${task}`);
  const scores: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    scores.push(evaluate(learner, { envId: task, envConfig: taskConfig, episodes, seed }).mean);
    progress.update({ fraction: seed / seeds });
    await new Promise((resolve) => setImmediate(resolve));
    session.signal.throwIfAborted();
  }
  progress.clear();
  const random = Array.from({ length: seeds }, (_, i) =>
    mean(randomReturns({ envId: task, envConfig: taskConfig, episodes, seed: i + 1 })),
  );
  const rng = seededRng(0).fork("evaluate");
  const summary = (values: readonly number[], label: string) => {
    const { estimate, lo, hi } = bootstrap(values, interquartileMean, { rng: rng.fork(label) });
    return { mean: estimate, lo, hi, n: values.length };
  };
  const report = {
    checkpoint: file,
    algorithm: learner.kind,
    task,
    episodesPerSeed: episodes,
    policy: { ...summary(scores, "policy"), perSeed: scores },
    random: { ...summary(random, "random"), perSeed: random },
  };
  if (options.json) return printJson(session, report);
  const row = (name: string, s: { mean: number; lo: number; hi: number }) => [
    name,
    formatNumber(s.mean),
    `[${formatNumber(s.lo)}, ${formatNumber(s.hi)}]`,
  ];
  printLine(session, `${learner.kind} on ${task}: interquartile mean of ${seeds} seeds, ${episodes} episodes each\n`);
  printLine(
    session,
    renderTable(
      [{ head: "policy" }, { head: "return", align: "right" }, { head: "95 % interval" }],
      [row("this one", report.policy), row("random", report.random)],
    ),
  );
}

interface PolicyWorld {
  readonly task: string;
  readonly taskConfig: EnvConfig;
}

/** The environment that it was trained in, as it was made then; or the one that is asked for, as it is by default. */
function worldOf(folder: string, asked: string | undefined): PolicyWorld {
  try {
    const { train } = new RunFolder(folder).readRun() as { train?: Partial<PolicyWorld> };
    if (typeof train?.task === "string" && (asked ?? train.task) === train.task)
      return { task: train.task, taskConfig: train.taskConfig ?? {} };
  } catch {
    // Not in a run folder: the user has to say.
  }
  if (asked !== undefined) return { task: asked, taskConfig: {} };
  throw usageError("which task? the checkpoint lies in no run folder, so give --task");
}

function requireFit(learner: Learner, task: string, config: EnvConfig): void {
  const env = makeVectorEnv(task, { count: 1, config });
  const obs = env.observationSpace.size;
  const action = actionShapeOf(env.actionSpace);
  const fits = learner.shape.obs === obs && JSON.stringify(learner.shape.action) === JSON.stringify(action);
  if (fits) return;
  const text = (size: number, shape: unknown) => `${size} observations and actions ${JSON.stringify(shape)}`;
  throw new CodedError(
    failure(
      "evaluate.wrong-task",
      `the policy is for ${text(learner.shape.obs, learner.shape.action)}, ${task} has ${text(obs, action)}; name the task it was trained on`,
    ),
  );
}
