/** The machine's chance, for keys that strangers must not guess. Whatever has to be repeatable takes an `Rng` instead. */
import { randomFillSync } from "node:crypto";
import type { FillRandom } from "../../observe/telemetry/index.ts";

export const randomWords: FillRandom = (into) => {
  randomFillSync(into);
};
