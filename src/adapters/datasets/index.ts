export type { RecordedFunction } from "./azure-functions.ts";
export { readAzureFunctions } from "./azure-functions.ts";
export { DATASETS_VARIABLE, locateDataset } from "./locate.ts";
export type { RecordedApplication, RecordedTraces, RecordedWindow } from "./nezha-traces.ts";
export { readNezhaTraces } from "./nezha-traces.ts";
