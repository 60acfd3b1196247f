/**
 * The constants of the vertical pod autoscaler (VPA 1.8), and what a user may set.
 * Owns: the recommender's and the updater's configuration, container policies.
 * Not here: what they do (recommend.ts, updater.ts).
 */
import type { Bytes, Millicores, Ms, Result } from "../../../base/index.ts";
import { bytes, err, failure, mebibytes, millicores, minutes, ok } from "../../../base/index.ts";
import type { HistogramShape } from "./histogram.ts";
import { histogramShape } from "./histogram.ts";

export interface Resources {
  readonly cpu: Millicores;
  readonly memory: Bytes;
}

export type ResourceName = keyof Resources;

/** From 0 to 1; the flags of the VPA call them percentiles. */
export interface Quantiles {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

export interface VpaConfig {
  readonly cpu: { readonly quantiles: Quantiles; readonly histogram: HistogramShape };
  readonly memory: { readonly quantiles: Quantiles; readonly histogram: HistogramShape };
  readonly safetyMargin: number;
  /** This much history at one sample a minute is a confidence of 1. */
  readonly confidenceInterval: Ms;
  /** Floors of a whole pod, shared by its containers. 250 MiB is what surprises people with small services most. */
  readonly podMinimum: Resources;
  readonly memoryInterval: Ms;
  readonly memoryIntervals: number;
  readonly oomBumpRatio: number;
  readonly oomMinBump: Bytes;
  /** "constant" since VPA 1.4; before, a CPU sample weighed as much as the container's request in cores. */
  readonly cpuWeight: "constant" | "request";
  readonly roundCpu: Millicores;
  readonly roundMemory: Bytes;
}

const hours = (n: number): Ms => minutes(60 * n);
const day = hours(24);

/** The least weight of a sample before decay. */
export const minSampleWeight = 0.1;
const epsilon = 0.001 * minSampleWeight;
const growth = 0.05;
const quantiles: Quantiles = { target: 0.9, lower: 0.5, upper: 0.95 };

export const defaultVpaConfig: VpaConfig = Object.freeze<VpaConfig>({
  cpu: { quantiles, histogram: histogramShape({ max: 1000, firstBucket: 0.01, growth, epsilon, halfLife: day }) },
  memory: { quantiles, histogram: histogramShape({ max: 1e12, firstBucket: 1e7, growth, epsilon, halfLife: day }) },
  safetyMargin: 0.15,
  confidenceInterval: day,
  podMinimum: { cpu: millicores(25), memory: mebibytes(250) },
  memoryInterval: day,
  memoryIntervals: 8,
  oomBumpRatio: 1.2,
  oomMinBump: mebibytes(100),
  cpuWeight: "constant",
  roundCpu: millicores(1),
  roundMemory: bytes(1),
});

export function parseVpaConfig(options: Partial<VpaConfig>): Result<VpaConfig> {
  const config = { ...defaultVpaConfig, ...options };
  const problem = problemOf(config);
  return problem === undefined
    ? ok(Object.freeze(config))
    : err(failure("vpa.config", `the VPA cannot run: ${problem}`));
}

function problemOf(config: VpaConfig): string | undefined {
  for (const resource of ["cpu", "memory"] as const) {
    const { target, lower, upper } = config[resource].quantiles;
    if (!(lower > 0 && lower <= target && target <= upper && upper <= 1))
      return `the quantiles of ${resource} are ${lower}, ${target}, ${upper}: give 0 < lower <= target <= upper <= 1`;
  }
  const positive: readonly (keyof VpaConfig)[] = [
    "confidenceInterval",
    "memoryInterval",
    "memoryIntervals",
    "roundCpu",
    "roundMemory",
  ];
  for (const key of positive)
    if (!((config[key] as number) > 0)) return `${key} is ${String(config[key])}, give more than 0`;
  if (!(config.safetyMargin >= 0)) return `safetyMargin is ${config.safetyMargin}, give 0 or more`;
  if (!(config.oomBumpRatio >= 1)) return `oomBumpRatio is ${config.oomBumpRatio}, give 1 or more`;
  if (!(config.oomMinBump >= 0)) return `oomMinBump is ${config.oomMinBump}, give 0 or more`;
  return undefined;
}

/** What a user asks of one container. `*` as the key of a policy map stands for every other container. */
export interface ContainerPolicy {
  readonly mode?: "Auto" | "Off";
  readonly minAllowed?: Partial<Resources>;
  readonly maxAllowed?: Partial<Resources>;
  readonly controlledResources?: readonly ResourceName[];
  readonly controlledValues?: "RequestsAndLimits" | "RequestsOnly";
}

export type VpaPolicies = Readonly<Record<string, ContainerPolicy>>;

export const policyFor = (policies: VpaPolicies, container: string): ContainerPolicy =>
  policies[container] ?? policies["*"] ?? {};

export type UpdateMode = "Off" | "Initial" | "Recreate" | "Auto" | "InPlaceOrRecreate" | "InPlace";

export interface UpdaterConfig {
  readonly mode: UpdateMode;
  /** Fewer live pods than this and the updater leaves the workload alone. */
  readonly minReplicas: number;
  /** Share of the configured replicas that may be away at once, rounded down. */
  readonly evictionTolerance: number;
  readonly minChange: number;
  readonly longLived: Ms;
  readonly quickOom: Ms;
  readonly deferredTimeout: Ms;
  readonly inProgressTimeout: Ms;
  /** Resizes that restart nothing need no budget. */
  readonly inPlaceSkipsBudget: boolean;
}

export const defaultUpdaterConfig: UpdaterConfig = Object.freeze<UpdaterConfig>({
  mode: "Recreate",
  minReplicas: 2,
  evictionTolerance: 0.5,
  minChange: 0.1,
  longLived: hours(12),
  quickOom: minutes(10),
  deferredTimeout: minutes(5),
  inProgressTimeout: hours(1),
  inPlaceSkipsBudget: false,
});

/** How often recommender and updater look. */
export const vpaTickPeriod: Ms = minutes(1);
