/**
 * A change of size of which the guard left nothing has no followers: they would be restarted for the size they have.
 * Last of the constraints, since only then it is known what is left.
 */
import type { Draft } from "../draft.ts";
import type { Constraint, GuardContext } from "../guard.ts";

export const followersOf = (sizes: readonly string[]): Constraint => ({
  rule: "followers",
  keep(draft: Draft, { have }: GuardContext, { want }): void {
    const wasResize = sizes.some((size) => want[size] !== undefined && (want[size] as number) + 0 !== have[size]);
    if (wasResize && !draft.differs(have, sizes)) draft.holdBack(0);
  },
});
