/**
 * Who is to blame in recorded traces: read, find critical paths, rank the instances.
 * Owns: the report of `coxswain trace localize`. Not here: its print (print-suspects.ts), the ranking (control/localize).
 *
 * A recording has no telemetry and no SLO, so what is slow is told against traces of normal times where they are given, and
 * otherwise by how instances vary with their requests.
 */
import { readFile } from "node:fs/promises";
import { CodedError, failure, type Ms, unwrap } from "../../base/index.ts";
import { decodeLocalizer, Localizer, type Suspect } from "../../control/localize/index.ts";
import type { TraceBlock } from "../../observe/telemetry/index.ts";
import { analyse, type ReadFile, type ReadOptions, readTraces } from "./read-traces.ts";

export interface LocalizeOptions extends ReadOptions {
  /** Traces of normal times. */
  readonly normal: readonly string[];
  /** A trained localizer's checkpoint. */
  readonly model: string | undefined;
  readonly threshold: number | undefined;
}

export interface LocalizeReport {
  readonly files: readonly ReadFile[];
  readonly traces: number;
  readonly spans: number;
  /** Of normal times. */
  readonly normalTraces: number;
  readonly isTrained: boolean;
  readonly threshold: number;
  /** Likeliest culprit first. */
  readonly suspects: readonly Suspect[];
}

/** Nothing is old in a recording. */
const ALL_TIME = Number.MAX_SAFE_INTEGER as Ms;
const SEED = 1;

export async function localize(options: LocalizeOptions): Promise<LocalizeReport> {
  const { normal, threshold } = options;
  const localizer = await localizerFor(options);
  let normalTraces = 0;
  if (normal.length > 0) {
    const { traces } = await readTraces({ ...options, files: normal });
    normalTraces = traces.block.size;
    localizer.observe(analyse(traces));
    localizer.settleNormal();
  }
  const { files, traces } = await readTraces(options);
  localizer.observe(analyse(traces));
  const suspects = localizer.suspects(endOf(traces.block));
  if (suspects.length === 0) {
    const message = `${options.files.join(", ")} has no type of request with 10 traces (${traces.block.size} in all), which is too few to say what varies; give a longer recording`;
    throw new CodedError(failure("trace.too-few", message));
  }
  return {
    files,
    traces: traces.block.size,
    spans: traces.block.spans.length,
    normalTraces,
    isTrained: localizer.isTrained,
    threshold: threshold ?? localizer.options.threshold,
    suspects,
  };
}

async function localizerFor({ model, threshold }: LocalizeOptions): Promise<Localizer> {
  const more = threshold === undefined ? {} : { threshold };
  if (model === undefined) return new Localizer({ seed: SEED, window: ALL_TIME, ...more });
  let bytes: Uint8Array;
  try {
    bytes = await readFile(model);
  } catch (cause) {
    const message = `the localizer ${model} cannot be read; give the file of one, or leave --model out`;
    throw new CodedError(failure("trace.model", message, { cause }));
  }
  return unwrap(decodeLocalizer(bytes, { window: ALL_TIME, ...more }));
}

function endOf({ spans }: TraceBlock): Ms {
  let end = 0;
  for (let row = 0; row < spans.length; row++) end = Math.max(end, spans.endUs[row] as number);
  return (end / 1_000) as Ms;
}
