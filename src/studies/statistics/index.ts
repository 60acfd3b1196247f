export type { BootstrapOptions, Interval, RatioPair, Statistic, Strata } from "./bootstrap.ts";
export { bootstrap, pooledRatio, stratifiedBootstrap } from "./bootstrap.ts";
export type { ProfilePoint } from "./comparison.ts";
export { performanceProfile, probabilityOfImprovement, winRate } from "./comparison.ts";
export { interquartileMean, mean, median, quantile, standardDeviation, sum, variance } from "./descriptive.ts";
export type { SketchState } from "./sketch.ts";
export { PercentileSketch } from "./sketch.ts";
export type { Alternative, MannWhitneyOutcome, PermutationOptions, TestOutcome, WelchOutcome } from "./two-sample.ts";
export { mannWhitney, permutationTest, welch } from "./two-sample.ts";
