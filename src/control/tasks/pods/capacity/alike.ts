/**
 * Where in the days before, loads went as they went in the last minutes.
 * Owns: the search for the stretch that is most alike. Pure. Not here: what is made of it (forecast.ts).
 *
 * A day's spells come again on the next one, but earlier or later and at another level, so that the same minute of yesterday says
 * little of a spell that lasts a minute. What happened then after minutes like the last ones is a better guide (Lorenz's
 * method of analogues). Stretches up to an hour and a half from the same time of a day are compared, each at the level that
 * makes it as high as the last minutes were.
 */

/** Plain data: it is saved. */
export interface Alike {
  /** The minute in which it was looked for. */
  readonly minute: number;
  /** How many minutes ago it was. */
  readonly ago: number;
  /** How many times as high it is now. */
  readonly times: number;
}

const DAY = 1_440;
/** How many days back, and how far from the same time. */
const DAYS_BACK = 2;
const SHIFT = 90;
/** Minutes that are compared; what was longer ago counts less: half as much after a quarter of an hour. */
const COMPARED = 60;
const FADES = 0.95;
/** Another level is possible, but a weaker sign the farther it is; and so is another time. */
const LEVEL = { most: 2, price: 0.3 } as const;
const PRICE_OF_SHIFT = 0.0005;
/** The farthest back that is asked for. */
export const MINUTES_BACK = DAYS_BACK * DAY + SHIFT + COMPARED;

const weights = Float64Array.from({ length: COMPARED }, (_, k) => FADES ** k);
// Room to work in.
const sums = new Float64Array(MINUTES_BACK);

/**
 * Of the loads of the minutes before `minute`, the newest last and negative where nobody looked; null where no earlier day was
 * seen whole enough.
 */
export function mostAlike(before: Float64Array, minute: number): Alike | null {
  addUp(before);
  const newest = MINUTES_BACK - 1;
  const today = sums[newest] as number;
  if (today < 0) return null;
  let best: Alike | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let day = 1; day <= DAYS_BACK; day++)
    // From the same time outwards, so that of two that are as alike the nearer one is taken.
    for (let i = 0; i <= 2 * SHIFT; i++) {
      const shift = i % 2 === 0 ? i / 2 : -(i + 1) / 2;
      const ago = day * DAY + shift;
      const earlier = sums[newest - ago] as number;
      if (earlier < 0) continue;
      const times = earlier > 0 && today > 0 ? within(today / earlier) : 1;
      const apart = LEVEL.price * Math.abs(Math.log(times)) + PRICE_OF_SHIFT * Math.abs(shift);
      if (apart >= least) continue;
      const far = apart + distance(before, ago, times);
      if (far < least) [best, least] = [{ minute, ago, times }, far];
    }
  return best;
}

/** Of each minute and those before it, weighted; −1 where one that is compared is not known. */
function addUp(before: Float64Array): void {
  let sum = 0;
  let known = 0;
  for (let i = 0; i < MINUTES_BACK; i++) {
    const load = before[i] as number;
    sum = load < 0 ? 0 : FADES * sum + load;
    known = load < 0 ? 0 : known + 1;
    sums[i] = known < COMPARED ? -1 : sum;
  }
}

/** 0 where both are the same, 1 where one is silent whenever the other is not. */
function distance(before: Float64Array, ago: number, times: number): number {
  const newest = MINUTES_BACK - 1;
  let apart = 0;
  let all = 0;
  for (let k = 0; k < COMPARED; k++) {
    const one = before[newest - k] as number;
    const other = times * (before[newest - ago - k] as number);
    const weight = weights[k] as number;
    apart += weight * Math.abs(one - other);
    all += weight * (one > other ? one : other);
  }
  return all > 0 ? apart / all : 0;
}

const within = (times: number): number => Math.min(Math.max(times, 1 / LEVEL.most), LEVEL.most);
