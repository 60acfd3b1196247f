/**
 * A simulator of one function fitted to what was recorded of it, with how wrong it is.
 * Owns: the arithmetic, and when the result is not to be believed. Not here: the simulator (model.ts), what is learned in it (train.ts).
 *
 * It is fitted to the older three quarters and judged by the newest: the recorded settings are played again, with calls and
 * slowdowns as they were, and latencies, use and missed steps compared. What it has to say by itself is how long calls wait and how well
 * containers are used; by how much others slow calls down at a time cannot be foretold, and is replayed.
 */
import {
  err,
  failure,
  type Ms,
  ok,
  type Result,
  type Rng,
  seededRng,
  type WorkloadId,
} from "../../../../base/index.ts";
import { preservationOf } from "../observation.ts";
import type { FitError } from "./advice.ts";
import { type FunctionModel, type ModelStep, ModelWorld, settingFactor } from "./model.ts";
import type { RecordedStep } from "./records.ts";

export interface FittedFunction {
  readonly model: FunctionModel;
  /** All steps that were recorded, and the first that it was not fitted to. */
  readonly course: readonly ModelStep[];
  readonly heldOut: number;
  readonly error: FitError;
}

export interface FitOptions {
  readonly workload: WorkloadId;
  readonly slo: Ms;
  readonly step: Ms;
  readonly seed: number;
}

/** Fewer steps say too little: a quarter of them has to judge. */
const FEWEST = 120;
const FITTED = 0.75;
/** Beyond these it is not believed. */
export const mostError = { latency: 0.25, cpu: 0.1, memory: 0.1, missed: 0.12 } as const;
const SPREADS = [0.03, 0.08, 0.15, 0.25] as const;
const UNEVENNESS = [0, 0.4, 0.8] as const;
/** Steps at a setting before it counts as tried. */
const TRIED = 5;
const USUAL_START = 1_500;
/** With so many times what a call uses at its peak nothing is short, as long as nobody has seen otherwise; assumed. */
const PLENTY = 1.6;
const SHARES_PER_CORE = 1_024;

export function fitFunction(steps: readonly RecordedStep[], options: FitOptions): Result<FittedFunction> {
  const called = steps.filter(({ execution, latency }) => execution !== null && latency !== null).length;
  if (called < FEWEST)
    return err(
      failure(
        "functions.bootstrap.records",
        `${called} recorded steps with calls say too little to simulate ${options.workload}: the fallback acts on, and it is tried again with ${FEWEST}`,
        { retry: true },
      ),
    );
  const heldOut = Math.floor(FITTED * steps.length);
  const older = steps.slice(0, heldOut);
  const physics = physicsOf(older);
  let best: { readonly model: FunctionModel; readonly loss: number } | undefined;
  for (const spread of SPREADS)
    for (const unevenness of UNEVENNESS) {
      const model: FunctionModel = { ...physics, spread, unevenness };
      const { latency, missed, said } = replay(steps, { model, from: 0, to: heldOut, options });
      const loss = latency + Math.abs(missed - said);
      if (best === undefined || loss < best.loss) best = { model, loss };
    }
  const { model } = best as { readonly model: FunctionModel };
  const error = replay(steps, { model, from: heldOut, to: steps.length, options });
  const problem = problemOf(error);
  if (problem !== undefined)
    return err(
      failure(
        "functions.bootstrap.inaccurate",
        `the simulator fitted to ${options.workload} is not believed: ${problem}; nothing is learned in it`,
        { retry: true },
      ),
    );
  return ok({ model, course: courseOf(steps, model), heldOut, error });
}

function problemOf({ latency, cpu, memory, missed, said }: FitError): string | undefined {
  const per = (share: number): string => (100 * share).toFixed(1);
  if (!(latency <= mostError.latency)) return `its 99th percentiles are ${per(latency)} % off`;
  if (!(cpu <= mostError.cpu)) return `its use of CPU is ${per(cpu)} % of what is granted off`;
  if (!(memory <= mostError.memory)) return `its use of memory is ${per(memory)} % of what is granted off`;
  if (!(Math.abs(missed - said) <= mostError.missed))
    return `it says that ${per(said)} steps in a hundred missed the SLO where ${per(missed)} did`;
  return undefined;
}

/** What can be read off the records one by one. */
function physicsOf(steps: readonly RecordedStep[]): Omit<FunctionModel, "spread" | "unevenness"> {
  const ways = steps.flatMap(({ latency, execution }) =>
    latency === null || execution === null ? [] : [Math.max(0, latency - execution)],
  );
  const shares = triedRange(steps.map(({ setting }) => setting.shares));
  const sharesPower = powerOf(steps);
  const memory = memoryOf(steps);
  const plain = { sharesPower, shares, memory };
  const executions = steps.flatMap(({ execution, setting }) =>
    execution === null ? [] : [execution / settingFactor(plain, setting)],
  );
  const starts = steps.flatMap(({ coldStart }) => (coldStart !== null && coldStart > 100 ? [coldStart] : []));
  return {
    ...plain,
    way: quantile(ways, 0.05),
    execution: quantile(executions, 0.2),
    coldStart: starts.length > 0 ? quantile(starts, 0.9) : USUAL_START,
  };
}

/**
 * How executions depend on shares. Rules raise shares where calls are slow, so slow steps have many: what is compared is what
 * follows one and the same execution time. Least squares of log execution on the one before and on log shares.
 */
