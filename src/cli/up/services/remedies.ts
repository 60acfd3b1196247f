/**
 * What was done about broken SLOs, told for people: by whom, when, why, and whether it helped.
 * Owns: which decisions belong together, when a violation is over, and the bound on what is kept.
 * Not here: deciding and doing (mitigator.ts, plane), expected milliseconds and their check (control/localize).
 */

import type { Setting } from "../../../act/index.ts";
import { resources } from "../../../base/index.ts";
import type { RemedyChange, RemedyDocument } from "../../../contract/index.ts";
import type { SavingCheck, Suspect } from "../../../control/localize/index.ts";

/** One service's turn: what there was, and what there is then, or would be where nobody may act. */
export interface ServiceTurn {
  readonly service: string;
  readonly by: RemedyDocument["by"];
  readonly had: Setting;
  readonly has: Setting;
}

export interface Interval {
  readonly at: number;
  readonly isActing: boolean;
  /** Request types whose SLO is broken. */
  readonly broken: ReadonlySet<string>;
  /** Likeliest first. */
  readonly suspects: readonly Suspect[];
  readonly turns: readonly ServiceTurn[];
}

type Kept = { -readonly [K in keyof RemedyDocument]: RemedyDocument[K] };

const MOST_KEPT = 50;
/** Intervals without a broken SLO after which a violation is over: one may be luck. */
const OVER_AFTER = 3;

export class Remedies {
  /** Oldest first. */
  #kept: Kept[] = [];
  #count = 0;
  #fitted = 0;
  #calm: { since: number; intervals: number } | null = null;

  /** Newest first. */
  get list(): readonly RemedyDocument[] {
    return this.#kept.map((one) => ({ ...one })).reverse();
  }

  /** Limits that were fitted to what is used while nobody was harmed. */
  get fitted(): number {
    return this.#fitted;
  }

  note(interval: Interval): void {
    const { at, broken, turns, isActing } = interval;
    if (broken.size > 0) this.#calm = null;
    else this.#calm = { since: this.#calm?.since ?? at, intervals: (this.#calm?.intervals ?? 0) + 1 };
    for (const turn of turns) {
      const changes = changesOf(turn);
      if (changes.length === 0) continue;
      if (isRemedy(changes, turn, broken)) this.#add(turn, changes, interval);
      else if (isActing) this.#fitted += changes.length;
    }
    if (this.#calm === null || this.#calm.intervals < OVER_AFTER) return;
    for (const one of this.#kept) one.endedAt ??= this.#calm.since;
  }

  /** The localizer's own check of what it promised, of the first promise after each remedy began. */
  check({ instance, expected, measured, promisedAt }: SavingCheck): void {
    const one = this.#kept.find(
      (kept) => kept.instance === instance && kept.isDone && Math.abs(kept.from - promisedAt) <= SAME_MOMENT,
    );
    // Nothing is expected where nothing is known of the container's calm times.
    if (one === undefined || one.saving !== null || !(expected > 0)) return;
    one.saving = { expectedMs: expected, measuredMs: measured };
  }

  #add({ service, by }: ServiceTurn, changes: readonly RemedyChange[], interval: Interval): void {
    const { at, isActing, suspects, broken } = interval;
    const isLimits = changes.some(({ what }) => what !== "replicas");
    // All containers of a service get the same; the one that it was done for is the one to name.
    const suspect = suspects.find((one) => one.service === service);
    const instance = isLimits ? (suspect?.instance ?? null) : null;
    const open = this.#kept.find(
      (one) => one.endedAt === null && one.service === service && one.instance === instance && one.isDone === isActing,
    );
    if (open !== undefined) {
      open.until = at;
      open.changes = merged(open.changes, changes);
      return;
    }
    this.#count += 1;
    this.#kept.push({
      id: `remedy-${this.#count}`,
      service,
      instance,
      by,
      isDone: isActing,
      from: at,
      until: at,
      requests: [...broken],
      changes,
      why:
        suspect?.reason ?? (by === "fallback" ? "Kubernetes autoscaling, by CPU use" : "requests through it are late"),
      endedAt: null,
      saving: null,
    });
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
  }
}

/** A promise is made when triage looks, and kept in the agent's turn of the same second. */
const SAME_MOMENT = 1_500;

const changesOf = ({ had, has }: ServiceTurn): RemedyChange[] =>
  (["replicas", ...resources] as const).flatMap((what): RemedyChange[] => {
    const [from, to] = [had[what], has[what]];
    return from === undefined || to === undefined || from === to ? [] : [{ what, from, to }];
  });

/** Limits are fitted while somebody is harmed as well, of those who are not to blame: what grows by less is no remedy. */
const LEAST_GROWTH = 1.25;

/** Something was given, by whoever decides, while somebody was harmed; what Kubernetes scales it scales for its own reasons. */
const isRemedy = (changes: readonly RemedyChange[], { by }: ServiceTurn, broken: ReadonlySet<string>): boolean =>
  (broken.size > 0 || by === "fallback") && changes.some(({ from, to }) => to >= LEAST_GROWTH * from);

/** From the first to the last. */
function merged(earlier: readonly RemedyChange[], later: readonly RemedyChange[]): readonly RemedyChange[] {
  const known = new Map(earlier.map((one) => [one.what, one]));
  for (const one of later) known.set(one.what, { ...one, from: known.get(one.what)?.from ?? one.from });
  return [...known.values()];
}
