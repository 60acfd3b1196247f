/**
 * What learners of autoscaling are trained on before they manage anything: simulated applications with their environments.
 * The one place where worlds of `sim` and tasks of `control` are put together for training; commands and studies come here.
 * Start reading at pool-members.ts, then scene.ts.
 */
export { limitsGuide } from "./guide.ts";
export { knownKnees } from "./known-knees.ts";
export {
  drawMember,
  guidedEntries,
  guidedTraits,
  poolEntries,
  poolShape,
  poolTraits,
  poolWorld,
} from "./pool-members.ts";
export type { PoolKind } from "./pools.ts";
export { applicationPool } from "./pools.ts";
export type { Scene, WorldChoice } from "./scene.ts";
export { bounds, drawScene, guardLimits, latencySlo, openWorld, pastOf, taskOf, WORLD_START } from "./scene.ts";
export type { SharedTraining } from "./shared-training.ts";
export { guidedPretraining, quickPretraining } from "./shared-training.ts";
export type { UnseenRanking } from "./unseen.ts";
export { earnUnseen, embedUnseen, rankUnseen } from "./unseen.ts";
