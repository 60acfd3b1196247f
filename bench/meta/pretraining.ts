/**
 * How long a pre-training at full size would take, from what its rounds cost.
 * A round is, for each of its applications, a visit (two episodes, its trajectories through the encoder and back), and then
 * the encoder's step and the base learner's, which one thread does while the others wait. So rounds of one application
 * and of two say what both cost. Visits are shared out among the threads; that two of them are twice as fast is assumed,
 * not measured.
 */

import { type PretrainConfig, pretrainDefaults } from "../../src/learn/meta/index.ts";
import { MILLISECONDS, plainFigure } from "../comparison.ts";
import type { Crew } from "../engine/crew.ts";
import type { BenchContext, Figure } from "../report.ts";
import { atMost, round } from "../report.ts";

const APPLICATIONS = 200;
const THREADS = 2;
const MINUTE = { name: "min", ns: 60e9 };
const LIMITS = { wasm: atMost(60, "min"), native: atMost(30, "min") } as const;

export async function pretrainingFigures(
  crew: Crew,
  { quick, signal }: Pick<BenchContext, "quick" | "signal">,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  // A quick run has no time for both.
  for (const role of quick ? (["wasm"] as const) : (["wasm", "native"] as const)) {
    const part = (task: string) => ({ key: task, role, task, label: `our engine, ${role} kernels` });
    // One round each at a time: a round takes the better part of a second.
    const rounds = { count: quick ? 2 : 6, lengthMs: 1, warmupMs: 0, signal };
    const results = await crew.measure([part("meta-round:1"), part("meta-round:2")], rounds);
    const [one, two] = [results.get("meta-round:1"), results.get("meta-round:2")];
    if (!one || !two) continue;
    const options = {
      id: `meta-round.${role}`,
      what: "a round of pre-training with one application",
      unit: MILLISECONDS,
    };
    figures.push(plainFigure(one, options));
    const visit = Math.max(0, two.timing.best - one.timing.best);
    const minutes = extrapolated({ visit, rest: Math.max(0, one.timing.best - visit) }) / MINUTE.ns;
    const bound = LIMITS[role];
    figures.push({
      id: `meta-pretraining.${role}`,
      what: `pre-training on ${APPLICATIONS} applications on ${THREADS} threads, extrapolated, ${role} kernels`,
      value: round(minutes),
      unit: MINUTE.name,
      target: bound.text,
      holds: bound.accepts(minutes),
    });
  }
  return figures;
}

/** Nanoseconds in, nanoseconds out; `rest` is what a round costs besides its visits. */
export function extrapolated(
  { visit, rest }: { readonly visit: number; readonly rest: number },
  config: Pick<PretrainConfig, "visits" | "environmentsPerRound" | "learnSteps" | "settleSteps"> = pretrainDefaults,
): number {
  const { visits, environmentsPerRound, learnSteps, settleSteps } = config;
  // The first turn and the last two only play or only read: less than a visit and a round, and counted as such.
  const turns = visits + 3;
  const rounds = turns * Math.ceil(APPLICATIONS / environmentsPerRound);
  return (turns * APPLICATIONS * visit) / THREADS + (rounds + settleSteps / learnSteps) * rest;
}
