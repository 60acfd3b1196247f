/**
 * Requests answered per second.
 * SP as AWARE has it, throughput over SLO. One case that the formula leaves open: it is judged against what was offered
 * where that is less, for nobody can answer requests that were not sent, and an idle night is no violation. A twentieth of
 * them is forgiven: some are always still under way.
 */
import type { PerSecond } from "../../../base/index.ts";
import { isTarget, marginOfAnswers, type SloKind, UNDER_WAY } from "./kind.ts";

export interface ThroughputSlo {
  readonly kind: "throughput";
  readonly target: PerSecond;
}

export const throughput: SloKind<ThroughputSlo> = {
  judges: "answers",
  problem: ({ target }) =>
    isTarget(target) ? undefined : `its throughput target is ${target}: give a finite number above 0`,
  preservation({ target }, { offered, completed }) {
    if (completed === null) return offered === 0 ? 1 : null;
    if (completed >= target) return 1;
    if (offered === null) return null;
    const due = Math.min(target, (1 - UNDER_WAY) * offered);
    return due > 0 ? Math.min(1, completed / due) : 1;
  },
  margin: (_slo, _measures, kept) => marginOfAnswers(kept),
};
