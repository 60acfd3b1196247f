/**
 * The decaying histogram with exponential buckets that the vertical autoscaler keeps its history in.
 * Owns: buckets, weights that double every half-life, percentiles, checkpoints.
 * Not here: what is put in, and with which weight (history.ts).
 *
 * A histogram is plain data, so that it can be stored as JSON. The functions below change it in place: eight days of
 * history are ten thousand samples, and copying 176 weights for each would cost more than the rest together. Callers
 * that promise purity copy once (`copyHistogram`) and then add.
 */
import type { Ms, Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";

export interface HistogramShape {
  readonly firstBucket: number;
  readonly growth: number;
  readonly buckets: number;
  /** A bucket lighter than this counts as empty. */
  readonly epsilon: number;
  readonly halfLife: Ms;
}

export interface Histogram {
  readonly weights: number[];
  total: number;
  /** First bucket that is not empty; the last bucket when all are. */
  min: number;
  /** Last bucket that is not empty; 0 when all are. */
  max: number;
  /** The instant at which a sample weighs its own weight; always a multiple of the half-life. Absent before the first. */
  reference: Ms | null;
}

export interface WeightedSample {
  readonly value: number;
  readonly weight: number;
  readonly at: Ms;
}

export function histogramShape(options: {
  readonly max: number;
  readonly firstBucket: number;
  readonly growth: number;
  readonly epsilon: number;
  readonly halfLife: Ms;
}): HistogramShape {
  const { max, firstBucket, growth, epsilon, halfLife } = options;
  const buckets = Math.ceil(Math.log((max * growth) / firstBucket + 1) / Math.log(1 + growth)) + 1;
  return { firstBucket, growth, buckets, epsilon, halfLife };
}

export function bucketOf({ firstBucket, growth, buckets }: HistogramShape, value: number): number {
  if (value < firstBucket) return 0;
  const ratio = 1 + growth;
  const bucket = Math.trunc(Math.log((value * (ratio - 1)) / firstBucket + 1) / Math.log(ratio));
  return Math.min(bucket, buckets - 1);
}

export function bucketStart({ firstBucket, growth }: HistogramShape, bucket: number): number {
  if (bucket === 0) return 0;
  const ratio = 1 + growth;
  return (firstBucket * (ratio ** bucket - 1)) / (ratio - 1);
}

export function emptyHistogram({ buckets }: HistogramShape): Histogram {
  return { weights: new Array<number>(buckets).fill(0), total: 0, min: buckets - 1, max: 0, reference: null };
}

export function copyHistogram({ weights, total, min, max, reference }: Histogram): Histogram {
  return { weights: weights.slice(), total, min, max, reference };
}

export const isEmpty = (histogram: Histogram, { epsilon }: HistogramShape): boolean =>
  (histogram.weights[histogram.min] ?? 0) < epsilon;

export function addSample(histogram: Histogram, shape: HistogramShape, { value, weight, at }: WeightedSample): void {
  const decayed = weight * decayFactor(histogram, shape, at);
  const bucket = bucketOf(shape, value);
  const sum = (histogram.weights[bucket] ?? 0) + decayed;
  histogram.weights[bucket] = sum;
  histogram.total += decayed;
  if (sum < shape.epsilon) return;
  if (bucket < histogram.min) histogram.min = bucket;
  if (bucket > histogram.max) histogram.max = bucket;
}

/** Takes back a sample that was added: same value, weight and time. */
export function subtractSample(
  histogram: Histogram,
  shape: HistogramShape,
  { value, weight, at }: WeightedSample,
): void {
  const decayed = weight * decayFactor(histogram, shape, at);
  const bucket = bucketOf(shape, value);
  const lessen = (from: number): number => (from - decayed < shape.epsilon ? 0 : from - decayed);
  histogram.total = lessen(histogram.total);
  histogram.weights[bucket] = lessen(histogram.weights[bucket] ?? 0);
  findEnds(histogram, shape);
}

/** The END of the bucket in which the share `p` of the weight is reached: an estimate that errs upwards. */
export function quantile(histogram: Histogram, shape: HistogramShape, p: number): number {
  if (isEmpty(histogram, shape)) return 0;
  const threshold = p * histogram.total;
  let bucket = histogram.min;
  for (let sum = 0; bucket < histogram.max; bucket += 1) {
    sum += histogram.weights[bucket] ?? 0;
    if (sum >= threshold) break;
  }
  // The last bucket has no end.
  return bucketStart(shape, Math.min(bucket + 1, shape.buckets - 1));
}

/** Adds what another histogram of the same shape has seen. */
export function mergeHistogram(into: Histogram, shape: HistogramShape, other: Histogram): void {
  const from = copyHistogram(other);
  if (into.reference === null) into.reference = from.reference;
  else if (from.reference !== null) {
    if (into.reference < from.reference) moveReference(into, shape, from.reference);
    else if (from.reference < into.reference) moveReference(from, shape, into.reference);
  }
  for (let bucket = from.min; bucket <= from.max; bucket += 1)
    into.weights[bucket] = (into.weights[bucket] ?? 0) + (from.weights[bucket] ?? 0);
  into.total += from.total;
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
}

// Doubles hold 2^1023; far below that the weights are brought back to around 1.
const maxExponent = 100;

function decayFactor(histogram: Histogram, shape: HistogramShape, at: Ms): number {
  if (histogram.reference === null || at > histogram.reference + maxExponent * shape.halfLife)
    moveReference(histogram, shape, at);
  return 2 ** ((at - (histogram.reference ?? at)) / shape.halfLife);
}

// Multiples of the half-life are counted from the year 1, as Go's time does: it matters for odd half-lives.
const yearOneToEpoch = 62_135_596_800_000;

function moveReference(histogram: Histogram, shape: HistogramShape, to: Ms): void {
  const { halfLife, epsilon } = shape;
  const reference = (Math.floor((to + yearOneToEpoch) / halfLife + 0.5) * halfLife - yearOneToEpoch) as Ms;
  if (histogram.reference !== null) {
    const factor = 2 ** Math.floor((histogram.reference - reference) / halfLife + 0.5);
    for (let bucket = histogram.min; bucket <= histogram.max; bucket += 1)
      histogram.weights[bucket] = (histogram.weights[bucket] ?? 0) * factor;
    histogram.total *= factor;
    findEnds(histogram, { buckets: shape.buckets, epsilon });
  }
  histogram.reference = reference;
}

function findEnds(histogram: Histogram, { buckets, epsilon }: { buckets: number; epsilon: number }): void {
  const isLight = (bucket: number): boolean => (histogram.weights[bucket] ?? 0) < epsilon;
  while (histogram.min < buckets - 1 && isLight(histogram.min)) histogram.min += 1;
  while (histogram.max > 0 && isLight(histogram.max)) histogram.max -= 1;
}

/** The histogram of a VerticalPodAutoscalerCheckpoint (v3): weights as whole numbers up to 10000, and their real total. */
export interface HistogramCheckpoint {
  readonly referenceTimestamp: Ms | null;
  readonly bucketWeights: Readonly<Record<string, number>>;
  readonly totalWeight: number;
}

const maxCheckpointWeight = 10_000;

export function saveHistogram({ weights, total, min, max, reference }: Histogram): HistogramCheckpoint {
  const used = weights.slice(min, max + 1);
  const scale = maxCheckpointWeight / Math.max(0, ...used);
  const bucketWeights: Record<string, number> = {};
  for (const [index, weight] of used.entries()) {
    const whole = weight > 0 ? Math.floor(weight * scale + 0.5) : 0;
    if (whole > 0) bucketWeights[String(min + index)] = whole;
  }
  return { referenceTimestamp: reference, bucketWeights, totalWeight: total };
}

export function loadHistogram(checkpoint: HistogramCheckpoint, shape: HistogramShape): Result<Histogram> {
  const refuse = (what: string): Result<never> =>
    err(failure("vpa.checkpoint", `the checkpoint's histogram is not usable: ${what}; start from samples instead`));
  if (!(checkpoint.totalWeight >= 0 && Number.isFinite(checkpoint.totalWeight)))
    return refuse(`its total weight is ${checkpoint.totalWeight}`);
  const entries = Object.entries(checkpoint.bucketWeights).map(([key, weight]) => ({ bucket: Number(key), weight }));
  let sum = 0;
  for (const { bucket, weight } of entries) {
    if (!Number.isInteger(bucket) || bucket < 0 || bucket >= shape.buckets)
      return refuse(`bucket ${bucket} is not one of 0 to ${shape.buckets - 1}`);
    if (!Number.isInteger(weight) || weight < 0) return refuse(`the weight of bucket ${bucket} is ${weight}`);
    sum += weight;
  }
  const histogram = emptyHistogram(shape);
  histogram.reference = checkpoint.referenceTimestamp;
  if (sum === 0) return ok(histogram);
  for (const { bucket, weight } of entries) {
    histogram.weights[bucket] = weight * (checkpoint.totalWeight / sum);
    histogram.min = Math.min(histogram.min, bucket);
    histogram.max = Math.max(histogram.max, bucket);
  }
  histogram.total = checkpoint.totalWeight;
  // Rounding to whole weights can push a bucket below epsilon; an end that counts as empty would empty the percentile.
  findEnds(histogram, shape);
  return ok(histogram);
}
