/**
 * From what clients lived, look by look, to the violation that an injection causes and how long it lasts.
 * Owns: when a violation begins and when it counts as mitigated. Not here: running a world (episode.ts).
 *
 * A violation begins with the first look in which a type of request breaks its SLO, if it does so over the settling time
 * from there on too: one unlucky look is no violation. It is mitigated at the first look from which on no type breaks its
 * SLO over the settling time, all of it before the injection ends. One that lasts until then is censored: nobody mended it,
 * and how long it would have lasted is not known.
 */
import type { Injection } from "../../act/faults/index.ts";
import { endOf } from "../../act/faults/index.ts";
import type { Ms } from "../../base/index.ts";
import { seconds } from "../../base/index.ts";
import { breaksSlo, type CountedRequests } from "../../sim/index.ts";

/** What clients lived between two moments, by request type. */
export interface Look {
  readonly from: Ms;
  readonly to: Ms;
  readonly requests: readonly CountedRequests[];
}

export type Outcome = "unbroken" | "mitigated" | "censored";

export interface Mitigation {
  readonly injection: string;
  readonly kind: Injection["kind"];
  readonly target: Injection["target"];
  readonly outcome: Outcome;
  /** Seconds from the injection's start to the violation's; null where there was none. */
  readonly onset: number | null;
  /** Seconds that the violation lasted: none where there was none; to the injection's end where it is censored. */
  readonly lasted: number;
}

/** Several seconds' requests decide, so that a rare type's single miss does not. */
export const SETTLING: Ms = seconds(5);

export function mitigationOf(injection: Injection, looks: readonly Look[]): Mitigation {
  const { id, kind, target, start } = injection;
  const end = endOf(injection);
  const during = looks.filter(({ from, to }) => from >= start && to <= end);
  const named = { injection: id, kind, target };
  const onset = during.findIndex((_, place) => beginsAt(during, place));
  if (onset < 0) return { ...named, outcome: "unbroken", onset: null, lasted: 0 };
  const began = during[onset]?.from as Ms;
  const ended = during.findIndex((_, place) => place > onset && holdsFrom(during, place));
  const until = ended < 0 ? end : (during[ended]?.from as Ms);
  return {
    ...named,
    outcome: ended < 0 ? "censored" : "mitigated",
    onset: (began - start) / 1_000,
    lasted: (until - began) / 1_000,
  };
}

function beginsAt(looks: readonly Look[], place: number): boolean {
  const first = looks[place] as Look;
  const settling = pooled(looks, place);
  return first.requests.some(
    (requests, type) =>
      ended(requests) > 0 && breaksSlo(requests) && breaksSlo(settling.requests[type] as CountedRequests),
  );
}

function holdsFrom(looks: readonly Look[], place: number): boolean {
  const settling = pooled(looks, place);
  return settling.isWhole && !settling.requests.some(breaksSlo);
}

/** Share of settling times, one after another, in which a type of request breaks its SLO. */
export function brokenShare(looks: readonly Look[]): number {
  let [windows, broken] = [0, 0];
  for (let place = 0; place < looks.length; ) {
    const settling = pooled(looks, place);
    if (!settling.isWhole) break;
    windows++;
    if (settling.requests.some(breaksSlo)) broken++;
    place += settling.looks;
  }
  return windows === 0 ? 0 : broken / windows;
}

const ended = ({ completed, timedOut, dropped }: CountedRequests): number => completed + timedOut + dropped;

/** The requests of the settling time from a look on, and whether it is all there. */
function pooled(looks: readonly Look[], place: number) {
  const from = looks[place]?.from as Ms;
  const until = from + SETTLING;
  let last = place;
  while (looks[last + 1] !== undefined && (looks[last + 1] as Look).from < until) last++;
  const within = looks.slice(place, last + 1);
  const newest = within.at(-1) as Look;
  return {
    looks: within.length,
    isWhole: newest.to >= until,
    requests: newest.requests.map(({ inFlight }, type): CountedRequests => {
      const total = (column: Exclude<keyof CountedRequests, "inFlight">): number =>
        within.reduce((sum, { requests }) => sum + (requests[type]?.[column] ?? 0), 0);
      return {
        completed: total("completed"),
        timedOut: total("timedOut"),
        dropped: total("dropped"),
        late: total("late"),
        inFlight,
      };
    }),
  };
}
