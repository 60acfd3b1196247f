/**
 * The share of requests that are answered: 0.999 is 999 of a thousand.
 *
 * Preservation is the share of offered requests that were answered, over the target. A twentieth of what was offered may
 * still be under way, as for a throughput: at three nines the requests in flight alone would break the promise. What has
 * failed is counted in full. Where none came nothing was missed: 1; where requests came and none was answered: 0.
 *
 * An example of what a new kind of SLO takes (test/integration/slo-kinds.test.ts holds it to that): this file, a line in the
 * list beside it (index.ts), a row in src/contract/slo.ts, and a row in docs/guide/profile.md.
 */
import type { Ratio } from "../../../base/index.ts";
import { marginOfAnswers, type SloKind, UNDER_WAY } from "./kind.ts";

export interface AvailabilitySlo {
  readonly kind: "availability";
  readonly target: Ratio;
}

export const availability: SloKind<AvailabilitySlo> = {
  judges: "answers",
  problem: ({ target }) =>
    target > 0 && target <= 1
      ? undefined
      : `its availability target is ${target}: give a share above 0 and at most 1, such as 0.999`,
  preservation({ target }, { offered, completed, failed }) {
    if (completed === null || failed === null) return offered === 0 ? 1 : null;
    const finished = completed + failed;
    if (offered === null && finished === 0) return null;
    const due = Math.max(finished, (1 - UNDER_WAY) * (offered ?? 0));
    return due > 0 ? Math.min(1, completed / due / target) : 1;
  },
  margin: (_slo, _measures, kept) => marginOfAnswers(kept),
};
