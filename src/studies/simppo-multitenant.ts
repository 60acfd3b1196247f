/** SIMPPO's section 5.2 and 7.2: agents that learned alone, side by side; agents that learn side by side; and with a virtual agent. */
import type { Figure } from "../adapters/plot/index.ts";
import { promiseAtMost, reproduceAtLeast, reproduceAtMost, shown } from "./claim.ts";
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
import type { PaperFigure, Study, StudyRow } from "./study.ts";

const ID = "simppo-multitenant";
const arms = [
  "nobody",
  "best-constant",
  "ensure",
  "ensure-util",
  "clairvoyant",
  "s-rl-alone",
  "s-rl",
  "simppo",
] as const satisfies readonly ComparedArm[];

export const simppoMultitenant: Study<Compared, ArmConfig> = {
  id: ID,
  title: "SIMPPO: many agents on one platform (Figures 4, 5 and 9)",
  about:
    "Twelve functions on four machines. PPO agents that each learned with the platform to itself are put side by side; agents learn side " +
    "by side, blind to one another (S-RL) or with a virtual agent in their critics and a common reward (SIMPPO). Beside them: nobody, the " +
    "best constant setting, ENSURE, and one that is told how many calls will come. Agents learn on the fluid rung; all is served and scored " +
    "in the event world, on the same calls.",
  world: "event",
  seeds: { quick: 1, full: 10, first: 701 },
  config: comparisonConfig,
  units: () => arms,
  runUnit: runArm,
  rows,
  figures,
};

const paper = ([low, high]: readonly [number, number], unit: string, where: string): PaperFigure => ({
  low,
  high,
  unit,
  where,
});

