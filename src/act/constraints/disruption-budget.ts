/**
 * Members removed or restarted within a while are counted, and there is a most.
 * Owns: the count, and what waits when it is spent. Not here: which member is removed (the world's choice).
 */
import type { Ms } from "../../base/index.ts";
import type { Draft } from "../draft.ts";
import type { Constraint, GuardContext } from "../guard.ts";
import type { Setting } from "../knob.ts";
import type { Packing } from "./node-capacity.ts";

export interface DisruptionBudget {
  /** Members that may be removed or restarted within the window. */
  readonly members: number;
  readonly window: Ms;
}

export interface Disruption extends Packing, DisruptionBudget {
  /** The sizes whose change restarts a member: all where members are recreated, none where they are resized in place. */
  readonly restarts: readonly string[];
}

type Memory = readonly { readonly at: Ms; readonly members: number }[];

const NOTHING: Memory = Object.freeze([]);

/** The end of a sentence that begins with the limits; undefined where it can be kept. */
export function disruptionProblem({ members, window }: DisruptionBudget): string | undefined {
  if (!Number.isInteger(members) || members < 0)
    return `the disruption budget is ${members}: give a whole number from 0`;
  return window > 0 ? undefined : `the window of the disruption budget is ${window} ms: give more than 0`;
}

type Wanted = Pick<Draft, "setting" | "followers">;

/** Members that a change of the setting removes or restarts. */
export function disruptedMembers(wanted: Wanted, have: Setting, { count, sizes, restarts }: Disruption): number {
  const [want, current] = [wanted.setting[count] as number, have[count] as number];
  return Math.max(0, current - want) + restarted(wanted, have, { count, sizes, restarts });
}

function restarted(
  { setting, followers }: Wanted,
  have: Setting,
  { count, sizes, restarts }: Pick<Disruption, "count" | "sizes" | "restarts">,
): number {
  if (restarts.length === 0) return 0;
  const differs = (knob: string): boolean => setting[knob] !== have[knob];
  // Followers of a size that was set earlier: which of the values they lack is not known here, so any counts.
  const isRestart = sizes.some(differs) ? restarts.some(differs) : followers !== undefined;
  if (!isRestart) return 0;
  const current = have[count] as number;
  // Named members count each, even if one of them is about to be removed: the world may choose another one for that.
  return Math.min(followers === undefined ? (setting[count] as number) : followers.length, current);
}

export function disruptionBudget(options: Disruption): Constraint {
  const { count, restarts, members: most, window } = options;
  return {
    rule: "budget",
    current(memory: unknown, { now }: GuardContext): Memory {
      const kept = (memory ?? NOTHING) as Memory;
      const oldest = now - window;
      if (kept.every(({ at }) => at <= now && at > oldest)) return kept;
      // A clock that went back: what seems to lie ahead counts as just done.
      return kept.map(({ at, members }) => ({ at: at > now ? now : at, members })).filter(({ at }) => at > oldest);
    },
    keep(draft: Draft, { have }: GuardContext, { memory }): void {
      const disrupted = disruptedMembers(draft, have, options);
      if (disrupted === 0) return;
      const left = Math.max(0, most - (memory as Memory).reduce((sum, { members }) => sum + members, 0));
      if (disrupted <= left) return;
      const current = have[count] as number;
      // Resizes wait before removals do: a member that is not needed costs money, a restart costs requests.
      if (draft.followers !== undefined) {
        // Named followers can wait one by one, while new members already start with the new size.
        draft.holdBack(Math.max(0, left - Math.max(0, current - draft.get(count))));
      } else {
        for (const size of restarts) draft.set(size, have[size] as number, "budget");
      }
      draft.set(count, Math.max(draft.get(count), current - left), "budget");
    },
    remember(memory: unknown, draft: Draft, { have, now }: GuardContext): Memory {
      const disrupted = disruptedMembers(draft, have, options);
      return disrupted === 0 ? (memory as Memory) : [...(memory as Memory), { at: now, members: disrupted }];
    },
  };
}
