/**
 * What a serverless world is made of; the same options for the fluid and the event rung.
 * Owns: their types and defaults, and the check that a world can be built of them.
 */
import type { Ms, Result, WorkloadId } from "../../base/index.ts";
import { CodedError, err, failure, milliseconds, ok } from "../../base/index.ts";
import type { WorkSpread } from "../draws.ts";
import { KEEP_ALIVE, metrics as usualMetrics, overhead as usualOverhead } from "./calibration.ts";
import type { FunctionProfile } from "./functions.ts";
import type { InvokerSpec } from "./invokers.ts";
import { isolatedSlo } from "./isolated.ts";
import { type InvocationPattern, patternProblem } from "./patterns.ts";
import { type FunctionSetting, settingProblem } from "./setting.ts";

export interface FunctionSpec {
  readonly id: WorkloadId;
  readonly profile: FunctionProfile;
  readonly pattern: InvocationPattern;
  /** 99th percentile that is to be kept; that of the function alone and 15 % more unless said. */
  readonly slo?: Ms;
  readonly initial: FunctionSetting;
  /**
   * `provisioned`: so many containers as its controller says, started ahead; with none, one comes when it is called.
   * `on-demand`: a container for each call that finds none free, up to that number, as OpenWhisk does by itself.
   */
  readonly scaling?: "provisioned" | "on-demand";
}

export interface ServerlessMetrics {
  /** Between two looks at the counters; from a look until a controller can read it, ms. */
  readonly interval: number;
  readonly delay: number;
  /** Chance that a look at the counters fails; sigma of a lognormal factor on each rate. */
  readonly missing: number;
  readonly noise: number;
}

export interface ServerlessOptions {
  readonly seed: number;
  readonly start?: Ms;
  readonly invokers: readonly InvokerSpec[];
  readonly functions: readonly FunctionSpec[];
  /** How long a rate of calls holds before the next is drawn: an RL step. */
  readonly step: Ms;
  /** What percentiles, rates and utilisations in readings are over; a step unless said. */
  readonly window?: Ms;
  readonly metrics?: Partial<ServerlessMetrics>;
  readonly keepAlive?: Ms;
  /** What closed forms want: no way through the platform, another spread of work. */
  readonly overhead?: { readonly mean: number; readonly variation: number };
  readonly spread?: WorkSpread;
  /** Whether it keeps who holds up whom; the event rung only. */
  readonly tellsWork?: boolean;
}

export interface FilledFunction extends Required<FunctionSpec> {}

export interface FilledServerless extends Omit<Required<ServerlessOptions>, "functions" | "metrics"> {
  readonly functions: readonly FilledFunction[];
  readonly metrics: ServerlessMetrics;
}

export function fillServerless(options: ServerlessOptions): FilledServerless {
  const { step, window = step } = options;
  const filled = {
    start: milliseconds(0),
    keepAlive: milliseconds(KEEP_ALIVE),
    overhead: usualOverhead,
    spread: "profile" as const,
    tellsWork: false,
    ...options,
    window,
    metrics: { ...usualMetrics, ...options.metrics },
    functions: [] as readonly FilledFunction[],
  };
  const functions = options.functions.map((spec) => {
    const checked = fillFunction(spec);
    if (checked.ok) return checked.value;
    throw new CodedError(checked.failure);
  });
  const problem = problemOf({ ...filled, functions });
  if (problem !== undefined)
    throw new CodedError(failure("serverless.options", `the serverless world cannot be built: ${problem}`));
  return { ...filled, functions };
}

export function fillFunction(spec: FunctionSpec): Result<FilledFunction> {
  const problem = patternProblem(spec.pattern) ?? profileProblem(spec.profile) ?? settingProblem(spec.initial);
  if (problem !== undefined) return err(failure("serverless.function", `the function ${spec.id} ${problem}`));
  return ok({ scaling: "provisioned", ...spec, slo: spec.slo ?? isolatedSlo(spec.profile) });
}

function problemOf({
  start,
  step,
  window,
  invokers,
  functions,
  metrics,
  keepAlive,
}: FilledServerless): string | undefined {
  if (!Number.isFinite(start)) return `it starts at ${start}: give milliseconds`;
  if (!(step > 0 && window > 0)) return `its step is ${step} ms and its window ${window} ms: give more than 0`;
  if (!(keepAlive >= 0)) return `it keeps containers for ${keepAlive} ms: give 0 or more`;
  const { interval, delay, missing, noise } = metrics;
  if (!(interval > 0 && delay >= 0 && missing >= 0 && missing <= 1 && noise >= 0))
    return "its metrics have an interval of 0 or a share outside of 0 to 1";
  if (invokers.length === 0) return "it has no invokers: give at least one";
  for (const { name, cores, speed, memory, bandwidth, cache, io } of invokers)
    if (![cores, speed, memory, bandwidth, cache, io].every((amount) => amount > 0))
      return `invoker ${name} lacks a resource: give more than 0 of each`;
  if (new Set(functions.map(({ id }) => id)).size < functions.length) return "two functions have the same id";
  return undefined;
}

function profileProblem({ io, compute, memory, init, variation }: FunctionProfile): string | undefined {
  const amounts = [io.time, io.rate, compute.time, compute.bandwidth, compute.workingSet, memory.peak, init, variation];
  if (!amounts.every((amount) => Number.isFinite(amount) && amount >= 0)) return "has a negative amount in its profile";
  if (io.time + compute.time <= 0) return "does nothing: give it work";
  return memory.comfortable >= memory.peak ? undefined : "is comfortable with less memory than its peak";
}
