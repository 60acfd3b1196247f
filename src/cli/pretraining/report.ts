/**
 * What a finished pre-training leaves to look at: curves, and a map of the pool by embedding.
 * Owns: report.json and the pictures beside it. Not here: drawing (adapters/plot), training.
 */

import { figureToSvg, type LineFigure } from "../../adapters/plot/index.ts";
import type { Pretraining } from "../../learn/meta/index.ts";
import { planarMap } from "../../learn/meta/index.ts";
import { drawMember, type SharedTraining, type UnseenRanking } from "../../pretraining/index.ts";
import type { RunFolder } from "../training/run-folder.ts";
import { TRAINING_PART } from "./run-pretraining.ts";

export interface ReportedMember {
  readonly name: string;
  readonly application: string;
  readonly sensitivity: string;
  readonly shape: string;
  readonly embedding: readonly number[];
  /** Where it lies on the map. */
  readonly place: readonly [number, number];
}

export interface PretrainReport {
  readonly applications: number;
  readonly seed: number;
  readonly rounds: number;
  readonly wallSeconds: number;
  readonly threads: number;
  readonly kernels: string;
  /** Mean return of one episode of each application, without noise, with its embedding and with the neutral one. */
  readonly evaluation: { readonly known: number; readonly neutral: number };
  readonly curves: Pretraining["curves"];
  readonly map: { readonly shares: readonly [number, number]; readonly members: readonly ReportedMember[] };
  /** How it was made: the settings that another run needs to come to the same bytes. */
  readonly settings: SharedTraining;
  /** Of model.ckpt. */
  readonly model: { readonly sha256: string; readonly bytes: number };
  /** Of applications that were not learned on, where that was asked for. */
  readonly unseen: {
    readonly members: number;
    readonly trained: UnseenRanking;
    readonly untrained: UnseenRanking;
    /** What they earn in an episode under their own embedding, and how much more that is than under others, in 95 % intervals. */
    readonly earned: {
      readonly embedded: number;
      readonly overNeutral: Difference;
      readonly overStranger: Difference;
    };
  } | null;
}

export interface Difference {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

/** Of pairs, with a normal interval: members are many. */
export function differenceOf(one: readonly number[], other: readonly number[]): Difference {
  const differences = one.map((value, i) => value - (other[i] ?? Number.NaN));
  const count = differences.length;
  const mean = differences.reduce((sum, value) => sum + value, 0) / count;
  const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, count - 1);
  const half = 1.96 * Math.sqrt(variance / count);
  return { mean, lo: mean - half, hi: mean + half };
}

export type ReportFacts = Pick<PretrainReport, "wallSeconds" | "threads" | "kernels" | "unseen" | "settings" | "model">;

export function reportOf(training: Pretraining, facts: ReportFacts): PretrainReport {
  const { applications, seed } = facts.settings;
  const { embeddings, evaluation, curves, rounds } = training;
  const { places, shares } = planarMap(embeddings);
  const mean = (of: "known" | "neutral") =>
    evaluation.reduce((sum, row) => sum + row[of], 0) / Math.max(1, evaluation.length);
  const members = embeddings.map((vector, index) => {
    const { scene, sensitivity, shape } = drawMember({ seed, part: TRAINING_PART, index });
    return {
      name: `${TRAINING_PART}-${seed}-${index}`,
      application: scene.application.id,
      sensitivity,
      shape,
      embedding: [...vector],
      place: places[index] ?? ([0, 0] as const),
    };
  });
  return {
    applications,
    seed,
    rounds,
    evaluation: { known: mean("known"), neutral: mean("neutral") },
    curves,
    map: { shares, members },
    ...facts,
  };
}

export async function writeReport(folder: RunFolder, report: PretrainReport): Promise<void> {
  folder.writeBytes("report.json", `${JSON.stringify(report, null, 2)}\n`);
  for (const figure of figuresOf(report)) folder.writeBytes(`${figure.id}.svg`, await figureToSvg(figure));
}

function figuresOf(report: PretrainReport): readonly LineFigure[] {
  return [
    curveOf(report, { column: "return", title: "Return of the episodes played, noise included" }),
    curveOf(report, { column: "loss", title: "What the encoder learns from" }),
    mapOf(report, { by: "sensitivity", title: "The pool by embedding and sensitivity" }),
    mapOf(report, { by: "shape", title: "The pool by embedding and load shape" }),
  ];
}

/** Means over so many rounds that a curve has about this many points. */
const POINTS = 60;

function curveOf(
  { curves, applications }: PretrainReport,
  { column, title }: { readonly column: "return" | "loss"; readonly title: string },
): LineFigure {
  const size = Math.max(1, Math.ceil(curves.length / POINTS));
  const blocks = Array.from({ length: Math.ceil(curves.length / size) }, (_, i) =>
    curves.slice(i * size, (i + 1) * size),
  );
  return {
    kind: "lines",
    id: column,
    title,
    subtitle: `${applications} applications; means of ${size} rounds`,
    x: { label: "round" },
    y: { label: column },
    lines: [
      {
        name: column,
        x: blocks.map((block) => block.at(-1)?.round ?? 0),
        y: blocks.map((block) => block.reduce((sum, row) => sum + row[column], 0) / block.length),
      },
    ],
  };
}

function mapOf(
  { map }: PretrainReport,
  { by, title }: { readonly by: "sensitivity" | "shape"; readonly title: string },
): LineFigure {
  const percent = (share: number) => `${Math.round(100 * share)} % of the variance`;
  const names = [...new Set(map.members.map((member) => member[by]))].sort();
  return {
    kind: "lines",
    id: `map-${by}`,
    title,
    subtitle: "principal components of the embeddings of the applications learned on",
    x: { label: "first component", unit: percent(map.shares[0]) },
    y: { label: "second component", unit: percent(map.shares[1]) },
    lines: names.map((name) => {
      const own = map.members.filter((member) => member[by] === name);
      return { name, marks: "points", x: own.map(({ place }) => place[0]), y: own.map(({ place }) => place[1]) };
    }),
  };
}
