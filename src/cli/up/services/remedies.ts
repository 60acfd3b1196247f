/**
 * What was done about broken SLOs, told for people: by whom, when, why, and whether it helped.
 * Owns: which decisions belong together, when a violation is over, and the bound on what is kept.
 * Not here: deciding and doing (mitigator.ts, control/loop), expected milliseconds and their check (control/localize).
 */
import type { Limits, Resource } from "../../../base/index.ts";
import { resources } from "../../../base/index.ts";
import type { SavingCheck, Suspect } from "../../../control/localize/index.ts";
import type { ServiceDecision } from "../../../control/loop/index.ts";
import type { RemedyChange, RemedyDocument } from "../../../server/index.ts";

/** How everything was before an interval's decisions. */
export interface Before {
  readonly limits: ReadonlyMap<string, Limits>;
  readonly replicas: ReadonlyMap<string, number>;
}

export interface Interval {
  readonly at: number;
  readonly by: RemedyDocument["by"];
  readonly isActing: boolean;
  /** Request types whose SLO is broken. */
  readonly broken: ReadonlySet<string>;
  readonly suspects: readonly Suspect[];
  readonly decisions: readonly ServiceDecision[];
  readonly before: Before;
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
    const { at, broken, decisions, isActing } = interval;
    if (broken.size > 0) this.#calm = null;
    else this.#calm = { since: this.#calm?.since ?? at, intervals: (this.#calm?.intervals ?? 0) + 1 };
    for (const decision of decisions) {
      const changes = changesOf(decision, interval);
      if (changes.length === 0) continue;
      if (isRemedy(changes, interval)) this.#add(decision, changes, interval);
      else if (isActing) this.#fitted += changes.length;
    }
    if (this.#calm === null || this.#calm.intervals < OVER_AFTER) return;
    for (const one of this.#kept) one.endedAt ??= this.#calm.since;
  }

  /** The localizer's own check of what it promised, of the first promise of each remedy. */
  check({ instance, expected, measured }: SavingCheck, promisedAt: number): void {
    const one = this.#kept.find((kept) => kept.instance === instance && kept.isDone && kept.from === promisedAt);
    // Nothing is expected where nothing is known of the container's calm times.
    if (one === undefined || one.saving !== null || !(expected > 0)) return;
    one.saving = { expectedMs: expected, measuredMs: measured };
  }

  #add(decision: ServiceDecision, changes: readonly RemedyChange[], interval: Interval): void {
    const { at, by, isActing, suspects, broken } = interval;
    const { action, why } = decision.proposal;
    const instance = action.kind === "set-limits" ? action.instance : null;
    const suspect = suspects.find((one) => one.instance === instance);
    const service = action.kind === "scale-service" ? action.service : (suspect?.service ?? instance ?? "");
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
      ...{ id: `remedy-${this.#count}`, service, instance, by, isDone: isActing, from: at, until: at },
      requests: [...broken],
      changes,
      why: suspect?.reason ?? why,
      endedAt: null,
      saving: null,
    });
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
  }
}

/** What was done, or what would have been where nobody may act. */
function changesOf({ proposal, done, failure }: ServiceDecision, { isActing, before }: Interval): RemedyChange[] {
  const action = isActing ? done : failure === undefined ? done : proposal.action;
  if (action.kind === "scale-service") {
    const from = before.replicas.get(action.service) ?? 1;
    return from === action.replicas ? [] : [{ what: "replicas", from, to: action.replicas }];
  }
  if (action.kind !== "set-limits") return [];
  const had = before.limits.get(action.instance);
  return resources.flatMap((what: Resource): RemedyChange[] => {
    const to = action.limits[what];
    return to === undefined || had === undefined ? [] : [{ what, from: had[what], to }];
  });
}

/** Limits are fitted while somebody is harmed as well, of those who are not to blame: what grows by less is no remedy. */
const LEAST_GROWTH = 1.25;

/** Something was given, by whoever decides, while somebody was harmed; what Kubernetes scales it scales for its own reasons. */
const isRemedy = (changes: readonly RemedyChange[], { broken, by }: Interval): boolean =>
  (broken.size > 0 || by === "fallback") && changes.some(({ from, to }) => to >= LEAST_GROWTH * from);

/** From the first to the last. */
function merged(earlier: readonly RemedyChange[], later: readonly RemedyChange[]): readonly RemedyChange[] {
  const known = new Map(earlier.map((one) => [one.what, one]));
  for (const one of later) known.set(one.what, { ...one, from: known.get(one.what)?.from ?? one.from });
  return [...known.values()];
}
