/** SIMPPO's section 7.3 and Figure 12: what an agent costs in training and in serving, and how many decisions there can be. */
import type { Figure } from "../adapters/plot/index.ts";
import { systemClock } from "../adapters/runtime/index.ts";
import { seededRng } from "../base/index.ts";
import { estimateOver, promiseAtLeast, reproduceAtMost, shown } from "./claim.ts";
import { agentBytes, FleetAtWork, fastest, secondsOfUpdate } from "./simppo/overhead.ts";
import { mean } from "./statistics/index.ts";
import type { Estimate, PaperFigure, Study, StudyRow, UnitResult } from "./study.ts";

const ID = "simppo-overhead";

interface OverheadConfig {
  /** Agents that decide in one step. */
  readonly sizes: readonly number[];
  /** Timed rounds, of which the fastest counts, and how long each takes. */
  readonly rounds: number;
  readonly roundMs: number;
  /** Between two decisions, and between two updates (Table 2). */
  readonly stepSeconds: number;
  readonly updateSteps: number;
}

/** One number by what the unit is: seconds of a step of all agents, seconds of an update, bytes of an agent. */
interface Overhead {
  readonly value: number;
}
type Results = readonly UnitResult<Overhead>[];

const paper = (value: number, unit: string): PaperFigure => ({ low: value, high: value, unit, where: "section 7.3" });
const [SERVING, TRAINING, MEGABYTES, DECISION, UPDATE] = [0.3, 0.6, 2, 240, 1_340] as const;

export const simppoOverhead: Study<Overhead, OverheadConfig> = {
  id: ID,
  title: "SIMPPO: what agents cost (section 7.3, Figures 10 and 12)",
  about:
    "Agents of the paper's size decide, report and are told of the others, as in a step of a fleet; one learns from an episode. Times are those of the " +
    "fastest of several rounds on one thread: CPU time, as nobody interrupts it. They depend on the machine, so a second run gives " +
    "other figures. Shares are of one core, at a decision every ten seconds and an update every fifty decisions. Not in them: " +
    "reading the platform's metrics and setting limits, which the paper's 240 ms are mostly made of.",
  world: "none",
  seeds: { quick: 2, full: 5, first: 791 },
  config: ({ quick }) => ({
    sizes: quick ? [1, 110] : [1, 12, 110, 1_000],
    rounds: quick ? 5 : 20,
    roundMs: quick ? 50 : 200,
    stepSeconds: 10,
    updateSteps: 50,
  }),
  units: ({ sizes }) => [...sizes.map((size) => `step-${size}`), "update", "memory"],
  runUnit: ({ unit, seed, config, kernels }) => {
    if (unit === "memory") return { value: agentBytes(kernels, seed) };
    const rounds = { clock: systemClock, count: config.rounds, lengthMs: config.roundMs };
    if (unit === "update") return { value: secondsOfUpdate(kernels, { seed, rounds, steps: config.updateSteps }) };
    const fleet = new FleetAtWork(Number(unit.slice("step-".length)), { kernels, seed });
    try {
      return { value: fastest(() => fleet.step(), rounds) };
    } finally {
      fleet.dispose();
    }
  },
  rows,
  figures,
};

const figureOf = (results: Results, unit: string, seed: number): number | undefined =>
  results.find((one) => one.unit === unit && one.seed === seed)?.result.value;

function rows(results: Results, { sizes, stepSeconds, updateSteps }: OverheadConfig): readonly StudyRow[] {
  const rng = seededRng(1).fork(ID);
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  const most = sizes.includes(110) ? 110 : Math.max(...sizes);
  const over = (
    units: readonly string[],
    { id, unit, score }: { readonly id: string; readonly unit: string; readonly score: (...found: number[]) => number },
  ): Estimate =>
    estimateOver(
      seeds.flatMap((seed) => {
        const found = units.map((name) => figureOf(results, name, seed));
        return found.every((one) => one !== undefined) ? [score(...found)] : [];
      }),
      { unit, rng: rng.fork(id) },
    );
  const step = `step-${most}`;
  const share = (seconds: number): number => (100 * seconds) / stepSeconds;
  type Scored = readonly [unit: string, score: (...found: number[]) => number];
  const row = (id: string, units: readonly string[], [unit, score]: Scored) => ({
    id,
    ours: over(units, { id, unit, score }),
  });
  return [
    reproduceAtMost(
      {
        ...row(
          "cpu-training",
          [step, "update"],
          ["% of a core", (all, update) => share((all as number) / most + (update as number) / updateSteps)],
        ),
        what: `CPU of an agent in training, among ${most}`,
        paper: paper(TRAINING, "%"),
        claim: "An agent in training takes at most 0.6 % of a core.",
      },
      { bound: TRAINING },
    ),
    reproduceAtMost(
      {
        ...row("cpu-serving", [step], ["% of a core", (all) => share((all as number) / most)]),
        what: `CPU of an agent that serves, among ${most}`,
        paper: paper(SERVING, "%"),
        claim: "An agent that serves takes at most 0.3 % of a core.",
      },
      { bound: SERVING },
    ),
    reproduceAtMost(
      {
        ...row("memory", ["memory"], ["MB", (bytes) => (bytes as number) / 1e6]),
        what: "memory of an agent in training: networks, optimisers, gradients and an episode of steps; counted",
        paper: paper(MEGABYTES, "MB"),
        claim: "An agent takes at most 2 MB.",
      },
      { bound: MEGABYTES },
    ),
    reproduceAtMost(
      {
        ...row("decision", ["step-1"], ["ms", (seconds) => 1e3 * (seconds as number)]),
        what: "time of a decision, without reading metrics and setting limits",
        paper: paper(DECISION, "ms"),
        claim: "A decision takes at most 240 ms.",
      },
      { bound: DECISION },
    ),
    reproduceAtMost(
      {
        ...row("update", ["update"], ["ms", (seconds) => 1e3 * (seconds as number)]),
        what: "time of an update: five epochs over an episode of fifty steps",
        paper: paper(UPDATE, "ms"),
        claim: "An update takes at most 1.34 s.",
      },
      { bound: UPDATE },
    ),
    promiseAtLeast(
      {
        ...row("headroom", [step], ["× needed", (all) => stepSeconds / (all as number)]),
        what: `decisions a second of one core, over those that ${most} functions need`,
        paper: null,
        claim: `One core decides at least ten times as often as ${most} functions need.`,
      },
      10,
    ),
    ...sizes.map((size) =>
      shown({
        ...row(`throughput-${size}`, [`step-${size}`], ["a second", (all) => size / (all as number)]),
        what: `decisions a second of one core, ${size} agents; ${(size / stepSeconds).toFixed(1)} a second are needed`,
        why: "the paper's Figure 12 has no numbers in its text, and OpenWhisk's controller was not measured",
      }),
    ),
  ];
}

function figures(results: Results, { sizes }: OverheadConfig): readonly Figure[] {
  const seeds = [...new Set(results.map(({ seed }) => seed))];
  const ms = sizes.map((size) => 1e3 * mean(seeds.map((seed) => figureOf(results, `step-${size}`, seed) ?? 0)));
  return [
    {
      kind: "lines",
      id: "step",
      title: "A step of all agents",
      subtitle:
        "Decisions, reports and what each is told of the others; one thread, mean over seeds of the fastest round",
      x: { label: "agents" },
      y: { label: "ms" },
      lines: [{ name: "all agents", x: sizes, y: ms }],
    },
  ];
}
