/**
 * What is saved against the twin, in money: over an account, and per day as things are now.
 * Owns: the figures and their sentences. Where there is no twin, or nothing has a price, there is nothing to say. Pure.
 */
import type { Account } from "../../../src/contract/index.ts";
import { money, percent, whole } from "./format.ts";
import { attainment } from "./standing.ts";

export interface Compared {
  readonly ours: Account;
  readonly twin: Account | null;
}

export interface Savings {
  /** Below 0 where more was spent than by the twin. */
  readonly dollars: number;
  /** Of what the twin cost. */
  readonly share: number;
}

export function savingsOf({ ours, twin }: Compared): Savings | null {
  if (twin === null || twin.cost <= 0) return null;
  const dollars = twin.cost - ours.cost;
  return { dollars, share: dollars / twin.cost };
}

interface CostHistory {
  /** In seconds. */
  readonly at: readonly number[];
  readonly ours: { readonly cost: readonly (number | null)[] };
  readonly twin: { readonly cost: readonly (number | null)[] };
}

const DAY_SECONDS = 86_400;
/** Among so many points from the end there are two steps in a row: an older past is thinned. */
const NEWEST = 8;

/** Dollars a day, by the steps after a moment; null while there are none to compare. */
export function savedPerDay({ at, ours, twin }: CostHistory, from: number): number | null {
  const gaps = at
    .slice(-NEWEST)
    .flatMap((time, index, times) => (index === 0 ? [] : [time - (times[index - 1] ?? time)]));
  const step = Math.min(...gaps);
  let saved = 0;
  let steps = 0;
  for (let index = at.length - 1; index >= 0 && (at[index] ?? 0) > from; index -= 1) {
    const [own, other] = [ours.cost[index] ?? null, twin.cost[index] ?? null];
    if (own === null || other === null) continue;
    saved += other - own;
    steps += 1;
  }
  return steps === 0 || !(step > 0 && step < DAY_SECONDS) ? null : (saved / steps / step) * DAY_SECONDS;
}

const sharePercent = (share: number): string => (share >= 0.0995 ? `${whole(100 * share)} %` : percent(share));

/** "$3.20 (24 %)", without a sign. */
const amount = ({ dollars, share }: Savings): string =>
  `${money(Math.abs(dollars))} (${sharePercent(Math.abs(share))})`;

/** What differs less is the same to anybody who looks. */
const NOTICEABLE = 0.0005;

/** In a cell of its own: "$3.20 (24 %)", or "$0.40 (3.2 %) more". */
export function savedWords(savings: Savings): string {
  if (Math.abs(savings.share) < NOTICEABLE) return "nothing yet";
  return savings.dollars >= 0 ? amount(savings) : `${amount(savings)} more`;
}

/** Beside the percentage: "saved $3.20", or "spent $0.40 more"; empty where it is nothing. */
export function savedBriefly({ dollars, share }: Savings): string {
  if (Math.abs(share) < NOTICEABLE) return "";
  return dollars >= 0 ? `saved ${money(dollars)}` : `spent ${money(-dollars)} more`;
}

/** "now $4.10 a day", or "now $1.20 a day more"; empty where it is not known, or not a cent. */
export const perDayWords = (dollars: number | null): string =>
  dollars === null || Math.abs(dollars) < 0.005
    ? ""
    : `now ${money(Math.abs(dollars))} a day${dollars < 0 ? " more" : ""}`;

/** Everything in one sentence; null where there is nothing to compare. */
export function savingsSentence(compared: Compared, fallback: string): string | null {
  const savings = savingsOf(compared);
  if (savings === null || compared.twin === null || compared.ours.steps === 0) return null;
  const spent =
    savings.dollars >= 0
      ? `Saved ${amount(savings)} against ${fallback} alone`
      : `Spent ${amount(savings)} more than ${fallback} alone would have`;
  const [ours, twin] = [attainment(compared.ours), attainment(compared.twin)];
  return `${spent}, at ${percent(ours)} against ${percent(twin)} of steps within the SLO.`;
}
