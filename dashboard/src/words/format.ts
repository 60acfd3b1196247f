/**
 * Numbers and times as people read them.
 * Owns: units, rounding, the real minus sign. Times are those of the managed world and shown in UTC, because a simulated
 * world's day has nothing to do with the reader's.
 */

const significant = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat("en", { maximumSignificantDigits: digits });
const fixed = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const THREE = significant(3);
const FOUR = significant(4);
const WHOLE = fixed(0);
const ONE = fixed(1);
const TWO = fixed(2);
const MILLS = fixed(3);
const THOUSANDTHS = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const HUNDREDTHS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** Shown where nothing was measured. */
export const NOTHING = "–";

const minus = (text: string): string => text.replace("-", "−");
const orNothing =
  (say: (value: number) => string) =>
  (value: number | null | undefined): string =>
    value === null || value === undefined || !Number.isFinite(value) ? NOTHING : minus(say(value));

export const plain = orNothing((value) => FOUR.format(value));
export const brief = orNothing((value) => THREE.format(value));
export const whole = orNothing((value) => WHOLE.format(value));
export const load = orNothing(
  (value) => `${value !== 0 && value < 10 ? ONE.format(value) : WHOLE.format(value)} req/s`,
);
export const latency = orNothing((ms) =>
  ms < 1000 ? `${ms !== 0 && ms < 10 ? ONE.format(ms) : WHOLE.format(ms)} ms` : `${TWO.format(ms / 1000)} s`,
);
export const cores = orNothing((millicores) => `${THREE.format(millicores / 1000)} cores`);
export const bytes = orNothing((value) => {
  const gibibytes = value / 2 ** 30;
  // 0.98 GiB beside 1.02 GiB reads better than 1,003 MiB.
  return gibibytes >= 0.95
    ? `${(gibibytes < 1 ? HUNDREDTHS : THREE).format(gibibytes)} GiB`
    : `${WHOLE.format(value / 2 ** 20)} MiB`;
});
export const money = orNothing((dollars) => {
  if (dollars >= 100) return `$${WHOLE.format(dollars)}`;
  // Tenths of a cent below ten cents, where a cent would hide the difference to the twin.
  return `$${dollars >= 0.0995 || dollars === 0 ? TWO.format(dollars) : dollars >= 0.001 ? MILLS.format(dollars) : THREE.format(dollars)}`;
});
/** Of a ratio; a share that is not quite all is never rounded up to all. */
export const percent = orNothing((ratio) => {
  const shown = ONE.format(ratio * 100);
  return shown === "100.0" ? (ratio < 1 ? "99.9 %" : "100 %") : `${shown} %`;
});
/** A share that somebody promised: 0.9995 is not the 99.9 % that one decimal would make of it. */
export const share = orNothing((ratio) => `${THOUSANDTHS.format(ratio * 100)} %`);
export const reward = orNothing((value) => (Math.abs(value) >= 100 ? WHOLE.format(value) : TWO.format(value)));

const sign = (value: number, text: string): string => (value > 0 ? `+${text}` : text);
/** A difference of two ratios, in percentage points. */
export const points = orNothing((difference) => {
  const rounded = Math.round(difference * 1000) / 10;
  return rounded === 0 ? "±0 points" : `${sign(rounded, ONE.format(rounded))} points`;
});
/** A relative difference. */
export const relative = orNothing((difference) => {
  const rounded = Math.round(difference * 1000) / 10;
  return rounded === 0 ? "±0 %" : `${sign(rounded, ONE.format(rounded))} %`;
});

const two = (value: number): string => String(value).padStart(2, "0");

/** 03:12:05 */
export const clock = orNothing((at) => {
  const date = new Date(at);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
});
/** 03:12 */
export const shortClock = (at: number): string => clock(at).slice(0, 5);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** 16 Nov, 03:12:05 */
export const dayAndClock = orNothing((at) => {
  const date = new Date(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""}, ${clock(at)}`;
});

export const elapsed = orNothing((ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours < 48) return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  return `${Math.floor(hours / 24)} days`;
});
