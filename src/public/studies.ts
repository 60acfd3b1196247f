/** `coxswain/studies`: studies of your own for `coxswain reproduce`. */

export type { Study } from "../studies/index.ts";
export {
  estimateOver,
  promiseAtLeast,
  promiseAtMost,
  reproduceAtLeast,
  reproduceAtMost,
  shown,
} from "../studies/index.ts";
