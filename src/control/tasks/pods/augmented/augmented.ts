/**
 * The features that TL+ has besides: where the load is going, and what allocations have brought so far.
 * Owns: both together, from a reading to numbers. Not here: the policy's other features (../autoscale-observation.ts).
 */
import type { WorkloadReading } from "../../../../observe/telemetry/index.ts";
import type { Demand } from "../demand.ts";
import { noTable, type TableMemory, tableAfter, tableFeatureNames, tableFeatures } from "./allocation-table.ts";
import { expectedChange, type ForecastMemory, forecastAfter, noForecast } from "./load-forecast.ts";

export type AugmentedFeature = "load-forecast" | (typeof tableFeatureNames)[number];

export const augmentedFeatureNames: readonly AugmentedFeature[] = ["load-forecast", ...tableFeatureNames];

/** Plain data: it is saved with an agent. */
export interface AugmentedMemory {
  readonly forecast: ForecastMemory;
  readonly table: TableMemory;
}

export const noAugmentedMemory: AugmentedMemory = Object.freeze({ forecast: noForecast, table: noTable });

export interface AugmentedSight {
  readonly reading: WorkloadReading;
  readonly demand: Demand;
  readonly measures: {
    readonly preservation: number;
    readonly cpu: number;
    readonly memory: number;
    readonly load: number;
  };
  /** Whether the measures are of this reading: old ones belong to an allocation of before. */
  readonly isFresh: boolean;
}

export function augmentedAfter({ forecast, table }: AugmentedMemory, sight: AugmentedSight): AugmentedMemory {
  const { reading, demand, measures, isFresh } = sight;
  let granted = 0;
  for (const { readyAt, cpuLimit } of reading.pods) if (readyAt !== null) granted += cpuLimit;
  const isKnown = isFresh && granted > 0 && demand.cores > 0 && demand.memory > 0;
  return {
    forecast: forecastAfter(forecast, measures.load),
    table: isKnown
      ? tableAfter(table, {
          ...measures,
          cpuTimes: granted / demand.cores,
          memoryTimes: reading.spec.memory / demand.memory,
        })
      : table,
  };
}

export const augmentedValues = ({ forecast, table }: AugmentedMemory): readonly number[] => [
  expectedChange(forecast),
  ...tableFeatures(table),
];
