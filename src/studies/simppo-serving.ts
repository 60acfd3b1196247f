/** SIMPPO's Figure 9: what critics are shown of the others, and what that is worth when policies serve. */
import type { Figure } from "../adapters/plot/index.ts";
import { functionKind, functionKinds } from "../sim/index.ts";
import { promiseAtLeast, reproduceAtLeast, shown } from "./claim.ts";
import type { ArmConfig, ArmResult } from "./simppo/arms.ts";
import {
  type Compared,
  type ComparedArm,
  Comparison,
  comparisonConfig,
  latencyRatio,
  type Results,
  runArm,
  servedMean,
  trainingCurves,
} from "./simppo/comparison.ts";
import { profileOf } from "./simppo/scene.ts";
import type { Study, StudyRow } from "./study.ts";

const ID = "simppo-serving";
const views = [
  "s-rl",
  "simppo",
  "simppo-own",
  "simppo-all",
  "simppo-deviations",
  "simppo-types",
  "simppo-percentiles",
] as const;
const arms = ["s-rl-alone", ...views] as const satisfies readonly ComparedArm[];
const names: Readonly<Record<(typeof arms)[number], string>> = {
  "s-rl-alone": "S-RL, each alone",
  "s-rl": "S-RL, side by side",
  simppo: "SIMPPO",
  "simppo-own": "SIMPPO, each paid for its own function",
  "simppo-all": "SIMPPO-All",
  "simppo-deviations": "SIMPPO with deviations",
  "simppo-types": "SIMPPO, a virtual agent for each kind",
  "simppo-percentiles": "SIMPPO, a virtual agent for each of three percentiles",
};

export const simppoServing: Study<Compared, ArmConfig> = {
  id: ID,
  title: "SIMPPO: what a critic needs to know of the others (Figure 9)",
  about:
    "The virtual agent in six numbers (SIMPPO), with deviations, as the mean of all that others see (SIMPPO-All), one for each kind of " +
    "function or each of three percentiles, and with each agent paid for its own function, against S-RL agents side by side and with the platform " +
    "to themselves. Agents learn on the fluid rung; all is served and scored in the event world, on the same calls.",
  world: "event",
  seeds: { quick: 1, full: 3, first: 721 },
  config: comparisonConfig,
  units: () => arms,
  runUnit: runArm,
  rows,
  figures,
};

function rows(results: Results): readonly StudyRow[] {
  const compared = new Comparison(results, ID);
  const together = (arm: ComparedArm, seed: number) => compared.of(arm, seed).together;
  const alone = (seed: number) => {
    const { alone: result, together: all } = compared.of("s-rl-alone", seed);
    return result ?? all;
  };
  const ofKind = (result: ArmResult, kind: string): ArmResult => ({
    ...result,
    served: result.served.filter(({ workload }) => functionKind(profileOf(workload).name) === kind),
  });
  return [
    reproduceAtLeast(
      {
        id: "all-latency",
        what: "99th percentile under SIMPPO-All over that under SIMPPO; median of functions",
        paper: null,
        ours: compared.over(["simppo", "simppo-all"], {
          id: "all-latency",
          unit: "×",
          score: (seed) => latencyRatio(together("simppo-all", seed), together("simppo", seed)),
        }),
        claim:
          "Critics that see the mean of everything leave functions at least 1.05 times as slow (the paper: 2.6 to 9.7 times the degradation).",
      },
      { bound: 1.05, none: 1 },
    ),
    promiseAtLeast(
      {
        id: "own-reward",
        what: "reward of an episode while serving, side by side: a virtual agent and its own reward less none (S-RL)",
        paper: null,
        ours: compared.over(["s-rl", "simppo-own"], {
          id: "own-reward",
          unit: "",
          score: (seed) =>
            servedMean(together("simppo-own", seed), "reward") - servedMean(together("s-rl", seed), "reward"),
        }),
        claim: "Where each is paid for its own function, a virtual agent in the critic earns more than none.",
      },
      0,
    ),
    ...functionKinds.map((kind) =>
      shown({
        id: `kind-${kind}`,
        what: `99th percentile under SIMPPO over that of agents that are alone, ${kind}-bound functions; median of functions`,
        paper: { ...ranges[kind], unit: "×", where: "section 7.2" },
        ours: compared.over(["s-rl-alone", "simppo"], {
          id: `kind-${kind}`,
          unit: "×",
          score: (seed) => latencyRatio(ofKind(together("simppo", seed), kind), ofKind(alone(seed), kind)),
        }),
      }),
    ),
    ...arms.flatMap((arm) => [
      shown({
        id: `${arm}-reward`,
        what: `${names[arm]}: reward of an episode, while serving side by side`,
        ours: compared.over([arm], {
          id: `${arm}-reward`,
          unit: "",
          score: (seed) => servedMean(together(arm, seed), "reward"),
        }),
      }),
      shown({
        id: `${arm}-missed`,
        what: `${names[arm]}: steps that miss the SLO, while serving side by side`,
        ours: compared.over([arm], {
          id: `${arm}-missed`,
          unit: "%",
          score: (seed) => 100 * servedMean(together(arm, seed), "missedSteps"),
        }),
      }),
    ]),
  ];
}

const ranges = {
  cpu: { low: 1.039, high: 1.042 },
  memory: { low: 1.079, high: 1.092 },
  io: { low: 1.015, high: 1.036 },
} as const;

function figures(results: Results): readonly Figure[] {
  const compared = new Comparison(results, ID);
  return [
    trainingCurves(
      compared,
      views.map((arm) => ({ name: names[arm], of: (seed: number) => compared.of(arm, seed)?.together.curve })),
    ),
  ];
}
