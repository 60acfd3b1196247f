/**
 * From critical paths to the instance that is to blame (Algorithm 3.2), what it lacks, and what mending it would save.
 * Start reading at localizer.ts, then features.ts and svm.ts.
 */
export type { LocalizerLook } from "./localizer.ts";
export { Localizer } from "./localizer.ts";
export { pretrainLocalizer } from "./pretraining.ts";
export { decodeLocalizer, encodeLocalizer } from "./saved.ts";
export type { SavingCheck, Suspect } from "./suspect.ts";
