/**
 * The constants that the rules get in the FIRM studies. Chosen by `firm-baselines`, on its seeds (1001 and up) and by its
 * score; docs/guide/baselines.md shows the table.
 */
import { captainConfig, tunedAimd } from "../../control/tasks/mitigation/index.ts";
import type { RuleConfigs } from "./methods.ts";

export const chosenRules: RuleConfigs = { hpaPercent: 30, aimd: tunedAimd, captain: captainConfig, rehearsal: 27 };
