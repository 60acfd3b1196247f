/** The dissertation's two earlier attempts (4.6): a common reward alone, and one decision at a time. */
import type { Figure } from "../adapters/plot/index.ts";
import { reproduceAtLeast, shown } from "./claim.ts";
import type { ArmConfig } from "./simppo/arms.ts";
import {
  type Compared,
  type ComparedArm,
  Comparison,
  comparisonConfig,
  latencyRatio,
  learnedReward,
  type Results,
  runArm,
  servedMean,
  trainingCurves,
} from "./simppo/comparison.ts";
import type { Study, StudyRow } from "./study.ts";

const ID = "simppo-attempts";
const arms = ["s-rl-alone", "il-rl", "cpq-rl", "simppo"] as const satisfies readonly ComparedArm[];
const names: Readonly<Record<(typeof arms)[number], string>> = {
  "s-rl-alone": "S-RL, each alone",
  "il-rl": "IL-RL",
  "cpq-rl": "CPQ-RL",
  simppo: "SIMPPO",
};

export const simppoAttempts: Study<Compared, ArmConfig> = {
  id: ID,
  title: "SIMPPO: two earlier attempts (dissertation, section 4.6)",
  about:
    "Independent learners with a common reward (IL-RL), and learners that decide one at a time from a queue with the worst SLO " +
    "preservation first, each decision taking a second of the platform (CPQ-RL), against S-RL agents that have the platform to " +
    "themselves. Agents learn on the fluid rung; all is served and scored in the event world, on the same calls.",
  world: "event",
  seeds: { quick: 1, full: 6, first: 711 },
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
  return [
    reproduceAtLeast(
      {
        id: "il-rl-reward",
        what: "reward that IL-RL's agents lose against agents that are alone, in the last fifth of their training",
        paper: { low: 0.382, high: 0.382, unit: "of alone", where: "dissertation, section 4.6" },
        ours: compared.over(["s-rl-alone", "il-rl"], {
          id: "il-rl-reward",
          unit: "of alone",
          score: (seed) => 1 - learnedReward(together("il-rl", seed)) / learnedReward(alone(seed)),
        }),
        claim: "With a common reward and nothing else, agents earn at least 38.2 % less than alone.",
      },
      { bound: 0.382, none: 0 },
    ),
    reproduceAtLeast(
      {
        id: "cpq-rl-latency",
        what: "99th percentile under CPQ-RL over that under agents that are alone, less 1; median of functions",
        paper: { low: 0.218, high: 0.677, unit: "of alone", where: "dissertation, section 4.6" },
        ours: compared.over(["s-rl-alone", "cpq-rl"], {
          id: "cpq-rl-latency",
          unit: "of alone",
          score: (seed) => latencyRatio(together("cpq-rl", seed), alone(seed)) - 1,
        }),
        claim: "With one decision at a time, functions are at least 21.8 % slower than alone.",
      },
      { bound: 0.218, none: 0 },
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

function figures(results: Results): readonly Figure[] {
  const compared = new Comparison(results, ID);
  return [
    trainingCurves(
      compared,
      arms.map((arm) => ({
        name: names[arm],
        of: (seed: number) => {
          const result = compared.of(arm, seed);
          return (result?.alone ?? result?.together)?.curve;
        },
      })),
    ),
  ];
}
