/**
 * A localizer's learned part as bytes, in the format of all checkpoints.
 * Owns: what is kept and what is refused. Not here: the format (learn/rl), where the bytes are kept.
 *
 * What it knows of the present and the normal is not kept: after a restart these are old, and a minute brings new ones.
 */
import { err, failure, type Ms, ok, type Result } from "../../base/index.ts";
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint, type NumberBlock } from "../../learn/rl/index.ts";
import { Localizer } from "./localizer.ts";

const KIND = "localizer";

export function encodeLocalizer({ options, svm, calibration }: Localizer): Uint8Array {
  return encodeCheckpoint({
    kind: KIND,
    meta: {
      ...options,
      positive: svm.counts.positive,
      negative: svm.counts.negative,
      steps: svm.machine.steps,
      pairs: calibration.count,
    },
    blocks: { weights: svm.machine.weights, averaged: svm.machine.averaged, pairs: calibration.pairs },
  });
}

/** The same localizer again; its threshold and its window may be other ones. */
export function decodeLocalizer(
  bytes: Uint8Array,
  { threshold, window }: { readonly threshold?: number; readonly window?: Ms } = {},
): Result<Localizer> {
  const decoded = decodeCheckpoint(bytes);
  if (!decoded.ok) return decoded;
  const { kind, meta, blocks } = decoded.value;
  const counts = ["seed", "window", "threshold", "positive", "negative", "steps", "pairs"] as const;
  const features = meta.features;
  if (
    kind !== KIND ||
    counts.some((name) => typeof meta[name] !== "number") ||
    (features !== "printed" && features !== "all" && features !== "habits")
  )
    return refused(`it is of a ${kind}`);
  const [seed, savedWindow, savedThreshold, positive, negative, steps, pairs] = counts.map(
    (name) => meta[name] as number,
  ) as [...[number, number, number, number, number, number, number]];
  const localizer = new Localizer({
    seed,
    window: window ?? (savedWindow as Ms),
    threshold: threshold ?? savedThreshold,
    features,
  });
  const { svm, calibration } = localizer;
  const places = { weights: svm.machine.weights, averaged: svm.machine.averaged, pairs: calibration.pairs };
  for (const [name, place] of Object.entries(places)) {
    const block: NumberBlock | undefined = (blocks as Checkpoint["blocks"])[name];
    if (!(block instanceof Float64Array) || block.length !== place.length)
      return refused(`its ${name} do not fit ${features} features`);
  }
  for (const [name, place] of Object.entries(places)) place.set(blocks[name] as Float64Array);
  Object.assign(svm.counts, { positive, negative });
  svm.machine.steps = steps;
  calibration.restore(pairs);
  return ok(localizer);
}

function refused(why: string): Result<never> {
  return err(
    failure("checkpoint.mismatch", `the checkpoint holds no localizer: ${why}; train one, or give the file of one`),
  );
}
