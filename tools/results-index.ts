/**
 * Writes docs/results/rl.md: the tables of the classic control studies on one page, from their JSON reports.
 * Run it after the studies: `npm run --silent tools && node dist/tools/results-index.js`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StudyReport } from "../src/studies/index.ts";

const folder = "docs/results";
const studies = ["rl-cartpole", "rl-pendulum", "rl-acrobot", "rl-mountaincar"];

const number = (x: number) =>
  Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en-US") : Number(x.toFixed(1)).toString();

function section(report: StudyReport): string {
  const rows = report.rows.map(({ what, paper, ours, claim, holds }) => {
    const published = paper === null ? "–" : paper.where;
    const own = `${number(ours.mean)} [${number(ours.lo)}, ${number(ours.hi)}]`;
    return `| ${[what, published, own, claim, holds ? "yes" : "**no**"].join(" | ")} |`;
  });
  return [
    `## [${report.title}](${report.study}.md)`,
    "",
    "| what | published | ours | claim | holds |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    `![learning curves](${report.study}.svg)`,
    "",
    `${report.seeds.length} seeds (${report.seeds[0]} to ${report.seeds.at(-1)}), ${Math.round(report.wallSeconds)} s, ${report.kernels} kernels, ${report.cpu}, Node ${report.node}.`,
    "",
  ].join("\n");
}

const reports = studies.map((id) => JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8")) as StudyReport);
const held = reports.flatMap((r) => r.rows).filter((row) => row.holds).length;
const total = reports.flatMap((r) => r.rows).length;
const page = [
  "# Reinforcement learning on classic control",
  "",
  "Each figure is the interquartile mean over seeds with its 95 % bootstrap interval; a claim holds when the interval's",
  "near end clears its number. Policies are evaluated deterministically, in fresh environments, over whole episodes whose",
  "seeds training never saw. Settings are those of `tunedFor` (`src/learn/rl/tuned.ts`). They were chosen on seeds from",
  "1000 on; the reported seeds were run once, when everything was settled, and are what a run without `--first-seed`",
  "takes. Earlier settings were tried on seeds 1 to 20, where DQN on CartPole and both algorithms on MountainCar failed a",
  "claim; their pages say with which figures and what was changed. The published figures come from other environments'",
  "implementations, other evaluation protocols and mostly from one to three runs: they say what level to expect, not whose",
  "code is better.",
  "",
  `${held} of ${total} claims hold. Reproduce with \`coxswain reproduce rl-cartpole\` and so on.`,
  "",
  ...reports.map(section),
].join("\n");
writeFileSync(join(folder, "rl.md"), page);
