/**
 * Every study by its id. A study that is not listed here does not exist for `coxswain reproduce`;
 * a worker thread finds its job's study here too, since functions can not cross threads.
 */

import type { Study } from "./study.ts";

export const studies: readonly Study[] = [];
