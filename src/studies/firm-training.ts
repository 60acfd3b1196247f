/** FIRM's Figure 3.6: three ways to train the mitigating agent, and how the result does in applications it has never seen. */
import type { Figure } from "../adapters/plot/index.ts";
import { seededRng } from "../base/index.ts";
import { type MitigationTraining, usualCurriculum, usualTraining } from "../control/tasks/mitigation/index.ts";
import { applicationNamed, trainTicket } from "../sim/index.ts";
import { estimateOver, promiseAtLeast, reproduceAtLeast, reproduceAtMost } from "./claim.ts";
import { type AppliedResult, applyAgents, trainThree } from "./firm/training-arms.ts";
import { type Curve, convergedAfter } from "./firm/training-curves.ts";
import type { PaperFigure, Study, StudyJob, StudyRow, UnitResult } from "./study.ts";

export interface FirmTrainingConfig {
  readonly training: MitigationTraining;
  /** The transferred agents' episodes; one-for-all and one-for-each have those of `training`. */
  readonly transferEpisodes: number;
  readonly checkpointEvery: number;
  readonly transferCheckpointEvery: number;
  /** Seconds of anomalies, and how many times, by which checkpoints are judged. */
  readonly evaluation: { readonly length: number; readonly scenes: number };
  /** With an agent each. Kinds that differ: gateways' and lookups' callees, a hash of passwords, a document store. */
  readonly services: readonly string[];
  /** Applications that no training has seen, with the requests per second that their limits are made for. */
  readonly unseen: Readonly<Record<string, number>>;
}

export interface FirmTrainingResult {
  readonly curves: { readonly [arm in "all" | "each" | "transferred"]: Curve };
  readonly gradientSteps: number;
  /** The best common agent in each application, with all services managed, and the same anomalies with nobody acting. */
  readonly applied: readonly AppliedResult[];
}

type Results = readonly UnitResult<FirmTrainingResult>[];

export const firmTraining: Study<FirmTrainingResult, FirmTrainingConfig> = {
  id: "firm-training",
  title: "FIRM: one agent for all services, one for each, and transferred (Figure 3.6)",
  about:
    "DDPG agents learn on Train-Ticket under random anomalies: one for all services, one for each of five, and five that " +
    "begin with the common one's networks. Checkpoints are judged on anomalies that no training has seen, on the five " +
    "services; an agent has converged when it has made 95 % of the way from the untrained to the best common agent's " +
    "reward. The best common agent then manages all services of the other three applications.",
  world: "fluid",
  seeds: { quick: 1, full: 10, first: 511 },
  config: ({ quick }) => ({
    // A second of the world has a step for each of 41 containers: 300 episodes have 650,000 of them, and 3,000 of 300 seconds
    // with one container each 900,000.
    training: {
      ...usualTraining,
      episodes: quick ? 24 : 300,
      curriculum: { ...usualCurriculum, longest: quick ? 30 : 120 },
    },
    transferEpisodes: quick ? 4 : 60,
    checkpointEvery: quick ? 6 : 20,
    transferCheckpointEvery: quick ? 1 : 4,
    evaluation: { length: quick ? 20 : 60, scenes: quick ? 1 : 3 },
    services: ["ts-travel-service", "ts-order-service", "ts-basic-service", "ts-auth-service", "ts-order-mongo"],
    // As many cores by default as Train-Ticket's 300 requests per second have, roughly: their requests are shorter.
    unseen: { "social-network": 1_000, media: 1_000, "hotel-reservation": 2_000 },
  }),
  units: () => ["training"],
  runUnit,
  rows,
  figures: (results) => [learningCurves(results)],
};

function runUnit({ seed, config, kernels, progress, signal }: StudyJob<FirmTrainingConfig>): FirmTrainingResult {
  const { best, curves, gradientSteps } = trainThree({
    ...config,
    seed,
    kernels,
    signal,
    progress: (p) => progress(0.9 * p),
  });
  const { scene } = config.training;
  const rates = { [trainTicket.name]: scene.designRate, ...config.unseen };
  const applied = Object.entries(rates).map(([name, designRate]) => {
    const training = { ...config.training, scene: { ...scene, designRate } };
    return applyAgents(best, { ...config, training, application: applicationNamed(name), kernels });
  });
  return { curves, gradientSteps, applied };
}