function rows(results: Results): readonly StudyRow[] {
  const compared = new Comparison(results, ID);
  const together = (arm: ComparedArm, seed: number) => compared.of(arm, seed).together;
  const alone = (arm: ComparedArm, seed: number) => {
    const { alone: result, together: all } = compared.of(arm, seed);
    return result ?? all;
  };
  return [
    reproduceAtLeast(
      {
        id: "reward-drop",
        what: "reward that S-RL agents lose by learning side by side, in the last fifth of their training",
        paper: paper([0.559, 0.559], "of alone", "section 5.2"),
        ours: compared.over(["s-rl-alone", "s-rl"], {
          id: "reward-drop",
          unit: "of alone",
          score: (seed) => 1 - learnedReward(together("s-rl", seed)) / learnedReward(alone("s-rl-alone", seed)),
        }),
        claim: "Agents that learn side by side earn at least 55.9 % less than those that learn alone.",
      },
      { bound: 0.559, none: 0 },
    ),
    reproduceAtLeast(
      {
        id: "latency-side-by-side",
        what: "99th percentile of functions whose agents learned alone, side by side over alone; median of functions",
        paper: paper([2.2, 4.8], "×", "Figure 5"),
        ours: compared.over(["s-rl-alone"], {
          id: "latency-side-by-side",
          unit: "×",
          score: (seed) => latencyRatio(together("s-rl-alone", seed), alone("s-rl-alone", seed)),
        }),
        claim: "Agents that learned alone are at least 2.2 times as slow side by side.",
      },
      { bound: 2.2, none: 1 },
    ),
    reproduceAtMost(
      {
        id: "latency-simppo",
        what: "99th percentile under SIMPPO over that under agents that are alone; median of functions",
        paper: paper([1.018, 1.092], "×", "section 7.2"),
        ours: compared.over(["s-rl-alone", "simppo"], {
          id: "latency-simppo",
          unit: "×",
          score: (seed) => latencyRatio(together("simppo", seed), alone("s-rl-alone", seed)),
        }),
        claim: "Functions under SIMPPO are at most 1.092 times as slow as alone.",
      },
      { bound: 1.092 },
    ),
    reproduceAtLeast(
      {
        id: "latency-gain",
        what: "99th percentile under S-RL that learned side by side over that under SIMPPO; median of functions",
        paper: paper([2, 4.5], "×", "section 7.2"),
        ours: compared.over(["s-rl", "simppo"], {
          id: "latency-gain",
          unit: "×",
          score: (seed) => latencyRatio(together("s-rl", seed), together("simppo", seed)),
        }),
        claim: "SIMPPO is at least 2 times as fast as S-RL side by side.",
      },
      { bound: 2, none: 1 },
    ),
    promiseAtMost(
      {
        id: "missed",
        what: "steps that miss the SLO, over the whole life with training: SIMPPO less ENSURE, of a hundred",
        paper: null,
        ours: compared.over(["ensure", "simppo"], {
          id: "missed",
          unit: "of 100",
          score: (seed) =>
            100 * (together("simppo", seed).life.missedSteps - together("ensure", seed).life.missedSteps),
        }),
        claim: "SIMPPO misses the SLO no more often than ENSURE: at most 0 more of a hundred steps.",
      },
      0,
    ),
    ...(["coresAsked", "memoryAsked"] as const).map((what) =>
      promiseAtMost(
        {
          id: what === "coresAsked" ? "cpu" : "memory",
          what: `${what === "coresAsked" ? "cores" : "memory"} asked for over the whole life, SIMPPO over ENSURE`,
          paper: null,
          ours: compared.over(["ensure", "simppo"], {
            id: what,
            unit: "×",
            score: (seed) => together("simppo", seed).life[what] / together("ensure", seed).life[what],
          }),
          claim: `SIMPPO asks for no more ${what === "coresAsked" ? "CPU" : "memory"} than ENSURE: at most 1 times as much.`,
        },
        1,
      ),
    ),
    shown({
      id: "ensure-side-by-side",
      what: "99th percentile under ENSURE, side by side over alone; median of functions",
      paper: paper([1.269, 1.325], "×", "section 7.2"),
      why: "the load of the scene was set by it",
      ours: compared.over(["ensure"], {
        id: "ensure-side-by-side",
        unit: "×",
        score: (seed) => latencyRatio(together("ensure", seed), alone("ensure", seed)),
      }),
    }),
    ...arms.flatMap((arm) =>
      (["reward", "missedSteps", "missedCalls", "coresAsked"] as const).map((what) =>
        shown({
          id: `${arm}-${what}`,
          what: `${names[arm]}: ${measures[what].title}, while serving`,
          ours: compared.over([arm], {
            id: `${arm}-${what}`,
            unit: measures[what].unit,
            score: (seed) => measures[what].scale * servedMean(together(arm, seed), what),
          }),
        }),
      ),
    ),
    shown({
      id: "as-proposed",
      what: "decisions of SIMPPO's agents that were done as proposed, training included",
      ours: compared.over(["simppo"], {
        id: "as-proposed",
        unit: "%",
        score: (seed) => 100 * together("simppo", seed).asProposed,
      }),
    }),
  ];
}

const measures = {
  reward: { title: "reward of an episode", unit: "", scale: 1 },
  missedSteps: { title: "steps that miss the SLO", unit: "%", scale: 100 },
  missedCalls: { title: "calls that are late or lost", unit: "%", scale: 100 },
  coresAsked: { title: "cores asked for by a function", unit: "cores", scale: 1 },
} as const;

const names: Readonly<Record<(typeof arms)[number], string>> = {
  nobody: "nobody",
  "best-constant": "the best constant setting",
  ensure: "ENSURE",
  "ensure-util": "ENSURE-Util",
  clairvoyant: "told the calls to come",
  "s-rl-alone": "S-RL that learned alone, side by side",
  "s-rl": "S-RL side by side",
  simppo: "SIMPPO",
};

function figures(results: Results): readonly Figure[] {
  const compared = new Comparison(results, ID);
  return [
    trainingCurves(compared, [
      { name: "S-RL, each alone", of: (seed) => compared.of("s-rl-alone", seed)?.alone?.curve },
      { name: "S-RL side by side", of: (seed) => compared.of("s-rl", seed)?.together.curve },
      { name: "SIMPPO", of: (seed) => compared.of("simppo", seed)?.together.curve },
    ]),
  ];
}
