export type { AzureSample, RecordedFunction } from "./azure-functions.ts";
export { readAzureFunctions } from "./azure-functions.ts";
export type { DatasetName } from "./locate.ts";
export { DATASETS_VARIABLE, locateDataset } from "./locate.ts";
export type {
  RecordedApplication,
  RecordedFault,
  RecordedOptions,
  RecordedTraces,
  RecordedWindow,
} from "./nezha-traces.ts";
export { readNezhaTraces } from "./nezha-traces.ts";
