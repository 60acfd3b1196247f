/** The figures of aware-bootstrap: rewards over a life, and Figure 10's bars. */
import type { Figure } from "../../adapters/plot/index.ts";
import { mean } from "../statistics/index.ts";
import type { AllLives } from "./bootstrap-rows.ts";
import { curveOver, meanOver } from "./compare.ts";
import type { Life } from "./life.ts";
import { lengthOf, meanReward, total, utilisation } from "./life.ts";

export interface FigureOptions {
  readonly methods: readonly string[];
  readonly episodes: number;
  readonly endEpisodes: number;
}

export const methodTitles: Readonly<Record<string, string>> = {
  rules: "HPA and VPA",
  "no-bootstrap": "no bootstrapping",
  "aware-paper": "AWARE as published",
  "aware-paper-high": "AWARE as published, high stakes",
  aware: "AWARE",
  converged: "converged policy",
  "no-retraining": "no retraining",
  "no-retraining-shield": "no retraining, shielded",
  firm: "FIRM",
};

const titleOf = (method: string): string => methodTitles[method] ?? method;

export function bootstrapFigures(lives: AllLives, options: FigureOptions): readonly Figure[] {
  const { methods, episodes, endEpisodes } = options;
  const block = Math.max(1, Math.round(episodes / 20));
  const perSeed = (figure: (life: Life) => number, method: string) =>
    lives.map((scenes) => mean(scenes.map((scene) => figure(scene[method] as Life))));
  const bars = (name: string, figure: (life: Life) => number) =>
    methods.map((method) => {
      const { mean: value, lo, hi } = meanOver(perSeed(figure, method), { id: `${name} ${method}`, unit: "" });
      return { label: titleOf(method), group: name, value, lo, hi };
    });
  const curves = (method: string) =>
    lives.map((scenes) =>
      Array.from({ length: episodes }, (_, e) => mean(scenes.map((scene) => scene[method]?.reward[e] ?? 0))),
    );
  return [
    {
      kind: "lines",
      id: "reward",
      title: "Reward per episode over the life of a workload",
      subtitle: `means of ${block} episodes over each seed's workloads; bands are 95 % bootstrap intervals over seeds`,
      x: { label: "episode" },
      y: { label: "reward of an episode" },
      lines: methods.map((method) => ({ name: titleOf(method), ...curveOver(curves(method), block) })),
    },
    {
      kind: "bars",
      id: "training",
      title: "Training as the workload saw it",
      subtitle: "means over the whole life with 95 % bootstrap intervals over seeds, as percentages",
      y: { label: "percent" },
      bars: [
        ...bars("reward, % of 200", (life) => meanReward(life) / 2),
        ...bars("reward at the end, % of 200", (life) => meanReward(life, { from: -endEpisodes }) / 2),
        ...bars("CPU utilisation", (life) => 100 * utilisation(life, "cpu")),
        ...bars("memory utilisation", (life) => 100 * utilisation(life, "memory")),
        ...bars("steps in violation", (life) => total(life, "violations") / lengthOf(life)),
      ],
    },
  ];
}
