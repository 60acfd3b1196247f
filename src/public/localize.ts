/** `coxswain/localize`: which instance is to blame. */

export { Localizer } from "../control/localize/index.ts";
