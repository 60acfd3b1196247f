/**
 * One row of a study as a small plot: our interval with its mean, and the paper's value marked on the same scale.
 * Owns: the scale. Not here: the figures in words, which stand beside it in the table.
 */
import type { ComponentChild } from "preact";
import type { MeasuredInterval, PublishedRange } from "../../../src/contract/index.ts";

const WIDTH = 200;
const HEIGHT = 34;
const PAD = 8;
const MIDDLE = HEIGHT / 2;

export interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Spans everything that is marked, and zero where it is not far away: a length from zero is a quantity, else a place. */
export function scaleOf(ours: MeasuredInterval, paper: PublishedRange | null): Scale {
  const values = [ours.lo, ours.hi, ours.mean, ...(paper === null ? [] : [paper.low, paper.high])];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low || Math.abs(high) || 1;
  return { low: low > 0 && low < 2 * span ? 0 : low, high: high < 0 && -high < 2 * span ? 0 : high };
}

export function IntervalPlot({
  ours,
  paper,
}: {
  ours: MeasuredInterval;
  paper: PublishedRange | null;
}): ComponentChild {
  const { low, high } = scaleOf(ours, paper);
  const x = (value: number): number => PAD + ((value - low) / (high - low || 1)) * (WIDTH - 2 * PAD);
  const isZeroInside = low <= 0 && high >= 0;
  return (
    <svg class="interval-plot" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="axis" d={`M${PAD} ${MIDDLE}H${WIDTH - PAD}`} />
      {isZeroInside ? <path class="zero" d={`M${x(0)} ${MIDDLE - 8}v16`} /> : null}
      <rect x={x(ours.lo)} y={MIDDLE - 5} width={Math.max(x(ours.hi) - x(ours.lo), 2)} height="10" rx="3" />
      <circle cx={x(ours.mean)} cy={MIDDLE} r="4.5" />
      {paper === null ? null : <Paper from={x(paper.low)} to={x(paper.high)} />}
    </svg>
  );
}

/** A diamond where the paper gives one value, a bracket where it gives a range. */
function Paper({ from, to }: { from: number; to: number }): ComponentChild {
  if (to - from < 1) return <path class="paper" d={`M${from} ${MIDDLE - 8}l6 8l-6 8l-6 -8z`} />;
  return <path class="paper" d={`M${from} ${MIDDLE - 9}v18M${to} ${MIDDLE - 9}v18M${from} ${MIDDLE - 9}H${to}`} />;
}
