export type { Axis, Bar, BarFigure, Figure, Line, LineFigure, ReferenceMark } from "../adapters/plot/index.ts";
export type { MemberChoice, PoolMember, Sensitivity } from "./aware/pool-members.ts";
export { drawMember, poolEntries, poolShape, poolTraits, poolWorld } from "./aware/pool-members.ts";
export type { UnseenMember, UnseenOptions, UnseenRanking } from "./aware/unseen.ts";
export { embedUnseen, rankUnseen } from "./aware/unseen.ts";
export type { ClaimRow } from "./claim.ts";
export { claimAtLeast, claimAtMost, estimateOver } from "./claim.ts";
export type { Checkpoints, TrainedMitigation, TrainMitigationOptions } from "./firm/training.ts";
export { openMitigationAgent, trainMitigation } from "./firm/training.ts";
export type { MitigationTraining } from "./firm/training-config.ts";
export { firmDdpg, mitigationShape, usualTraining } from "./firm/training-config.ts";
export { studies } from "./registry.ts";
export type { SharedTraining } from "./shared-training.ts";
export { quickPretraining } from "./shared-training.ts";
export type {
  Alternative,
  BootstrapOptions,
  Interval,
  MannWhitneyOutcome,
  PermutationOptions,
  ProfilePoint,
  RatioPair,
  SketchState,
  Statistic,
  Strata,
  TestOutcome,
  WelchOutcome,
} from "./statistics/index.ts";
export {
  bootstrap,
  interquartileMean,
  mannWhitney,
  mean,
  median,
  PercentileSketch,
  performanceProfile,
  permutationTest,
  pooledRatio,
  probabilityOfImprovement,
  quantile,
  standardDeviation,
  stratifiedBootstrap,
  sum,
  variance,
  welch,
  winRate,
} from "./statistics/index.ts";
export type {
  Estimate,
  PaperFigure,
  Study,
  StudyJob,
  StudyReport,
  StudyRow,
  UnitResult,
  World,
} from "./study.ts";
