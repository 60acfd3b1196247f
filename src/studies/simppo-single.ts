/** SIMPPO's section 5.1: one agent with the platform to itself, against ENSURE; and what its design is made of. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { estimateOver, reproduceAtLeast, reproduceAtMost, shown } from "./claim.ts";
import { type ArmConfig, type ArmResult, type RuleArm, runRules, trainAlone } from "./simppo/arms.ts";
import { comparisonConfig, latencyRatio, learnedReward, servedMean, smoothedCurve } from "./simppo/comparison.ts";
import { mean } from "./statistics/index.ts";
import type { Estimate, Study, StudyRow, UnitResult } from "./study.ts";

const ID = "simppo-single";
const rules = ["nobody", "best-constant", "ensure", "ensure-util", "clairvoyant"] as const satisfies readonly RuleArm[];
const learners = ["ppo", "growth", "minibatch-5", "penalty", "penalty-dqn", "penalty-ddpg"] as const;
const arms = [...rules, ...learners] as const;
type Arm = (typeof arms)[number];
type Results = readonly UnitResult<ArmResult>[];

const names: Readonly<Record<Arm, string>> = {
  nobody: "nobody",
  "best-constant": "best constant setting",
  ensure: "ENSURE",
  "ensure-util": "ENSURE-Util",
  clairvoyant: "told the calls to come",
  ppo: "PPO, bad choices masked",
  growth: "PPO, episodes that grow after 70",
  "minibatch-5": "PPO, mini-batches of 5",
  penalty: "PPO, bad choices cost 1",
  "penalty-dqn": "DQN, bad choices cost 1",
  "penalty-ddpg": "DDPG, bad choices cost 1",
};

export const simppoSingle: Study<ArmResult, ArmConfig> = {
  id: ID,
  title: "SIMPPO: one agent with the platform to itself (Figures 4 and 5)",
  about:
    "Each of the twelve functions alone on the platform: a PPO agent against ENSURE, and ENSURE with a relaxed latency threshold (ENSURE-Util). " +
    "Then the agent's design: bad choices masked or penalised, PPO against DQN and DDPG (which know no masks), mini-batches of 10 or 5, episodes " +
    "of one length or growing. Agents learn on the fluid rung; all is served and scored in the event world, on the same calls.",
  world: "event",
  seeds: { quick: 1, full: 3, first: 741 },
  config: ({ quick }) => ({
    ...comparisonConfig({ quick }),
    trainEpisodes: quick ? 6 : 400,
    serveEpisodes: quick ? 1 : 3,
  }),
  units: () => arms,
  runUnit: ({ unit, seed, config, kernels, progress }) => {
    const run = { config, kernels, seed, progress };
    const penalised = { ...run, config: { ...config, badChoices: "penalised" as const } };
    switch (unit as Arm) {
      case "ppo":
        return trainAlone("s-rl", run);
      case "growth":
        return trainAlone("s-rl", {
          ...run,
          config: { ...config, growsAfter: Math.min(70, config.trainEpisodes / 2) },
        });
      case "minibatch-5":
        return trainAlone("s-rl-minibatch-5", run);
      case "penalty":
        return trainAlone("s-rl", penalised);
      case "penalty-dqn":
        return trainAlone("s-rl-dqn", penalised);
      case "penalty-ddpg":
        return trainAlone("s-rl-ddpg", penalised);
      default:
        return runRules(unit as RuleArm, run, { alone: true });
    }
  },
  rows,
  figures,
};

/** Episodes until twenty of them earn within 2 % of what the last fifth of the training does. */
export function convergedAt(result: ArmResult): number {
  const enough = 0.98 * learnedReward(result);
  const { curve } = result;
  const span = Math.min(20, curve.length);
  for (let i = 0; i + span <= curve.length; i++) if (mean(curve.slice(i, i + span)) >= enough) return i + span;
  return curve.length;
}

