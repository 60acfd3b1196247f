/**
 * From critical paths to the instance that is to blame (Algorithm 3.2), what it lacks, and what mending it would save.
 * Start reading at localizer.ts, then features.ts and svm.ts.
 */
export type { FeatureSet } from "./features.ts";
export type { LocalizerLook, LocalizerOptions, Telemetry } from "./localizer.ts";
export { Localizer } from "./localizer.ts";
export { decodeLocalizer, encodeLocalizer } from "./saved.ts";
export type { LocalizerLabel, SavingCheck, Suspect } from "./suspect.ts";
