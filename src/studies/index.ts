export type { Figure } from "../adapters/plot/index.ts";
export {
  estimateOver,
  promiseAtLeast,
  promiseAtMost,
  reproduceAtLeast,
  reproduceAtMost,
  shown,
} from "./claim.ts";
export { studies } from "./registry.ts";
export { bootstrap, interquartileMean, mean } from "./statistics/index.ts";
export type { Study, StudyReport, StudyRow, UnitResult } from "./study.ts";
