export type { RatioPair } from "./bootstrap.ts";
export { bootstrap, pooledRatio } from "./bootstrap.ts";
export { interquartileMean, mean, median, quantile, standardDeviation, sum, variance } from "./descriptive.ts";
export { PercentileSketch } from "./sketch.ts";