const FIGURE = "Figure 3.6(a)";
/** 2,000 of 15,000 episodes. */
const TRANSFERRED = 2 / 15;
const paper = (value: number, unit: string): PaperFigure => ({ low: value, high: value, unit, where: FIGURE });

function rows(results: Results, config: FirmTrainingConfig): readonly StudyRow[] {
  const rng = seededRng(1).fork("firm-training");
  const over = (id: string, unit: string, score: (result: FirmTrainingResult) => number) =>
    estimateOver(
      results.map(({ result }) => score(result)),
      { unit, rng: rng.fork(id) },
    );
  const episodes = ({ curves }: FirmTrainingResult, arm: keyof FirmTrainingResult["curves"]): number =>
    convergedAfter(curves[arm], curves.all);
  const bestOf = (curve: Curve): number => Math.max(...curve.map(({ reward }) => reward));
  const faster = over(
    "faster",
    "×",
    (result) => episodes(result, "transferred") / Math.max(1, episodes(result, "all")),
  );
  return [
    reproduceAtMost(
      {
        id: "transferred-episodes",
        what: "episodes until transferred agents have converged, over those of one-for-all",
        paper: paper(TRANSFERRED, "×"),
        ours: faster,
        claim: "Transferred agents converge in at most 2/15 (0.13) of the episodes of one-for-all.",
      },
      { bound: TRANSFERRED, none: 1 },
    ),
    promiseAtLeast(
      {
        id: "transferred-reward",
        what: "best judged reward of transferred agents over that of one-for-all, on the five services",
        paper: null,
        ours: over("transferred", "×", ({ curves }) => bestOf(curves.transferred) / bestOf(curves.all)),
        claim: "Transferred agents earn no less: at least 1 times the reward of one-for-all.",
      },
      1,
    ),
    reproduceAtLeast(
      {
        id: "common-reward",
        what: "best judged reward of one-for-all over that of one-for-each",
        paper: paper(0.94, "×"),
        ours: over("common", "×", ({ curves }) => bestOf(curves.all) / bestOf(curves.each)),
        claim: "One-for-all earns at least 0.94 times the reward of one-for-each, as in the paper.",
      },
      { bound: 0.94 },
    ),
    ...[trainTicket.name, ...Object.keys(config.unseen)].map((name) => {
      const of = ({ applied }: FirmTrainingResult) =>
        applied.find(({ application }) => application === name) as AppliedResult;
      return promiseAtLeast(
        {
          id: `missed-${name}`,
          what: `requests late, given up or refused with nobody acting, over those under the common agent: ${name}${name === trainTicket.name ? "" : ", never seen"}`,
          paper: null,
          ours: over(name, "×", (result) => of(result).idle.missedShare / Math.max(1e-4, of(result).agent.missedShare)),
          claim: `The agent trained on Train-Ticket keeps at least 2 times as many requests of ${name} from missing their SLO.`,
        },
        2,
      );
    }),
  ];
}

const armNames = { all: "one for all", each: "one for each", transferred: "transferred" } as const;

function learningCurves(results: Results): Figure {
  const arms = Object.keys(armNames) as (keyof typeof armNames)[];
  return {
    kind: "lines",
    id: "learning-curves",
    title: "Judged reward over episodes",
    subtitle: `Mean over ${results.length} seeds, on five services of Train-Ticket under anomalies that no training has seen`,
    x: { label: "episodes" },
    y: { label: "reward per container and second" },
    lines: arms.map((arm) => ({ name: armNames[arm], ...meanCurve(results.map(({ result }) => result.curves[arm])) })),
  };
}

function meanCurve(curves: readonly Curve[]): { readonly x: readonly number[]; readonly y: readonly number[] } {
  const [first = []] = curves;
  return {
    x: first.map(({ episodes }) => episodes),
    y: first.map((_, i) => {
      const values = curves.flatMap((curve) => curve[i]?.reward ?? []);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    }),
  };
}
