/** No promise: whatever is measured, all is well. */
import { marginOfAnswers, type SloKind } from "./kind.ts";

export interface NoSlo {
  readonly kind: "none";
}

export const none: SloKind<NoSlo> = {
  judges: "nothing",
  problem: () => undefined,
  preservation: () => 1,
  margin: (_slo, _measures, kept) => marginOfAnswers(kept),
};
