/** SIMPPO's Figure 3: two agents that learned alone, on one machine; and two that learn together, by themselves or as one. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { functionMix, functionNames } from "../sim/index.ts";
import { estimateOver, promiseAtMost, reproduceAtLeast, shown } from "./claim.ts";
import { type ArmConfig, type ArmResult, trainApart, trainJointly, trainTogether } from "./simppo/arms.ts";
import { comparisonConfig, servedMean } from "./simppo/comparison.ts";
import { Scene } from "./simppo/scene.ts";
import { mean, median } from "./statistics/index.ts";
import type { Estimate, Study, StudyRow, UnitResult } from "./study.ts";

const ID = "simppo-interference";
const arms = ["s-rl", "simppo", "simppo-own", "jal"] as const;
type Arm = (typeof arms)[number];
/** What a pair of functions got. */
type Pair = { readonly alone: ArmResult; readonly apart: ArmResult } & Readonly<Record<Arm, ArmResult>>;
type Results = readonly UnitResult<Pair>[];

const names: Readonly<Record<Arm, string>> = {
  "s-rl": "S-RL",
  simppo: "SIMPPO",
  "simppo-own": "SIMPPO, each paid for its own function",
  jal: "one joint policy",
};

/** Each function with the one that is half the paper's table further down: no two of a pair are alike. */
const HALF = functionNames.length / 2;
const pairs = Array.from({ length: HALF }, (_, i) => `${functionNames[i]} and ${functionNames[i + HALF]}`);

export const simppoInterference: Study<Pair, ArmConfig> = {
  id: ID,
  title: "SIMPPO: two agents on one machine (Figure 3)",
  about:
    "Six pairs of functions on one machine of 8 cores. Two agents that each learned with the machine to itself are put side by side; " +
    "then two learn side by side: blind (S-RL), with a virtual agent (SIMPPO), or as one policy over the 49 joint choices (joint-action learning). " +
    "Agents learn on the fluid rung; all is served and scored in the event world, on the same calls.",
  world: "event",
  seeds: { quick: 1, full: 3, first: 751 },
  config: ({ quick }) => {
    const config = comparisonConfig({ quick });
    return {
      ...config,
      scene: { ...config.scene, cluster: "cloud" as const, functions: 2 },
      trainEpisodes: quick ? 8 : 300,
      serveEpisodes: quick ? 1 : 6,
    };
  },
  units: () => pairs,
  runUnit: ({ unit, seed, config, kernels, progress }) => {
    const scene = new Scene(config.scene);
    const first = pairs.indexOf(unit);
    const mix = functionMix(functionNames.length);
    const functions = [first, first + HALF].map((i) => scene.function(i, mix[i] as (typeof mix)[number]));
    const part = (done: number) => (fraction: number) => progress((done + fraction) / 5);
    const run = (done: number) => ({ config, kernels, seed, functions, progress: part(done) });
    const { alone, together: apart } = trainApart(run(0));
    return {
      alone,
      apart,
      "s-rl": trainTogether("s-rl", run(1)),
      simppo: trainTogether("simppo", run(2)),
      "simppo-own": trainTogether("simppo-own", run(3)),
      jal: trainJointly(run(4)),
    };
  },
  rows,
  figures,
};

/** By how much each function of a pair is slower than alone. */
const slowdowns = (pair: Pair, arm: Arm | "apart"): readonly number[] =>
  pair[arm].served.map(({ p99 }, i) => p99 / Math.max(1, pair.alone.served[i]?.p99 ?? 1));

function rows(results: Results): readonly StudyRow[] {
  const rng = seededRng(1).fork(ID);
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  const over = (id: string, unit: string, score: (pairs: readonly Pair[]) => number): Estimate =>
    estimateOver(
      seeds.map((seed) => score(results.filter((result) => result.seed === seed).map(({ result }) => result))),
      { unit, rng: rng.fork(id) },
    );
  const worst = (arm: Arm | "apart") => (all: readonly Pair[]) =>
    Math.max(...all.flatMap((pair) => slowdowns(pair, arm)));
  const middle = (arm: Arm | "apart") => (all: readonly Pair[]) => median(all.flatMap((pair) => slowdowns(pair, arm)));
  return [
    reproduceAtLeast(
      {
        id: "worst",
        what: "99th percentile side by side over alone, agents that learned alone; the function that it is worst for",
        paper: { low: 14, high: 14, unit: "×", where: "section 2.4" },
        ours: over("worst", "×", worst("apart")),
        claim: "Side by side, a function whose agent learned alone may be at least 14 times as slow.",
      },
      { bound: 14, none: 1 },
    ),
    promiseAtMost(
      {
        id: "joint",
        what: "99th percentile under SIMPPO over that under one joint policy, less 1; median of functions",
        paper: null,
        ours: over("joint", "of joint", (all) =>
          median(
            all.flatMap((pair) =>
              pair.simppo.served.map(({ p99 }, i) => p99 / Math.max(1, pair.jal.served[i]?.p99 ?? 1) - 1),
            ),
          ),
        ),
        claim: "With two agents, a virtual agent is at most 5 % slower than a policy that decides for both.",
      },
      0.05,
    ),
    shown({
      id: "apart-middle",
      what: "99th percentile side by side over alone, agents that learned alone; median of functions",
      ours: over("apart-middle", "×", middle("apart")),
    }),
    ...arms.flatMap((arm) => [
      shown({
        id: `${arm}-middle`,
        what: `99th percentile side by side over alone, ${names[arm]}; median of functions`,
        ours: over(`${arm}-middle`, "×", middle(arm)),
      }),
      shown({
        id: `${arm}-worst`,
        what: `99th percentile side by side over alone, ${names[arm]}; the function that it is worst for`,
        ours: over(`${arm}-worst`, "×", worst(arm)),
      }),
      shown({
        id: `${arm}-reward`,
        what: `reward of an episode while serving, ${names[arm]}; alone it is ${over("alone-reward", "", (all) => mean(all.map(({ alone }) => servedMean(alone, "reward")))).mean.toFixed(1)}`,
        ours: over(`${arm}-reward`, "", (all) => mean(all.map((pair) => servedMean(pair[arm], "reward")))),
      }),
    ]),
  ];
}

function figures(results: Results): readonly Figure[] {
  return [
    {
      kind: "lines",
      id: "pairs",
      title: "How much slower functions are side by side than alone",
      subtitle: "99th percentiles over those alone, sorted: all functions of all pairs and seeds",
      x: { label: "part of functions", unit: "%" },
      y: { label: "times as slow as alone" },
      lines: (["apart", ...arms] as const).map((arm) => {
        const y = results.flatMap(({ result }) => slowdowns(result, arm)).sort((a, b) => a - b);
        return {
          name: arm === "apart" ? "learned alone" : names[arm],
          x: y.map((_, i) => (100 * (i + 1)) / y.length),
          y,
        };
      }),
    },
  ];
}
