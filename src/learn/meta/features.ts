/**
 * What one row of a trajectory consists of, by name.
 * Owns: layouts of feature rows, the join of a row's parts, the two layouts that tasks use.
 * Not here: sequences of rows (trajectory.ts), what an observation means (the tasks).
 *
 * The meta learner is the same for every task; only this differs. Reinforcement learning joins observation, action and
 * reward of a step; supervised learning joins the features and the labels of a sample (FLASH, appendix A.1).
 */

import type { Result } from "../../base/index.ts";
import { CodedError, err, failure, ok } from "../../base/index.ts";

export interface FeaturePart {
  readonly name: string;
  readonly width: number;
}

/** The parts of a row, side by side in this order. Names are saved with the parameters, so columns cannot be mixed up. */
export type FeatureLayout = readonly FeaturePart[];

/** [observation, action, reward] of one step. */
export function decisionLayout({ obs, action }: { readonly obs: number; readonly action: number }): FeatureLayout {
  return [
    { name: "observation", width: obs },
    { name: "action", width: action },
    { name: "reward", width: 1 },
  ];
}

/** [features, labels] of one sample. */
export function sampleLayout(widths: { readonly features: number; readonly labels: number }): FeatureLayout {
  return [
    { name: "features", width: widths.features },
    { name: "labels", width: widths.labels },
  ];
}

export function layoutWidth(layout: FeatureLayout): number {
  return layout.reduce((sum, { width }) => sum + width, 0);
}

/** `observation 8, action 3, reward 1`: how sentences name a layout. */
export function layoutText(layout: FeatureLayout): string {
  return layout.map(({ name, width }) => `${name} ${width}`).join(", ");
}

/** Where a column belongs, for sentences: `action[1]`. */
export function columnName(layout: FeatureLayout, column: number): string {
  let at = column;
  for (const { name, width } of layout) {
    if (at < width) return `${name}[${at}]`;
    at -= width;
  }
  return `column ${column}`;
}

/** One row from its parts, each of the width that the layout says. */
export function joinRow(layout: FeatureLayout, parts: readonly ArrayLike<number>[]): Result<Float32Array> {
  const row = new Float32Array(layoutWidth(layout));
  let at = 0;
  for (let p = 0; p < Math.max(layout.length, parts.length); p++) {
    const wanted = layout[p];
    const found = parts[p];
    if (!wanted || !found || found.length !== wanted.width) {
      const what = wanted ? `its ${wanted.name} (${wanted.width})` : `no part ${p}`;
      return err(
        failure(
          "meta.ragged",
          `a row should have ${what} and has ${found?.length ?? "nothing"} there; join rows as the layout says: ${layoutText(layout)}`,
        ),
      );
    }
    row.set(found, at);
    at += wanted.width;
  }
  return ok(row);
}

export function assertLayout(layout: FeatureLayout): void {
  const names = new Set(layout.map(({ name }) => name));
  const isSound = layout.every(({ name, width }) => name !== "" && Number.isInteger(width) && width >= 1);
  if (layout.length > 0 && isSound && names.size === layout.length) return;
  throw new CodedError(
    failure(
      "meta.config",
      `the layout of the rows is '${layoutText(layout)}'; name every part once and give it a whole width from 1 on`,
    ),
  );
}
