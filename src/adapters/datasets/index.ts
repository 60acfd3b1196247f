export type { AzureSample, RecordedFunction } from "./azure-functions.ts";
export { readAzureFunctions } from "./azure-functions.ts";
export type { DatasetName } from "./locate.ts";
export { DATASETS_VARIABLE, locateDataset } from "./locate.ts";