function rows(results: Results): readonly StudyRow[] {
  const rng = seededRng(1).fork(ID);
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  const of = (arm: Arm, seed: number) =>
    results.find((result) => result.unit === arm && result.seed === seed)?.result as ArmResult;
  const over = (
    id: string,
    unit: string,
    { from, score }: { readonly from: readonly Arm[]; readonly score: (...runs: ArmResult[]) => number },
  ): Estimate =>
    estimateOver(
      seeds
        .filter((seed) => from.every((arm) => of(arm, seed) !== undefined))
        .map((seed) => score(...from.map((arm) => of(arm, seed)))),
      { unit, rng: rng.fork(id) },
    );
  const pair = (score: (one: ArmResult, other: ArmResult) => number) => score as (...runs: ArmResult[]) => number;
  return [
    reproduceAtMost(
      {
        id: "converged",
        what: "episodes until an agent earns what it ends with, within 2 %; mean of functions",
        paper: { low: 280, high: 350, unit: "episodes", where: "section 5.1" },
        ours: over("converged", "episodes", { from: ["ppo"], score: convergedAt as (...runs: ArmResult[]) => number }),
        claim: "One agent by itself has converged after at most 350 episodes.",
      },
      { bound: 350 },
    ),
    reproduceAtLeast(
      {
        id: "cpu-use",
        what: "CPU utilisation under the agent over that under ENSURE, less 1",
        paper: { low: 0.24, high: 0.24, unit: "of ENSURE's", where: "section 5.1" },
        ours: over("cpu-use", "of ENSURE's", {
          from: ["ppo", "ensure"],
          score: pair((ppo, ensure) => servedMean(ppo, "cpuUse") / servedMean(ensure, "cpuUse") - 1),
        }),
        claim: "An agent uses its CPU at least 24 % better than ENSURE does.",
      },
      { bound: 0.24, none: 0 },
    ),
    reproduceAtLeast(
      {
        id: "ensure-util-latency",
        what: "99th percentile under ENSURE-Util over that under the agent; median of functions",
        paper: { low: 1.6, high: 1.6, unit: "×", where: "section 5.1" },
        ours: over("ensure-util-latency", "×", {
          from: ["ensure-util", "ppo"],
          score: pair((util, ppo) => latencyRatio(util, ppo)),
        }),
        claim: "ENSURE with a relaxed threshold is at least 1.6 times as slow as the agent.",
      },
      { bound: 1.6, none: 1 },
    ),
    reproduceAtMost(
      {
        id: "penalty-speed",
        what: "episodes until converged, bad choices penalised over masked",
        paper: null,
        ours: over("penalty-speed", "×", {
          from: ["penalty", "ppo"],
          score: pair((penalty, ppo) => convergedAt(penalty) / convergedAt(ppo)),
        }),
        claim: "Penalties converge sooner than masks (section 3.1).",
      },
      { bound: 1, none: 1 },
    ),
    ...(["penalty-dqn", "penalty-ddpg"] as const).map((arm) =>
      reproduceAtLeast(
        {
          id: `ppo-${arm}`,
          what: `reward of an episode while serving: PPO less ${names[arm].split(",")[0]}, bad choices penalised for both`,
          paper: null,
          ours: over(`ppo-${arm}`, "", {
            from: ["penalty", arm],
            score: pair((ppo, other) => servedMean(ppo, "reward") - servedMean(other, "reward")),
          }),
          claim: "PPO earns more after convergence (section 3.2).",
        },
        { bound: 0, none: 0 },
      ),
    ),
    ...arms.flatMap((arm) => [
      shown({
        id: `${arm}-reward`,
        what: `${names[arm]}: reward of an episode, while serving`,
        ours: over(`${arm}-reward`, "", { from: [arm], score: (run) => servedMean(run as ArmResult, "reward") }),
      }),
      shown({
        id: `${arm}-missed`,
        what: `${names[arm]}: steps that miss the SLO, while serving`,
        ours: over(`${arm}-missed`, "%", {
          from: [arm],
          score: (run) => 100 * servedMean(run as ArmResult, "missedSteps"),
        }),
      }),
      shown({
        id: `${arm}-cpu-use`,
        what: `${names[arm]}: CPU utilisation, while serving`,
        ours: over(`${arm}-cpu-use`, "%", {
          from: [arm],
          score: (run) => 100 * servedMean(run as ArmResult, "cpuUse"),
        }),
      }),
    ]),
    ...(["growth", "minibatch-5", "penalty"] as const).map((arm) =>
      shown({
        id: `${arm}-converged`,
        what: `${names[arm]}: episodes until converged`,
        ours: over(`${arm}-converged`, "episodes", {
          from: [arm],
          score: convergedAt as (...runs: ArmResult[]) => number,
        }),
      }),
    ),
    ...learners.map((arm) =>
      shown({
        id: `${arm}-as-proposed`,
        what: `${names[arm]}: decisions done as proposed`,
        ours: over(`${arm}-as-proposed`, "%", { from: [arm], score: (run) => 100 * (run as ArmResult).asProposed }),
      }),
    ),
  ];
}

function figures(results: Results): readonly Figure[] {
  return [
    {
      kind: "lines",
      id: "training",
      title: "Reward of an episode, in training with the platform to oneself",
      subtitle:
        "Mean over functions and seeds, smoothed over ten episodes; penalties included where bad choices cost 1",
      x: { label: "episodes" },
      y: { label: "reward" },
      lines: learners.map((arm) => ({
        name: names[arm],
        ...smoothedCurve(results.filter(({ unit }) => unit === arm).map(({ result }) => result.curve)),
      })),
    },
  ];
}