function powerOf(steps: readonly RecordedStep[]): number {
  const rows: { readonly y: number; readonly x: number; readonly z: number }[] = [];
  for (const [i, now] of steps.entries()) {
    const before = steps[i - 1];
    if (before === undefined || before.execution === null || now.execution === null) continue;
    if (now.execution <= 0 || before.execution <= 0) continue;
    rows.push({ y: Math.log(now.execution), x: Math.log(before.execution), z: Math.log(now.setting.shares) });
  }
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / Math.max(1, rows.length);
  const [my, mx, mz] = [mean(({ y }) => y), mean(({ x }) => x), mean(({ z }) => z)];
  const product = (of: (row: (typeof rows)[number]) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  const xx = product(({ x }) => (x - mx) ** 2);
  const zz = product(({ z }) => (z - mz) ** 2);
  const xz = product(({ x, z }) => (x - mx) * (z - mz));
  const xy = product(({ x, y }) => (x - mx) * (y - my));
  const zy = product(({ z, y }) => (z - mz) * (y - my));
  const determinant = xx * zz - xz * xz;
  if (!(determinant > 1e-9)) return 0;
  return Math.min(1, Math.max(0, -(xx * zy - xz * xy) / determinant));
}

/** Memory of a container by how busy it is: a line through all steps. */
function memoryOf(steps: readonly RecordedStep[]): FunctionModel["memory"] {
  const points = steps.flatMap(({ memory, setting, ready, completed, execution }) => {
    if (memory === null || execution === null || ready === 0) return [];
    return [{ x: Math.min(1, (completed * execution) / 1_000 / ready), y: memory * setting.memory }];
  });
  const mean = (of: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / Math.max(1, points.length);
  const [mx, my] = [mean(({ x }) => x), mean(({ y }) => y)];
  const xx = points.reduce((sum, { x }) => sum + (x - mx) ** 2, 0);
  const xy = points.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0);
  const call = Math.max(0, xx > 1e-9 ? xy / xx : 0);
  const idle = Math.max(0, my - call * mx);
  const usual = quantile(
    steps.flatMap(({ execution }) => (execution === null ? [] : [execution])),
    0.5,
  );
  const byLimit = new Map<number, number[]>();
  for (const { execution, setting } of steps)
    if (execution !== null) byLimit.set(setting.memory, [...(byLimit.get(setting.memory) ?? []), execution]);
  const fast = [...byLimit].filter(([, times]) => times.length >= TRIED && quantile(times, 0.5) <= 1.1 * usual);
  const tried = Math.min(
    ...(fast.length > 0 ? fast.map(([limit]) => limit) : steps.map(({ setting }) => setting.memory)),
  );
  const enough = PLENTY * (idle + call);
  // What is below was tried, and was slow: then it is not enough.
  const isRefuted = [...byLimit].some(([limit, times]) => times.length >= TRIED && limit >= enough && limit < tried);
  return { idle, call, least: isRefuted ? tried : Math.min(tried, enough) };
}

/** The least and the most that several steps had. */
function triedRange(values: readonly number[]): { readonly least: number; readonly most: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = Math.min(TRIED, sorted.length) - 1;
  return { least: sorted[at] as number, most: sorted.at(-1 - at) as number };
}

/** What happens again. A step without calls has the slowdown of the one before. */
function courseOf(steps: readonly RecordedStep[], model: FunctionModel): readonly ModelStep[] {
  let [slowdown, cpu] = [1, 0];
  const usual = quantile(
    steps.flatMap((step) => cpuOf(step) ?? []),
    0.5,
  );
  cpu = usual;
  return steps.map((step) => {
    const { execution, setting, offered } = step;
    if (execution !== null) slowdown = execution / (model.execution * settingFactor(model, setting));
    cpu = Math.min(3 * usual, cpuOf(step) ?? cpu);
    return { offered, slowdown, cpu };
  });
}

/** Core-ms of a call. */
function cpuOf({ cpu, completed, ready, setting }: RecordedStep): number | undefined {
  if (cpu === null || completed <= 0) return undefined;
  return (1_000 * cpu * ready * setting.shares) / SHARES_PER_CORE / completed;
}

interface Replay {
  readonly model: FunctionModel;
  readonly from: number;
  readonly to: number;
  readonly options: FitOptions;
}

/** The recorded settings once more, in the simulator. */
function replay(steps: readonly RecordedStep[], { model, from, to, options }: Replay): FitError {
  const rng: Rng = seededRng(options.seed).fork("replay");
  const course = courseOf(steps, model);
  const first = steps[from] as RecordedStep;
  const world = new ModelWorld({ ...options, model, course, from, initial: first.setting, rng });
  const errors = { latency: [] as number[], cpu: [] as number[], memory: [] as number[] };
  let [missed, said] = [0, 0];
  for (let i = from; i < to; i++) {
    const step = steps[i] as RecordedStep;
    world.apply(options.workload, step.setting);
    world.advance((world.now + options.step) as Ms);
    const reading = world.read();
    if (step.latency !== null && reading.latency !== null)
      errors.latency.push(Math.abs(Math.log(reading.latency / Math.max(1, step.latency))));
    if (step.cpu !== null && reading.use.cpu !== null)
      errors.cpu.push(Math.abs(Math.min(1, reading.use.cpu) - Math.min(1, step.cpu)));
    if (step.memory !== null && reading.use.memory !== null)
      errors.memory.push(Math.abs(reading.use.memory - step.memory));
    if (preservationOf({ ...step, slo: options.slo }) < 1) missed += 1;
    if (preservationOf(reading) < 1) said += 1;
  }
  const count = Math.max(1, to - from);
  return {
    latency: quantile(errors.latency, 0.5),
    cpu: quantile(errors.cpu, 0.5),
    memory: quantile(errors.memory, 0.5),
    missed: missed / count,
    said: said / count,
  };
}

/** NaN of nothing. */
function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
